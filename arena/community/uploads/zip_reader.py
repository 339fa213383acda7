"""The entries of a zip, inflated within their claims."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from arena.community.uploads.bounds import Budget, RefusedError, UnpackLimits
from arena.community.uploads.entry import Entry, check_mode, refuse_kind
from arena.community.uploads.entry_names import EntryNames, shown
from arena.community.uploads.tree_writer import check_size
from arena.community.uploads.upload_file import CHUNK_BYTES, UploadFile
from arena.community.uploads.zip_directory import STORED, ZipEntry, read_directory

_WINDOWS_DIRECTORY, _WINDOWS_DEVICE, _WINDOWS_LINK = 0x10, 0x40, 0x400


def zip_entries(file: UploadFile, limits: UnpackLimits) -> Iterator[Entry]:
    """Yield the entries of a zip.

    Raises:
        RefusedError: if it is not accepted, as far as that can be known before anything is inflated.
    """
    budget = Budget(limits, file.size_bytes)
    entries = read_directory(file, limits)
    names = EntryNames(limits)
    for entry, _ in entries:
        names.add(entry.name, entry.is_directory)
        _check_entry(entry, limits)
    budget.check(sum(entry.size_bytes for entry, _ in entries))
    for entry, place in entries:
        may_execute = bool(entry.mode & 0o100) if entry.mode else None
        chunks = _contents(file, entry, place, budget)
        yield Entry(entry.name, entry.is_directory, entry.size_bytes, may_execute, chunks)


def _check_entry(entry: ZipEntry, limits: UnpackLimits) -> None:
    if entry.attributes & _WINDOWS_LINK:
        raise refuse_kind(entry.name, "a symbolic link")
    if entry.attributes & _WINDOWS_DEVICE:
        raise refuse_kind(entry.name, "a device")
    check_mode(entry.name, entry.mode, entry.is_directory)
    check_size(entry.name, entry.size_bytes, limits)
    if entry.attributes & _WINDOWS_DIRECTORY and not entry.is_directory:
        raise RefusedError(f"{shown(entry.name)}: a directory by its attributes, but not by its name; expected '/'")
    if entry.is_directory and (entry.size_bytes or entry.packed_bytes > 2):
        raise RefusedError(f"{shown(entry.name)}: a directory with {entry.size_bytes:,} bytes; expected none")


def _contents(file: UploadFile, entry: ZipEntry, place: int, budget: Budget) -> Iterator[bytes]:
    """Yield what an entry holds: as many bytes as it claims, with the CRC that it claims."""
    crc, size_bytes = 0, 0
    for chunk in _unpacked(file, entry, place):
        size_bytes += len(chunk)
        if size_bytes > entry.size_bytes:
            raise RefusedError(f"{shown(entry.name)}: it holds more than the {entry.size_bytes:,} bytes that it claims")
        budget.spend(len(chunk))
        crc = zlib.crc32(chunk, crc)
        yield chunk
    if size_bytes != entry.size_bytes:
        raise RefusedError(f"{shown(entry.name)}: it holds {size_bytes:,} bytes and claims {entry.size_bytes:,}")
    if crc != entry.crc:
        raise RefusedError(f"{shown(entry.name)}: its CRC is {crc:08x} and not {entry.crc:08x}: it is damaged")


def _unpacked(file: UploadFile, entry: ZipEntry, place: int) -> Iterator[bytes]:
    inflater = None if entry.method == STORED else zlib.decompressobj(-zlib.MAX_WBITS)
    for offset in range(place, place + entry.packed_bytes, CHUNK_BYTES):
        data = file.read_at(offset, min(CHUNK_BYTES, place + entry.packed_bytes - offset))
        if inflater is None:
            yield data
        else:
            yield from _inflated(inflater, data, entry)
    if inflater is not None and not inflater.eof:
        raise RefusedError(f"{shown(entry.name)}: its compressed data ends in the middle; expected a whole file")


def _inflated(inflater: zlib._Decompress, data: bytes, entry: ZipEntry) -> Iterator[bytes]:
    chunk = b"any"
    try:
        while not inflater.eof and (data or chunk):  # some may come out when all has gone in
            chunk = inflater.decompress(data, CHUNK_BYTES)
            data = inflater.unconsumed_tail
            yield chunk
    except zlib.error:
        raise RefusedError(f"{shown(entry.name)}: its compressed data is damaged; expected Deflate") from None
    if inflater.unused_data or data:
        raise RefusedError(f"{shown(entry.name)}: its compressed data ends before the entry does; expected no more")
