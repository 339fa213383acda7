"""The value of a page, its renderings, its version, and how long it rests before the next build."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from starlette.datastructures import Headers
from starlette.responses import Response

MIN_COMPRESSED_BYTES = 500
GZIP_LEVEL = 6

PAGE_CACHING = "public, max-age=1, stale-while-revalidate=30"
FOR_GOOD = "public, max-age=31536000, immutable"
NOT_KEPT = "no-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The bytes of a response, and the same compressed by gzip; None if that is not shorter."""

    body: bytes
    compressed: bytes | None
    digest: str
    content_type: str

    @property
    def size_bytes(self) -> int:
        """How much memory it takes."""
        return len(self.body) + len(self.compressed or b"")


def rendered(body: bytes, content_type: str) -> Rendered:
    """Return bytes with their compressed form and digest."""
    compressed = gzip.compress(body, GZIP_LEVEL, mtime=0) if len(body) >= MIN_COMPRESSED_BYTES else None
    return Rendered(
        body=body,
        compressed=compressed if compressed is not None and len(compressed) < len(body) else None,
        digest=blake2b(body, digest_size=12).hexdigest(),
        content_type=content_type,
    )


def response_of(rendering: Rendered, request_headers: Headers, headers: dict[str, str], status: int = 200) -> Response:
    """Return the response to a request: compressed if the reader takes that, and empty if it has the same already."""
    compressed = rendering.compressed if _takes_gzip(request_headers.get("accept-encoding", "")) else None
    tag = f'"{rendering.digest}-gzip"' if compressed is not None else f'"{rendering.digest}"'
    own = {"content-type": rendering.content_type, "vary": "Accept, Accept-Encoding"}
    if status == 200:
        own["etag"] = tag
        if _has_one_of(request_headers.getlist("if-none-match"), rendering.digest):
            return Response(status_code=304, headers={**headers, "etag": tag, "vary": own["vary"]})
    if compressed is not None:
        own["content-encoding"] = "gzip"
    return Response(rendering.body if compressed is None else compressed, status, {**headers, **own})


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
    _renderings: dict[tuple[str, str | None, str], asyncio.Task[Rendered]] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """How much memory it takes."""
        done = [task.result() for task in self._renderings.values() if task.done() and not task.cancelled()]
        return len(self.json) + sum(rendering.size_bytes for rendering in done)

    async def rendered(
        self, suffix: str, table: str | None, render: Callable[[], Coroutine[None, None, Rendered]], notice: str = ""
    ) -> Rendered:
        """Return the rendering for a suffix, a table and a notice; ``render`` makes it once."""
        key = (suffix, table, notice)
        if key not in self._renderings:
            self._renderings[key] = asyncio.create_task(render())
            while len(self._renderings) > MAX_RENDERINGS:
                del self._renderings[next(iter(self._renderings))]
        try:
            return await asyncio.shield(self._renderings[key])
        except Exception:
            self._renderings.pop(key, None)
            raise

    def is_before(self, corrections: str) -> bool:
        """Return whether something was corrected or deleted since; that of an earlier server does not say."""
        return self.corrections is not None and self.corrections != corrections

    def rests_until(self, corrections: str) -> float:
        """Return when the next value may begin to be built (monotonic seconds)."""
        if self.is_before(corrections):
            return 0.0
        return self.built_at + rest_seconds(self.build_seconds, self.cpu_seconds)

    def saying(self, json: bytes) -> Value:
        """Return the value with newer JSON that did not take a build."""
        return replace(self, json=json, _renderings={})

    def take_over(self, earlier: Value) -> None:
        """Keep the renderings of an earlier value with the same JSON."""
        self._renderings = earlier._renderings
