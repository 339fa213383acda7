"""Untrusted files and folders, of which only ordinary files are read; and writing a file as a whole."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self

from arena.base.errors import StoreError, UsageError, failing_as
from arena.base.text import shortened_text

MAX_DEPTH = 12
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def replace_file(path: Path, *parts: Any, mode: int = 0o600, is_synced: bool = False) -> None:
    """Write bytes to a file that appears, in place of an earlier one or a link, only when it is complete.

    ``is_synced``: the file is complete even if the machine fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.writelines(parts)
            file.flush()
            os.fchmod(file.fileno(), mode)
            if is_synced:
                os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def write_new(path: Path, data: bytes) -> None:
    """Write a new file in place of what is there: never through a link, which in a folder from elsewhere leads out."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(data)


def open_ordinary(path: str | Path, flags: int = os.O_RDONLY, *, directory: int | None = None) -> int:
    """Open a file, also a new one by ``flags``; OSError if it is no ordinary one, or a link. The caller closes it."""
    return _ordinary(os.open(path, flags | _FLAGS, 0o666, dir_fd=directory))


def read_ordinary(path: Path, most_bytes: int) -> bytes:
    """Return the first bytes of a file; OSError if it is no ordinary one, such as a pipe, which might never end."""
    with os.fdopen(_ordinary(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)), "rb") as file:
        return file.read(most_bytes)


def _ordinary(descriptor: int) -> int:
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError("it is no ordinary file")


def read_note(path: Path, most_characters: int) -> str:
    """Return the beginning of a file in UTF-8 as text; OSError if it is no ordinary one."""
    return read_ordinary(path, 4 * most_characters).decode("utf-8", "replace")[:most_characters]


def check_unlinked(root: Path, path: Path) -> None:
    """Raise OSError if a link is on the way from a folder to a path in it: in a folder from elsewhere it leads out."""
    for place in (path, *path.parents):
        if place == root:
            return
        if place.is_symlink():
            raise OSError(f"{place} is a link, which may lead out of {root}")


def path_to_write(root: Path, path: Path) -> Path:
    """Return the path of a file in a folder; StoreError if a link, also in its place, may lead out of the folder."""
    with failing_as(StoreError, f"{path}: can't be written"):
        check_unlinked(root, path)
    return path


class Folder:
    """The files of a folder, read without following links; ``shown`` is its path in messages. A context manager."""

    def __init__(self, directory: Path) -> None:
        """Open the folder; UsageError if it can't be read."""
        self.shown = shortened_text(str(directory))
        with failing_as(UsageError, f"{self.shown}: can't be read"):
            self._root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it."""
        os.close(self._root)

    def open(self, path: str) -> BinaryIO:
        """Open a file at a path with "/" from the folder; OSError if it is no ordinary file, or a link leads to it."""
        *directories, name = path.split("/")
        if not {"", ".", ".."}.isdisjoint((*directories, name)):
            raise OSError("it is no path in the folder")
        opened: list[int] = []
        at = self._root
        try:
            for directory in directories:
                at = os.open(directory, _FLAGS | os.O_DIRECTORY, dir_fd=at)
                opened.append(at)
            descriptor = open_ordinary(name, directory=at)
        finally:
            for directory_descriptor in opened:
                os.close(directory_descriptor)
        return os.fdopen(descriptor, "rb")

    def paths(self) -> Iterator[str]:
        """Yield the path of everything in the folder but directories, in no order."""
        yield from _paths_in(self._root, "", MAX_DEPTH)


def _paths_in(directory: int, below: str, depth: int) -> Iterator[str]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and depth:
                inner = os.open(entry.name, _FLAGS | os.O_DIRECTORY, dir_fd=directory)
                try:
                    yield from _paths_in(inner, f"{below}{entry.name}/", depth - 1)
                finally:
                    os.close(inner)
            else:
                yield f"{below}{entry.name}"
