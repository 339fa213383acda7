"""Copies directories that an untrusted process has made, safely: through open directories, following no link.

Nothing here recurses or reads more than the bounds allow, and only plain files and directories are copied. Modes become
0755 or 0644, so that neither owners nor special bits come along, and hard links become copies.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.base.names import is_printable_text
from arena.base.records import MEBIBYTE
from arena.match.players.subprocess import EXIT_SECONDS, Subprocess

_CHUNK_BYTES = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeRejectedError(Exception):
    """A directory that a process has made is rejected."""


@dataclass(frozen=True, slots=True)
class TreeBounds:
    """The most files and directories to copy, their bytes together, and how deep they are inside each other."""

    files: int
    size_bytes: int
    depth: int


@dataclass(frozen=True, slots=True)
class TreeSize:
    """How much there is: files and directories, and the bytes of all files."""

    entries: int
    size_bytes: int


@contextlib.contextmanager
def ended_scratch(process: Subprocess, *names: str) -> Iterator[int]:
    """Give a directory in the scratch directory of a process, which is killed: nobody changes it any more.

    Raises:
        TreeRejectedError: if there is no such directory, with the reason.
    """
    try:
        directory = _open_scratch(process, names)
    except OSError as error:
        reason = process.exit_text if process.has_exited() else f"{error.filename}: {error.strerror}"
        raise TreeRejectedError(f"there is no directory {names[-1]}/ ({reason})") from error
    try:
        process.kill()
        process.wait_for_exit(EXIT_SECONDS)
        yield directory
    finally:
        os.close(directory)


def _open_scratch(process: Subprocess, names: tuple[str, ...]) -> int:
    """Open it through the process's own eyes, for the scratch directory may be a file system of its own."""
    try:
        scratch = os.open(f"/proc/{process.monitor.find_main()}/root{process.scratch}", _DIRECTORY)
    except OSError:  # there is no /proc, or the process is closed to us
        scratch = os.open(process.scratch, _DIRECTORY)
    return _open_below(scratch, names)


def _open_below(directory: int, names: tuple[str, ...]) -> int:
    """Open a directory below another, which is closed, following no link."""
    for name in names:
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=directory)
        finally:
            os.close(directory)
        directory = inner
    return directory


def copy_tree(source: int, target: Path, bounds: TreeBounds, shown_name: str) -> TreeSize:
    """Copy a directory that nobody changes any more.

    Args:
        target: where its copy will be; an empty directory may be there.
        shown_name: the name of the directory in messages; empty to name only its contents.

    Raises:
        TreeRejectedError: if it exceeds the bounds, or has something other than files and directories.
        OSError: if it can't be read or written.
    """
    return _Copying(source, target, bounds, shown_name).run()


class _Copying:
    def __init__(self, source: int, target: Path, bounds: TreeBounds, shown_name: str) -> None:
        self._source = source
        self._target = target
        self._bounds = bounds
        self._shown_name = shown_name
        self._count = 0
        self._size_bytes = 0

    def run(self) -> TreeSize:
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            below = waiting.pop()
            directory = _open_below(os.dup(self._source), below)
            try:
                copy = self._target.joinpath(*below)
                copy.mkdir(mode=0o755, exist_ok=not below)
                copy.chmod(0o755)
                waiting += [(*below, name) for name in self._take_files(directory, below)]
            finally:
                os.close(directory)
        return TreeSize(self._count, self._size_bytes)

    def _take_files(self, directory: int, below: tuple[str, ...]) -> list[str]:
        directories = []
        with os.scandir(directory) as listing:
            for entry in listing:
                shown = "/".join(filter(None, (self._shown_name, *below, entry.name)))
                self._check(entry.name, shown, len(below))
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    directories.append(entry.name)
                elif stat.S_ISREG(mode):
                    self._copy(directory, entry.name, shown, self._target.joinpath(*below, entry.name))
                else:
                    raise TreeRejectedError(f"{shown!r} is neither a file nor a directory")
        return directories

    def _check(self, name: str, shown: str, depth: int) -> None:
        self._count += 1
        if self._count > self._bounds.files:
            raise TreeRejectedError(f"more than {self._bounds.files:,} files and directories")
        if depth >= self._bounds.depth:
            raise TreeRejectedError(f"directories more than {self._bounds.depth} deep")
        if not is_printable_text(name):
            raise TreeRejectedError(f"{shown!r} has characters that can't be seen")

    def _copy(self, directory: int, name: str, shown: str, target: Path) -> None:
        source = os.open(name, _FILE, dir_fd=directory)
        try:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode):
                raise TreeRejectedError(f"{shown!r} is neither a file nor a directory")
            self._size_bytes += status.st_size
            if self._size_bytes > self._bounds.size_bytes:
                raise TreeRejectedError(f"more than {self._bounds.size_bytes // MEBIBYTE} MiB")
            remaining_bytes = status.st_size
            with target.open("xb") as written:
                while remaining_bytes > 0 and (chunk := os.read(source, min(remaining_bytes, _CHUNK_BYTES))):
                    written.write(chunk)
                    remaining_bytes -= len(chunk)
            target.chmod(0o755 if status.st_mode & 0o100 else 0o644)
        finally:
            os.close(source)
