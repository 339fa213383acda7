"""Pages that took long to build, kept in the home's cache directory for the next start of the server.

A home may belong to another user, so nothing in a file is trusted: it must be a plain file of a bounded size, with the
key of the page and a digest. Its value is checked like that of a builder. Any other file is ignored.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from pydantic import Field, ValidationError

from arena.base.bot_text import EVERYBODY, Audience
from arena.base.shipped import code_digest
from arena.server.http.built_value import BuiltValue
from arena.site.frame.model import Model, Parameters
from arena.site.frame.page import Page

LAYOUT = 2
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_HEAD_BYTES = 16 * 1024
MAX_FILES = 1000
MAX_TOTAL_BYTES = 64 * 1024 * 1024
_SUFFIX = ".page"


class _Head(Model):
    """The first line of a file.

    Attributes:
        layout: of the file.
        code: which code has built the page.
        page: its name.
        parameters: what its address says, as JSON.
        version: of its topics.
        seconds: how long it took to build.
        digest: of the value, which is the rest of the file.
    """

    layout: int
    code: str
    page: str
    parameters: str
    version: str
    seconds: float = Field(ge=0.0, allow_inf_nan=False)
    digest: str


class Snapshots:
    """The files, the latest of each page."""

    def __init__(self, cache_directory: Path, audience: Callable[[], Audience] = lambda: EVERYBODY) -> None:
        """Prepare to read and write; nothing is done yet.

        Args:
            cache_directory: of the home.
            audience: returns who reads the pages now; what was kept for another audience is ignored.
        """
        self._directory, self._audience = cache_directory / "pages", audience
        self._code = code_digest()

    def read(self, page: Page, parameters: Parameters) -> tuple[str, BuiltValue] | None:
        """Return the version and the value of a page; None if there is no file of this code."""
        try:
            content = _read_plain(self._path(page, parameters))
            line, _, json = content.partition(b"\n")
            head = _Head.model_validate_json(line)
        except (OSError, ValidationError):
            return None
        value = BuiltValue(json, head.seconds)
        return (head.version, value) if head == self._head(page, parameters, head.version, value) else None

    def write(self, page: Page, parameters: Parameters, version: str, value: BuiltValue) -> None:
        """Write a file that appears only when it is complete; errors in writing it are ignored."""
        line = self._head(page, parameters, version, value).model_dump_json().encode() + b"\n"
        if len(line) > MAX_HEAD_BYTES or len(line) + len(value.json) > MAX_FILE_BYTES:
            return
        with contextlib.suppress(OSError):
            self._directory.mkdir(parents=True, exist_ok=True)
            if self._directory.is_symlink() or self._directory.parent.is_symlink():  # it leads out of the home
                return
            self._make_room(len(line) + len(value.json))
            with tempfile.NamedTemporaryFile(dir=self._directory, suffix=_SUFFIX, delete=False) as file:
                unfinished = Path(file.name)
                try:
                    file.write(line + value.json)
                    file.flush()
                    unfinished.replace(self._path(page, parameters))
                except OSError:
                    unfinished.unlink(missing_ok=True)
                    raise

    def clear(self) -> None:
        """Remove all files, as after somebody has left whose name may be in them."""
        with contextlib.suppress(OSError):
            for path, _ in _files(self._directory):
                path.unlink(missing_ok=True)

    def _head(self, page: Page, parameters: Parameters, version: str, value: BuiltValue) -> _Head:
        return _Head(
            layout=LAYOUT,
            code=f"{self._code} for all words" if self._audience().reads_all else self._code,
            page=page.name,
            parameters=parameters.model_dump_json(),
            version=version,
            seconds=value.seconds,
            digest=blake2b(value.json, digest_size=16).hexdigest(),
        )

    def _path(self, page: Page, parameters: Parameters) -> Path:
        key = f"{page.name}\0{parameters.model_dump_json()}"
        return self._directory / f"{blake2b(key.encode(), digest_size=16).hexdigest()}{_SUFFIX}"

    def _make_room(self, wanted_bytes: int) -> None:
        """Remove the oldest files until another one of this size keeps the bounds."""
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
    """Return the content of a plain file of a bounded size; nothing for any other."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return file.read(MAX_FILE_BYTES) if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_FILE_BYTES else b""
