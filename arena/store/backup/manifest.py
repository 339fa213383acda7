"""The manifest of a backup: a line for each file with its size and digest, between a first and a last line.

It is written and read line by line, for a home may have millions of files. Without its last line a backup is not whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import IO, Annotated, Literal, TypeVar

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.base.errors import UsageError
from arena.base.version import __version__

MANIFEST = "manifest.jsonl"
FORM = 1
MAX_LINE_BYTES = 64 * 1024
MAX_FILES = 10_000_000
MAX_FILE_BYTES = 64 * 2**30

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Head(_Line):
    """The first line; ``arena_backup`` is the version of the form."""

    arena_backup: int
    arena: Annotated[str, Field(max_length=40)]
    made_at: Annotated[str, Field(max_length=40)]


class KeptFile(_Line):
    """A file of a backup; its path is from the folder, with "/"."""

    path: Annotated[str, Field(min_length=1, max_length=4096)]
    bytes: Annotated[int, Ge(0), Le(MAX_FILE_BYTES)]
    sha256: Digest
    is_program: bool


class End(_Line):
    """The last line: the number of files, and the digest of all lines before."""

    files: Annotated[int, Ge(0), Le(MAX_FILES)]
    sha256: Digest
    is_whole: Literal[True]


OneLine = TypeVar("OneLine", bound=_Line)


class ManifestWriter:
    """Writes a manifest, and counts the files in it and their bytes."""

    def __init__(self, file: IO[bytes], made_at: str) -> None:
        self.files = self.size_bytes = 0
        self._file, self._digest = file, sha256()
        self._write(Head(arena_backup=FORM, arena=__version__, made_at=made_at))

    def add(self, kept: KeptFile) -> None:
        """Write the line of a file."""
        self._write(kept)
        self.files += 1
        self.size_bytes += kept.bytes

    def finish(self) -> str:
        """Write the last line, and return the digest that is in it."""
        digest = self._digest.hexdigest()
        self._write(End(files=self.files, sha256=digest, is_whole=True))
        return digest

    def _write(self, line: _Line) -> None:
        data = json.dumps(line.model_dump()).encode() + b"\n"
        self._digest.update(data)
        self._file.write(data)


class ManifestReader:
    """Reads an untrusted manifest; ``digest``, that of its last line, is "" until all lines were read."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file, self._where, self._digest = file, where, sha256()
        self._line_number = 0
        self.digest = ""
        self.head = self._parsed(Head, self._next())
        if self.head.arena_backup != FORM:
            raise UsageError(
                f"{where}: arena_backup = {self.head.arena_backup}: this arena reads version {FORM};"
                " a newer arena is needed"
            )

    def files(self) -> Iterator[KeptFile]:
        """Yield the files, or raise UsageError at a malformed line; after the last one the manifest was whole."""
        before = self._digest.hexdigest()
        line, count = self._next(), 0
        while not line.startswith(b'{"files"'):
            yield self._parsed(KeptFile, line)
            count += 1
            if count > MAX_FILES:
                raise UsageError(f"{self._where}: more than {MAX_FILES:,} files")
            before, line = self._digest.hexdigest(), self._next()
        end = self._parsed(End, line)
        if end.sha256 != before or end.files != count:
            raise UsageError(f"{self._where}: it was changed after it was written, or is damaged")
        if self._file.read(1):
            raise UsageError(f"{self._where}: there is something after its last line")
        self.digest = end.sha256

    def _next(self) -> bytes:
        line = self._file.readline(MAX_LINE_BYTES)
        self._line_number += 1
        if not line.endswith(b"\n"):
            problem = f"line {self._line_number} is too long" if len(line) == MAX_LINE_BYTES else "its end is missing"
            raise UsageError(f"{self._where}: {problem}; this is not the manifest of a whole backup")
        self._digest.update(line)
        return line

    def _parsed(self, kind: type[OneLine], line: bytes) -> OneLine:
        try:
            return kind.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))[:80] or "the line"
            raise UsageError(
                f"{self._where}: line {self._line_number}: this is not the manifest of a backup: {place}:"
                f" {first['msg']}"
            ) from error
