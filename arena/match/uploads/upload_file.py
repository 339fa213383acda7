"""Reads an upload, never as a whole: any part of it, or its bytes decompressed as a stream."""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from arena.base.records import MEBIBYTE
from arena.match.uploads.entry import Budget, RejectedError

CHUNK_BYTES = 64 * 1024


class UploadFile:
    """An open file, which nobody changes while it is read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size_bytes = os.fstat(descriptor).st_size

    def read_at(self, offset: int, count: int) -> bytes:
        """Return this number of bytes from an offset; raise RejectedError if the file ends before."""
        data = b""
        while len(data) < count and (more := os.pread(self._descriptor, count - len(data), offset + len(data))):
            data += more
        if len(data) < count:
            raise RejectedError(f"it ends after {self.size_bytes:,} bytes, in the middle; expected a whole archive")
        return data


# Decompress a tar as a stream, within the budget, and with nothing behind its end.

XZ_MEMORY_BYTES = 80 * MEBIBYTE
"""Enough memory to unpack the output of ``xz -9``."""


@dataclass(frozen=True, slots=True)
class Compression:
    """A way to compress a tar; ``open`` makes a decompressor with the interface of those of bz2 and lzma."""

    name: str
    start: bytes
    open: Callable[[], Any]


class _Gunzip:
    """Decompresses gzip, and can be used like the decompressors of bz2 and lzma."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._is_full = False

    def decompress(self, data: bytes, max_length: int) -> bytes:
        chunk = self._inflater.decompress(self._inflater.unconsumed_tail + data, max_length)
        self._is_full = len(chunk) == max_length
        return chunk

    @property
    def needs_input(self) -> bool:
        return not (self._inflater.unconsumed_tail or self._is_full)

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data


GZIP = Compression("gzip", b"\x1f\x8b", _Gunzip)
BZIP2 = Compression("bzip2", b"BZh", bz2.BZ2Decompressor)
XZ = Compression("xz", b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES))
COMPRESSIONS = (GZIP, BZIP2, XZ)


class Stream:
    """The bytes of a tar, from the first to the last."""

    def __init__(self, file: UploadFile, compression: Compression | None, budget: Budget) -> None:
        self._chunks = _chunks(file, compression, budget)
        self._rest = b""

    def read(self, count: int) -> bytes:
        """Return the next bytes; fewer only at the end."""
        while len(self._rest) < count and (chunk := next(self._chunks, b"")):
            self._rest += chunk
        data, self._rest = self._rest[:count], self._rest[count:]
        return data

    def read_some(self, most: int) -> bytes:
        """Return some of the next bytes, at most this number; none only at the end."""
        if not self._rest:
            self._rest = next(self._chunks, b"")
        data, self._rest = self._rest[:most], self._rest[most:]
        return data


def _chunks(file: UploadFile, compression: Compression | None, budget: Budget) -> Iterator[bytes]:
    pieces = _pieces(file) if compression is None else _decompressed(file, compression)
    for piece in filter(None, pieces):
        budget.spend(len(piece))
        yield piece


def _pieces(file: UploadFile) -> Iterator[bytes]:
    for offset in range(0, file.size_bytes, CHUNK_BYTES):
        yield file.read_at(offset, min(CHUNK_BYTES, file.size_bytes - offset))


def _decompressed(file: UploadFile, compression: Compression) -> Iterator[bytes]:
    decompressor = compression.open()
    try:
        for data in _pieces(file):
            if decompressor.eof:
                _check_trailing_bytes(data, compression)
                continue
            yield decompressor.decompress(data, CHUNK_BYTES)
            while not (decompressor.eof or decompressor.needs_input):
                yield decompressor.decompress(b"", CHUNK_BYTES)
            _check_trailing_bytes(decompressor.unused_data, compression)
    except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        if "limit" in str(error).lower():
            raise RejectedError(
                f"unpacking its {compression.name} takes more than {XZ_MEMORY_BYTES // MEBIBYTE} MiB of memory;"
                " expected what xz -9 makes, or gzip"
            ) from None
        raise RejectedError(f"its {compression.name} is damaged; expected what {compression.name} makes") from None
    if not decompressor.eof:
        raise RejectedError(f"its {compression.name} ends in the middle; expected a whole file")


def _check_trailing_bytes(data: bytes, compression: Compression) -> None:
    """Raise RejectedError for anything but zeros, with which writers to tapes and pipes fill the last block."""
    if data.strip(b"\0"):
        raise RejectedError(f"something lies behind the end of its {compression.name}; expected nothing there")
