"""Reading a folder that may have been made to do harm: no link is followed, and nothing is read without a bound."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

from arena.errors import UsageError
from arena.site.publish.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    FileEntry,
    Manifest,
    read_manifest,
    require_size,
)
from arena.site.publish.signature import MAX_KEY_BYTES, PUBLIC_KEY, SIGNATURE, SIGNATURE_BYTES
from arena.text import shortened_text

PIECE_BYTES = 2**20
MAX_DEPTH = 12
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Signature(NamedTuple):
    """What a folder says of who has signed it.

    Attributes:
        signature: of the manifest; empty if it is missing.
        key: the public key, in PEM; empty if it is missing.
    """

    signature: bytes
    key: bytes


class FolderReader:
    """The files of a folder. A context manager."""

    def __init__(self, directory: Path) -> None:
        """Open the folder.

        Raises:
            UsageError: if it can't be read.
        """
        self._shown = shortened_text(str(directory))
        self._where = f"{self._shown}/{MANIFEST}"
        try:
            self._root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(f"{self._shown}: can't be read: {error.strerror}") from error

    def __enter__(self) -> FolderReader:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._root)

    def manifest(self) -> Manifest:
        """Read the manifest.

        Raises:
            UsageError: if it is not there, or malformed.
        """
        return read_manifest(self.manifest_bytes(), self._where)

    def manifest_bytes(self) -> bytes:
        """Return the bytes of the manifest.

        Raises:
            UsageError: if it is not there, or too long.
        """
        try:
            with self.open(MANIFEST) as file:
                require_size(os.fstat(file.fileno()).st_size, self._where)
                return file.read(MAX_MANIFEST_BYTES)
        except OSError as error:
            raise UsageError(f"{self._where}: can't be read: {error.strerror or error}") from error

    def signature(self) -> Signature | None:
        """Return what the manifest is signed with; None if nothing is there. It may be anything."""
        pieces = []
        for name, size_bytes in ((SIGNATURE, SIGNATURE_BYTES + 1), (PUBLIC_KEY, MAX_KEY_BYTES)):
            try:
                with self.open(name) as file:
                    pieces.append(file.read(size_bytes))
            except FileNotFoundError:
                pieces.append(b"")
            except OSError as error:
                raise UsageError(f"{self._shown}/{name}: can't be read: {error.strerror or error}") from error
        return Signature(*pieces) if any(pieces) else None

    def open(self, path: str) -> BinaryIO:
        """Open a file.

        Args:
            path: from the folder, with "/".

        Raises:
            OSError: if it is no ordinary file, or a link leads to it.
        """
        *directories, name = path.split("/")
        if not {"", ".", ".."}.isdisjoint((*directories, name)):
            raise OSError("it is no path in the folder")
        opened: list[int] = []
        at = self._root
        try:
            for directory in directories:
                at = os.open(directory, _FLAGS | os.O_DIRECTORY, dir_fd=at)
                opened.append(at)
            descriptor = os.open(name, _FLAGS, dir_fd=at)
        finally:
            for one in opened:
                os.close(one)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError("it is no ordinary file")
        return os.fdopen(descriptor, "rb")

    def paths(self) -> Iterator[str]:
        """Yield the path of everything in the folder but directories, in no order.

        Raises:
            OSError: if a directory can't be read.
        """
        yield from self._paths_in("", MAX_DEPTH)

    def _paths_in(self, directory: str, depth: int) -> Iterator[str]:
        within: list[str] = []
        descriptor = self._open_directory(directory)
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    path = f"{directory}/{entry.name}" if directory else entry.name
                    if entry.is_dir(follow_symlinks=False) and depth:
                        within.append(path)
                    else:
                        yield path
        finally:
            os.close(descriptor)
        for path in within:
            yield from self._paths_in(path, depth - 1)

    def _open_directory(self, path: str) -> int:
        at = os.dup(self._root)
        for name in path.split("/") if path else []:
            try:
                at, before = os.open(name, _FLAGS | os.O_DIRECTORY, dir_fd=at), at
            except OSError:
                os.close(at)
                raise
            os.close(before)
        return at

    def problem_of(self, path: str, entry: FileEntry) -> str | None:
        """Return what is wrong with a file, as the end of a sentence; None if it is as the manifest says."""
        try:
            with self.open(path) as file:
                if (size_bytes := os.fstat(file.fileno()).st_size) != entry.bytes:
                    return f"it has {size_bytes:,} bytes, but the manifest says {entry.bytes:,}"
                digest = sha256()
                while piece := file.read(PIECE_BYTES):
                    digest.update(piece)
        except FileNotFoundError:
            return "it is missing"
        except (OSError, ValueError) as error:
            return f"it can't be read: {getattr(error, 'strerror', None) or error}"
        return None if digest.hexdigest() == entry.sha256 else "its digest is not that of the manifest"
