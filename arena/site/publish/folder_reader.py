"""Reading a published folder that may have been made to do harm: nothing is read without a bound."""

from __future__ import annotations

import os
from hashlib import sha256

from arena.errors import UsageError
from arena.folder import Folder
from arena.site.publish.manifest import MANIFEST, FileEntry, Manifest, read_manifest, require_size

PIECE_BYTES = 2**20


class FolderReader(Folder):
    """The files of a published folder."""

    def manifest(self) -> Manifest:
        """Read the manifest.

        Raises:
            UsageError: if it is not there, or malformed.
        """
        where = f"{self.shown}/{MANIFEST}"
        try:
            with self.open(MANIFEST) as file:
                require_size(os.fstat(file.fileno()).st_size, where)
                data = file.read()
        except OSError as error:
            raise UsageError(f"{where}: can't be read: {error.strerror or error}") from error
        return read_manifest(data, where)

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
