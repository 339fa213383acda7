"""What a build has made, copied out of its untrusted directory: by open directories, following no link.

Nothing here recurses or reads more than is allowed, and nothing but plain files and directories is taken. Modes become
0755 or 0644, so that neither owners nor special bits come along, and hard links become copies.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from arena.errors import BotDefinitionError
from arena.names import is_visible_text
from arena.players.bot_files import BUILD_DIRECTORY
from arena.records import MEBIBYTE

MAX_BYTES = 256 * MEBIBYTE
MAX_FILES = 10_000
MAX_DEPTH = 32

_CHUNK_BYTES = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class _RefusedError(Exception):
    """What a build has made is not accepted."""


def take_output(output: int, target: Path) -> str:
    """Copy what a build has made.

    Args:
        output: an open directory, or -1 if it does not exist.
        target: a directory that does not exist yet.

    Returns:
        Why it is not accepted; nothing if it is.
    """
    try:
        if output < 0:
            raise _RefusedError(f"there is no directory {BUILD_DIRECTORY}/")
        _Taking(output, target).run()
    except (_RefusedError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return f"what it has made can't be kept: {reason}"
    return ""


class _Taking:
    def __init__(self, output: int, target: Path) -> None:
        self._output = output
        self._target = target
        self._count = 0
        self._size_bytes = 0

    def run(self) -> None:
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            below = waiting.pop()
            directory = self._open(below)
            try:
                place = self._target.joinpath(*below)
                place.mkdir(mode=0o755)
                place.chmod(0o755)
                waiting += [(*below, name) for name in self._take_files(directory, below)]
            finally:
                os.close(directory)

    def _open(self, below: tuple[str, ...]) -> int:
        directory = os.dup(self._output)
        for name in below:
            try:
                inner = os.open(name, _DIRECTORY, dir_fd=directory)
            finally:
                os.close(directory)
            directory = inner
        return directory

    def _take_files(self, directory: int, below: tuple[str, ...]) -> list[str]:
        """Copy the files of a directory, and return the names of the directories in it."""
        directories = []
        with os.scandir(directory) as listing:
            for entry in listing:
                shown = "/".join((BUILD_DIRECTORY, *below, entry.name))
                self._check(entry.name, shown, len(below))
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    directories.append(entry.name)
                elif stat.S_ISREG(mode):
                    self._copy(directory, entry.name, self._target.joinpath(*below, entry.name))
                else:
                    raise _RefusedError(f"{shown!r} is neither a file nor a directory in {BUILD_DIRECTORY}/")
        return directories

    def _check(self, name: str, shown: str, depth: int) -> None:
        self._count += 1
        if self._count > MAX_FILES:
            raise _RefusedError(f"more than {MAX_FILES:,} files and directories")
        if depth >= MAX_DEPTH:
            raise _RefusedError(f"directories more than {MAX_DEPTH} deep")
        if not is_visible_text(name):
            raise _RefusedError(f"{shown!r} has characters that can't be seen")

    def _copy(self, directory: int, name: str, target: Path) -> None:
        """Copy a file of the size it has when it is opened."""
        source = os.open(name, _FILE, dir_fd=directory)
        try:
            found = os.fstat(source)
            if not stat.S_ISREG(found.st_mode):
                raise _RefusedError(f"{name!r} is neither a file nor a directory in {BUILD_DIRECTORY}/")
            self._size_bytes += found.st_size
            if self._size_bytes > MAX_BYTES:
                raise _RefusedError(f"more than {MAX_BYTES // MEBIBYTE} MiB")
            left = found.st_size
            with target.open("xb") as written:
                while left > 0 and (chunk := os.read(source, min(left, _CHUNK_BYTES))):
                    written.write(chunk)
                    left -= len(chunk)
            target.chmod(0o755 if found.st_mode & 0o100 else 0o644)
        finally:
            os.close(source)


def fingerprint(directory: Path) -> str:
    """Return a hash by which a directory differs from any other in its place, without reading the files in it.

    Inodes and the times of their changes are the system's to give: nobody can write files that have the same.

    Raises:
        BotDefinitionError: if there is more than a build may make.
        OSError: if there is no such directory.
    """
    digest = hashlib.sha256()
    waiting = [directory]
    count = 0
    while waiting:
        place = waiting.pop()
        entries = []
        with os.scandir(place) as listing:
            for entry in listing:
                count += 1
                if count > MAX_FILES:
                    raise BotDefinitionError(f"{directory}: more than {MAX_FILES:,} files and directories")
                entries.append(entry)
        for entry in sorted(entries, key=lambda one: one.name):
            found = entry.stat(follow_symlinks=False)
            fingerprint = (found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
            digest.update(os.fsencode(entry.path) + repr(fingerprint).encode())
            if stat.S_ISDIR(found.st_mode):
                waiting.append(Path(entry.path))
    return digest.hexdigest()
