"""The upload: its format by its name, reading it never as a whole; and the program that unpacks it in a sandbox."""

from __future__ import annotations

import bz2
import json
import lzma
import os
import resource
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.base.records import MEBIBYTE
from arena.community.uploads.entry import Budget, RejectedError, TreeWriter, UnpackLimits

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


# The format of an upload, by its name: a zip, a tar, or a single file.

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_START_BYTES = 262


@dataclass(frozen=True, slots=True)
class ArchiveFormat:
    """A format of archives, by the endings of their names."""

    name: str
    suffixes: tuple[str, ...]
    compression: Compression | None = None


ZIP = ArchiveFormat("a zip", (".zip",))
FORMATS = (
    ZIP,
    ArchiveFormat("a tar", (".tar",)),
    ArchiveFormat("a tar in gzip", (".tar.gz", ".tgz"), GZIP),
    ArchiveFormat("a tar in xz", (".tar.xz", ".txz"), XZ),
    ArchiveFormat("a tar in bzip2", (".tar.bz2", ".tbz2"), BZIP2),
)
SUFFIXES = tuple(suffix for known in FORMATS for suffix in known.suffixes)


def format_by_name(name: str) -> ArchiveFormat | None:
    """Return the format that a name stands for; None if it is not the name of an archive."""
    return next((known for known in FORMATS if name.lower().endswith(known.suffixes)), None)


def check_start(file: UploadFile, expected: ArchiveFormat) -> None:
    """Raise RejectedError unless an upload begins as its format does."""
    start = file.read_at(0, min(_START_BYTES, file.size_bytes))
    found = _format_by_start(start)
    if found != expected.name and not (found in ("gzip", "xz", "bzip2") and expected.name == f"a tar in {found}"):
        what = found or (f"it begins with {start[:8]!r}" if start else "an empty file")
        raise RejectedError(f"{what}; expected {expected.name}, as its name says")


def _format_by_start(start: bytes) -> str:
    if start.startswith(_ZIP_STARTS):
        return ZIP.name
    if start[257:262] == b"ustar":
        return "a tar"
    return next((known.name for known in COMPRESSIONS if start.startswith(known.start)), "")


# The program that unpacks an archive in a sandbox: its stdin is the upload, and it writes below $HOME.


TREE = "tree"
"""The directory below its scratch directory to which it writes."""

MEMORY_BYTES = 160 * MEBIBYTE
"""Its limit in addition to the files that it writes, which may be in memory too."""


def unpack_below(descriptor: int, archive_format: ArchiveFormat, directory: Path, limits: UnpackLimits) -> None:
    """Unpack an open archive into a directory that exists; raise RejectedError or OSError."""
    from arena.community.uploads.tar_reader import tar_entries
    from arena.community.uploads.zip_reader import zip_entries

    file = UploadFile(descriptor)
    check_start(file, archive_format)
    writer = TreeWriter(directory, limits)
    is_zip = archive_format is ZIP
    for entry in zip_entries(file, limits) if is_zip else tar_entries(file, archive_format.compression, limits):
        writer.write(entry)
    if not writer.files:
        raise RejectedError("there is no file in it; expected the files of a bot")


def main() -> None:
    """Unpack stdin as the arguments say, answer, and wait."""
    suffix, settings = sys.argv[1:]
    limits = UnpackLimits(**json.loads(settings))
    # on a slow machine, starting Python takes seconds of CPU time, which no upload has used
    _lower(resource.RLIMIT_CPU, int(time.process_time()) + limits.cpu_seconds)
    _lower(resource.RLIMIT_DATA, MEMORY_BYTES)
    tree = Path(os.environ["HOME"], TREE)
    tree.mkdir(0o700)
    answer = {}
    try:
        unpack_below(0, next(known for known in FORMATS if suffix in known.suffixes), tree, limits)
    except RejectedError as error:
        answer = {"refused": str(error)}
    except OSError as error:
        answer = {"failed": error.strerror or "an input or output error"}
    except MemoryError:
        answer = {"refused": "unpacking it takes more memory than is allowed; expected less"}
    os.write(1, json.dumps(answer).encode() + b"\n")
    while True:
        signal.pause()


def _lower(limit: int, value: int) -> None:
    """Lower a limit of this process, also at isolation levels that set none."""
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
