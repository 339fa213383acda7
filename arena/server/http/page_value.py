"""The value of a page: how it is built, rendered and kept, its version, and how long it rests before the next build."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import os
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import anyio
from pydantic import Field, ValidationError
from starlette.datastructures import Headers
from starlette.responses import Response

from arena.base.folder import check_unlinked, open_ordinary, replace_file
from arena.base.shipped import code_digest
from arena.server.http.builder_messages import BuiltValue
from arena.server.http.builders import CRASHED, Builders, FairQueue
from arena.server.http.opened_home import OpenedHome
from arena.server.http.problems import ProblemError
from arena.site.frame.model import Lane, Model, Page, Parameters
from arena.store.results.values import read_whole

MIN_COMPRESSED_BYTES = 500
GZIP_LEVEL = 6

PAGE_CACHING = "public, max-age=1, stale-while-revalidate=30"
FOR_GOOD = "public, max-age=31536000, immutable"
NOT_KEPT = "no-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The bytes of a response: only compressed by gzip if that is shorter, for hardly a reader asks for others."""

    content: bytes
    is_compressed: bool
    digest: str
    content_type: str

    @property
    def body(self) -> bytes:
        """The bytes without compression."""
        return gzip.decompress(self.content) if self.is_compressed else self.content


def rendered(body: bytes, content_type: str) -> Rendered:
    """Return bytes for a response, with their digest."""
    compressed = gzip.compress(body, GZIP_LEVEL, mtime=0) if len(body) >= MIN_COMPRESSED_BYTES else body
    is_compressed, digest = len(compressed) < len(body), blake2b(body, digest_size=12).hexdigest()
    content = compressed if is_compressed else body
    return Rendered(content=content, is_compressed=is_compressed, digest=digest, content_type=content_type)


def response_of(rendering: Rendered, request_headers: Headers, headers: dict[str, str], status: int = 200) -> Response:
    """Return the response to a request: compressed if the reader takes that, and empty if it has the same already."""
    is_compressed = rendering.is_compressed and _takes_gzip(request_headers.get("accept-encoding", ""))
    tag = f'"{rendering.digest}-gzip"' if is_compressed else f'"{rendering.digest}"'
    own = {"content-type": rendering.content_type, "vary": "Accept, Accept-Encoding"}
    if status == 200:
        own["etag"] = tag
        if _has_one_of(request_headers.getlist("if-none-match"), rendering.digest):
            return Response(status_code=304, headers={**headers, "etag": tag, "vary": own["vary"]})
    if is_compressed:
        own["content-encoding"] = "gzip"
    return Response(rendering.content if is_compressed else rendering.body, status, {**headers, **own})


def _takes_gzip(accepted: str) -> bool:
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _has_one_of(values: list[str], digest: str) -> bool:
    tags = {
        tag.strip().removeprefix("W/").strip('"').removesuffix("-gzip") for value in values for tag in value.split(",")
    }
    return digest in tags or "*" in tags


LATE_SECONDS = 0.3
"""How long a reader who prefers to wait waits for the next value, unless its build is slow or has to wait."""
HURRIED_SECONDS = 0.05
"""The same for a first visit; the page updates itself a moment later."""

REST_PER_CPU_SECOND = 10.0
MAX_CROWDING = 3.0
MAX_REST_SECONDS = 300.0
"""A value is not built again at each event, but after this time for each second that a processor worked for it: a page
costs at most a tenth of a core while its tournament is played. Where it took longer than that because others needed the
processors, it rests longer by the square of the ratio: a builder that gets a third of a core leaves it a ninetieth.
After a correction, or when its tournament was deleted, it does not rest.
"""


def rest_seconds(build_seconds: float, cpu_seconds: float | None) -> float:
    """Return how long a value rests after a build that took this long; ``cpu_seconds`` is None if that is not known."""
    worked_seconds = build_seconds if cpu_seconds is None else min(cpu_seconds, build_seconds)
    crowding = min(build_seconds / worked_seconds, MAX_CROWDING) if worked_seconds > 0.0 else MAX_CROWDING
    return min(REST_PER_CPU_SECOND * worked_seconds * crowding**2, MAX_REST_SECONDS)


MAX_RENDERINGS = 30
"""Of a value; a board on the first page is another one after each ply."""

NAMES_END = "|"
"""Ends the part of a text of corrections that ``names_of`` returns."""


def names_of(corrections: str) -> str:
    """Return the part of a text of corrections that differs after a person has left."""
    names, end, _ = corrections.partition(NAMES_END)
    return names if end else ""


@dataclass(slots=True, eq=False)
class Value:
    """What a page shows, as JSON. Version, progress and corrections are those before the build.

    Attributes:
        built_at: monotonic seconds.
        names: that part of the corrections that differs after a person has left, whose name nobody may see any more.
        cpu_seconds: of the build; None if that is not known.
        has_all_words: whether it may have what bots wrote, for everybody who reads it.
        renderings: by suffix, table and notice.
    """

    json: bytes
    version: str
    built_at: float
    build_seconds: float
    progress: str = ""
    corrections: str | None = None
    names: str = ""
    cpu_seconds: float | None = None
    has_all_words: bool = False
    renderings: dict[tuple[str, str | None, str], asyncio.Task[Rendered]] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """How much memory it takes."""
        done = [task.result() for task in self.renderings.values() if task.done() and not task.cancelled()]
        return len(self.json) + sum(len(rendering.content) for rendering in done)

    async def rendered(
        self, suffix: str, table: str | None, render: Callable[[], Coroutine[None, None, Rendered]], notice: str = ""
    ) -> Rendered:
        """Return the rendering for a suffix, a table and a notice; ``render`` makes it once."""
        key = (suffix, table, notice)
        if key not in self.renderings:
            self.renderings[key] = asyncio.create_task(render())
            while len(self.renderings) > MAX_RENDERINGS:
                del self.renderings[next(iter(self.renderings))]
        try:
            return await asyncio.shield(self.renderings[key])
        except Exception:
            self.renderings.pop(key, None)
            raise

    def is_before(self, corrections: str) -> bool:
        """Return whether something was corrected or deleted since; that of an earlier server does not say."""
        return self.corrections is not None and self.corrections != corrections

    def rests_until(self, corrections: str) -> float:
        """Return when the next value may begin to be built (monotonic seconds)."""
        if self.is_before(corrections):
            return 0.0
        return self.built_at + rest_seconds(self.build_seconds, self.cpu_seconds)


# A home may belong to another user, so snapshots are not trusted: each must be a plain file of bounded size, with the
# key of its page and a digest. Its value is checked like that of a builder. Other files are ignored.

LAYOUT = 2
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_HEAD_BYTES = 16 * 1024
MAX_FILES = 1000
MAX_TOTAL_BYTES = 64 * 1024 * 1024
_SUFFIX = ".page"


class _Head(Model):
    """The first line of a file; the digest is that of the value, which is the rest of the file."""

    layout: int
    code: str
    page: str
    parameters: str
    version: str
    seconds: float = Field(ge=0.0, allow_inf_nan=False)
    written_at: float = Field(ge=0.0, allow_inf_nan=False)
    digest: str


class Snapshots:
    """The snapshots in files: the latest of each page."""

    def __init__(self, cache_directory: Path) -> None:
        """Prepare to read and write in the cache directory of a home."""
        self._directory = cache_directory / "pages"
        self._code = code_digest()

    def read(self, page: Page, parameters: Parameters, has_all_words: bool = False) -> tuple[str, BuiltValue] | None:
        """Return the version and the value of a page; None if this code has kept none for the same readers."""
        try:
            line, _, json = _read_plain(self._path(page, parameters)).partition(b"\n")
            head = _Head.model_validate_json(line)
        except (OSError, ValidationError):
            return None
        value = BuiltValue(json, head.seconds, age_seconds=max(0.0, time.time() - head.written_at))
        own = self._head(page, parameters, head.version, value, has_all_words)
        return (head.version, value) if head == own.model_copy(update={"written_at": head.written_at}) else None

    def write(
        self, page: Page, parameters: Parameters, version: str, value: BuiltValue, has_all_words: bool = False
    ) -> None:
        """Write a file that appears only when it is complete; errors in writing it are ignored."""
        line = self._head(page, parameters, version, value, has_all_words).model_dump_json().encode() + b"\n"
        if len(line) > MAX_HEAD_BYTES or len(line) + len(value.json) > MAX_FILE_BYTES:
            return
        with contextlib.suppress(OSError):
            check_unlinked(self._directory.parent.parent, self._directory)
            self._directory.mkdir(parents=True, exist_ok=True)
            self._make_room(len(line) + len(value.json))
            replace_file(self._path(page, parameters), line, value.json)

    def clear(self) -> None:
        """Remove all files, such as after a person has left whose name may be in them."""
        with contextlib.suppress(OSError):
            check_unlinked(self._directory.parent.parent, self._directory)
            for path, _ in _files(self._directory):
                path.unlink(missing_ok=True)

    def _head(self, page: Page, parameters: Parameters, version: str, value: BuiltValue, has_all_words: bool) -> _Head:
        return _Head(
            layout=LAYOUT,
            code=f"{self._code} for all words" if has_all_words else self._code,
            page=page.name,
            parameters=parameters.model_dump_json(),
            version=version,
            seconds=value.seconds,
            written_at=time.time(),
            digest=blake2b(value.json, digest_size=16).hexdigest(),
        )

    def _path(self, page: Page, parameters: Parameters) -> Path:
        key = f"{page.name}\0{parameters.model_dump_json()}"
        return self._directory / f"{blake2b(key.encode(), digest_size=16).hexdigest()}{_SUFFIX}"

    def _make_room(self, wanted_bytes: int) -> None:
        files = [(status.st_mtime, status.st_size, path) for path, status in _files(self._directory)]
        total = sum(size for _, size, _ in files) + wanted_bytes
        count = len(files) + 1
        for _, size, path in sorted(files):
            if total <= MAX_TOTAL_BYTES and count <= MAX_FILES:
                return
            path.unlink(missing_ok=True)
            total, count = total - size, count - 1


def _files(directory: Path) -> list[tuple[Path, os.stat_result]]:
    with os.scandir(directory) as entries:
        return [
            (Path(entry.path), entry.stat(follow_symlinks=False)) for entry in entries if entry.name.endswith(_SUFFIX)
        ]


def _read_plain(path: Path) -> bytes:
    """Return the content of a plain file; nothing of one that is too large."""
    with os.fdopen(open_ordinary(path), "rb") as file:
        return file.read(MAX_FILE_BYTES) if os.fstat(file.fileno()).st_size <= MAX_FILE_BYTES else b""


ROWS_AT_ONCE = 2
"""Pages built in threads of the server: they share its core with everything it answers."""

THREADS = 4
WORTH_KEEPING_SECONDS = 0.2

ResultT = TypeVar("ResultT")

_log = logging.getLogger("arena.server.http")


class ValueBuilder:
    """Builds the values of pages, as JSON."""

    def __init__(self, home: OpenedHome, builders: Mapping[Lane, Builders], snapshots: Snapshots) -> None:
        """Prepare to build; snapshots keep values that took long to build."""
        self._home, self._builders, self._snapshots = home, builders, snapshots
        self._threads = anyio.CapacityLimiter(THREADS)
        self._rows = FairQueue(ROWS_AT_ONCE)

    def prepare(self, lane: Lane) -> None:
        """Start a builder of a lane, if none is there, for the page that a reader may ask for next."""
        self._builders[lane].prepare()

    def is_busy(self, lane: Lane) -> bool:
        """Return whether a value has to wait until others have been built."""
        return self._rows.is_busy if lane is Lane.ROWS else self._builders[lane].queue.is_busy

    def expected_seconds(self, lane: Lane) -> float:
        """Return how long a value that nobody has seen yet would wait until its build begins."""
        return (self._rows if lane is Lane.ROWS else self._builders[lane].queue).expected_seconds

    async def build(self, page: Page, parameters: Parameters, is_first: bool = True) -> BuiltValue:
        """Return the value of a page, sooner if nobody has seen it yet."""
        if page.lane is Lane.ROWS:
            async with self._rows.turn(is_first):
                return await self._in_thread(lambda: self._build_from_rows(page, parameters))
        await self._in_thread(lambda: self._require_tournament(parameters))
        value = await self._builders[page.lane].build(page, parameters, is_first)
        try:
            await self._in_thread(lambda: page.model.model_validate_json(value.json))
        except ValidationError as error:
            _log.error("a builder of %s has sent a wrong value of the page %s: %s", page.lane, page.name, error)
            raise ProblemError(CRASHED) from error
        return value

    def _require_tournament(self, parameters: Parameters) -> None:
        """Raise UnknownNameError for a tournament that does not exist: a builder may take long for that."""
        name = getattr(parameters, "tournament", None)
        if isinstance(name, str):
            self._home().store.require_tournament(name)

    def _build_from_rows(self, page: Page, parameters: Parameters) -> BuiltValue:
        started, cpu_started = time.monotonic(), time.thread_time()
        json = read_whole(lambda: page.build(self._home(), parameters)).model_dump_json().encode()
        return BuiltValue(json, time.monotonic() - started, time.thread_time() - cpu_started)

    async def freshened(self, page: Page, json: bytes) -> bytes:
        """Return the value of a resting page, brought up to date by a few look-ups."""

        def freshen() -> bytes:
            model = page.model.model_validate_json(json)
            newer = read_whole(lambda: page.freshened(self._home(), model))
            return json if newer is model else newer.model_dump_json().encode()

        return await self._in_thread(freshen)

    async def earlier(self, page: Page, parameters: Parameters, has_all_words: bool) -> tuple[str, BuiltValue] | None:
        """Return the version and the value of a page that an earlier server has kept."""

        def read() -> tuple[str, BuiltValue] | None:
            snapshot = self._snapshots.read(page, parameters, has_all_words)
            if snapshot is not None:
                page.model.model_validate_json(snapshot[1].json)
            return snapshot

        with contextlib.suppress(ValidationError):
            return await self._in_thread(read)
        return None

    async def keep(
        self, page: Page, parameters: Parameters, version: str, value: BuiltValue, has_all_words: bool
    ) -> None:
        """Keep a value for the next server, if it took long to build."""
        if page.lane is Lane.RATINGS and value.seconds >= WORTH_KEEPING_SECONDS:
            await self._in_thread(lambda: self._snapshots.write(page, parameters, version, value, has_all_words))

    async def _in_thread(self, work: Callable[[], ResultT]) -> ResultT:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    async def close(self) -> None:
        """End the builders."""
        await asyncio.gather(*(builders.close() for builders in self._builders.values()))
