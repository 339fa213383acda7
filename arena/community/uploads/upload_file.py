"""The upload itself, read at places or from its beginning to its end, never as a whole."""

from __future__ import annotations

import os

from arena.community.uploads.bounds import RefusedError

CHUNK_BYTES = 64 * 1024


class UploadFile:
    """An open file, which nobody changes while it is read.

    Attributes:
        size_bytes: how large it is.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size_bytes = os.fstat(descriptor).st_size

    def read_at(self, offset: int, count: int) -> bytes:
        """Return this number of bytes from a place.

        Raises:
            RefusedError: if the file ends before.
        """
        data = b""
        while len(data) < count and (more := os.pread(self._descriptor, count - len(data), offset + len(data))):
            data += more
        if len(data) < count:
            raise RefusedError(f"it ends after {self.size_bytes:,} bytes, in the middle; expected a whole archive")
        return data
