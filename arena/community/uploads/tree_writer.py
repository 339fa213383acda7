"""Writes entries below one directory: only new files, no larger than is allowed."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from arena.base.text import size_text
from arena.community.uploads.bounds import RefusedError, UnpackLimits
from arena.community.uploads.entry import Entry
from arena.community.uploads.entry_names import EntryNames, shown

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
PROGRAM_STARTS = (b"#!", b"\x7fELF")
"""What a file that can be executed begins with, for archives that don't say of files whether they may be."""


class TreeWriter:
    """Writes the entries of one archive.

    Attributes:
        files: how many files it has written.
    """

    def __init__(self, directory: Path, limits: UnpackLimits) -> None:
        self._directory = directory
        self._limits = limits
        self._names = EntryNames(limits)
        self._made: set[tuple[str, ...]] = {()}
        self.files = 0

    def write(self, entry: Entry) -> None:
        """Write an entry.

        Raises:
            RefusedError: if its name or its size is not accepted.
            OSError: if it can't be written.
        """
        parts = self._names.add(entry.name, entry.is_directory)
        check_size(entry.name, entry.size_bytes, self._limits)
        self._make_directories(parts if entry.is_directory else parts[:-1])
        if not entry.is_directory:
            self._write_file(self._directory.joinpath(*parts), entry)
            self.files += 1

    def _make_directories(self, parts: tuple[str, ...]) -> None:
        for count in range(1, len(parts) + 1):
            if parts[:count] not in self._made:
                self._directory.joinpath(*parts[:count]).mkdir(0o700)
                self._made.add(parts[:count])

    def _write_file(self, path: Path, entry: Entry) -> None:
        chunks = filter(None, entry.chunks)
        first = next(chunks, b"")
        is_program = first.startswith(PROGRAM_STARTS) if entry.is_executable is None else entry.is_executable
        size_bytes = 0
        descriptor = os.open(path, _NEW_FILE, 0o700 if is_program else 0o600)
        try:
            for chunk in itertools.chain((first,), chunks):
                size_bytes += len(chunk)
                check_size(entry.name, size_bytes, self._limits)
                _write_all(descriptor, chunk)
        finally:
            os.close(descriptor)


def check_size(name: bytes, size_bytes: int, limits: UnpackLimits) -> None:
    """Raise RefusedError if a file is too large."""
    if size_bytes > limits.file_bytes:
        raise RefusedError(f"{shown(name)}: a file of more than {size_text(limits.file_bytes)}; expected no more")


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
