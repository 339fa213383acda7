"""Reading a published folder that may have been made to do harm: nothing is read without a bound."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from arena.base.errors import UsageError
from arena.base.folder import Folder
from arena.site.publish.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    FileEntry,
    Manifest,
    read_manifest,
    require_size,
)
from arena.site.publish.signature import MAX_KEY_BYTES, PUBLIC_KEY, SIGNATURE, SIGNATURE_BYTES

PIECE_BYTES = 2**20


class Signature(NamedTuple):
    """What a folder says of whoever has signed it.

    Attributes:
        signature: of the manifest; empty if it is missing.
        key: the public key, in PEM; empty if it is missing.
    """

    signature: bytes
    key: bytes


class FolderReader(Folder):
    """The files of a published folder. A context manager."""

    def __init__(self, directory: Path) -> None:
        """Open the folder.

        Raises:
            UsageError: if it can't be read.
        """
        super().__init__(directory)
        self._where = f"{self.shown}/{MANIFEST}"

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
                raise UsageError(f"{self.shown}/{name}: can't be read: {error.strerror or error}") from error
        return Signature(*pieces) if any(pieces) else None

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
