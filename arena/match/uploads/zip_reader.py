"""The entries of a zip: its directory, which must make up the whole file, and what is inflated within its claims."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from arena.match.uploads.entry import (
    Budget,
    Entry,
    EntryNames,
    RejectedError,
    UnpackLimits,
    check_mode,
    check_size,
    reject_kind,
    shown,
    too_many_entries,
)
from arena.match.uploads.upload_file import CHUNK_BYTES, UploadFile

# Readers of zips differ in where they look: at the end or at the beginning, in the directory or before each entry. So a
# zip is only accepted if all of them would see the same: its entries lie one behind the other from the first byte to
# the directory, nothing lies between, before or behind, and what stands before each entry agrees with the directory.

_END = struct.Struct("<4s4H2LH")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_END_SIGNATURE, _CENTRAL_SIGNATURE, _LOCAL_SIGNATURE = b"PK\x05\x06", b"PK\x01\x02", b"PK\x03\x04"
_LOCATOR_SIGNATURE, _DESCRIPTOR_SIGNATURE = b"PK\x06\x07", b"PK\x07\x08"
_LOCATOR_BYTES = 20

MAX_COMMENT_BYTES = 1024
"""Of the zip; GitHub writes the hash of a commit there."""

MAX_VERSION = 63
"""The latest version of the format that readers know, times ten."""

_IS_ENCRYPTED, HAS_DESCRIPTOR = 1 << 0, 1 << 3
_ACCEPTED_FLAGS = 0b110 | HAS_DESCRIPTOR | 1 << 11
"""Compression level, sizes behind the data, and names in UTF-8."""

STORED, DEFLATED = 0, 8
_METHODS = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 98: "PPMd", 99: "AES"}

_ZIP64_FIELD, _NAME_FIELD = 0x0001, 0x7075
_IN_ZIP64 = 0xFFFFFFFF
_NO_ZIP64 = "expected an ordinary zip, as zip64 is for more than 4 GiB"


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """An entry as the directory has it.

    Attributes:
        flags: its general purpose bits.
        mode: its Unix mode; 0 if the writer knew none.
        attributes: those of Windows.
    """

    name: bytes
    flags: int
    method: int
    crc: int
    packed_bytes: int
    size_bytes: int
    mode: int
    attributes: int
    offset: int

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory: its name ends with a slash."""
        return self.name.endswith(b"/")


def read_directory(file: UploadFile, limits: UnpackLimits) -> list[tuple[ZipEntry, int]]:
    """Return the entries of a zip in the order of their offsets, each with the offset of its data."""
    count, start, end = _find_directory(file, limits)
    entries = sorted(_central_entries(file, count, start, end), key=lambda entry: entry.offset)
    following = [*(entry.offset for entry in entries[1:]), start]
    if entries[0].offset:
        raise RejectedError(f"{entries[0].offset:,} bytes lie before its first entry; expected nothing before")
    return [
        (entry, _data_offset(file, entry, next_offset)) for entry, next_offset in zip(entries, following, strict=True)
    ]


def _find_directory(file: UploadFile, limits: UnpackLimits) -> tuple[int, int, int]:
    if file.size_bytes < _END.size:
        raise RejectedError(f"a zip of {file.size_bytes} bytes; expected one with files in it")
    tail_bytes = min(file.size_bytes, _LOCATOR_BYTES + _END.size + MAX_COMMENT_BYTES)
    tail = file.read_at(file.size_bytes - tail_bytes, tail_bytes)
    end_in_tail = _find_end(tail)
    _, disk, first_disk, on_disk, count, size, start, _ = _END.unpack_from(tail, end_in_tail)
    end = file.size_bytes - tail_bytes + end_in_tail
    if tail[max(0, end_in_tail - _LOCATOR_BYTES) :].startswith(_LOCATOR_SIGNATURE) or _IN_ZIP64 in (size, start):
        raise RejectedError(f"it is a zip64; {_NO_ZIP64} or 65,535 files")
    if disk or first_disk or on_disk != count:
        raise RejectedError("it is one part of a zip in several; expected a whole one")
    if count == 0:
        raise RejectedError("it is empty; expected the files of a bot")
    if count > limits.entries:
        raise RejectedError(too_many_entries(limits))
    if start + size != end:
        raise RejectedError(
            f"its directory ends at byte {start + size:,}, and its end begins at byte {end:,}; expected nothing between"
        )
    return count, start, end


def _find_end(tail: bytes) -> int:
    """Return where the end record is: only one may reach to the end of the file, and no comment may look like one."""
    places = [match.start() for match in re.finditer(_END_SIGNATURE, tail)]
    if not places:
        raise RejectedError("it has no end: it is not whole, or something was added; expected a whole zip, and no more")
    if len(tail) - places[-1] < _END.size:
        raise RejectedError("it ends in the middle of its last record; expected a whole zip")
    behind = [len(tail) - place - _END.size - _END.unpack_from(tail, place)[-1] for place in places]
    if behind[-1]:
        count = behind[-1]
        what = f"{count:,} bytes lie behind its end" if count > 0 else f"{-count:,} bytes of its comment are missing"
        raise RejectedError(f"{what}; expected a zip that ends with its comment of at most {MAX_COMMENT_BYTES:,} bytes")
    if behind.count(0) > 1:
        raise RejectedError("it has several ends; expected a zip that ends once")
    return places[-1]


def _central_entries(file: UploadFile, count: int, start: int, end: int) -> Iterator[ZipEntry]:
    """Yield the entries of the directory, which must fill it."""
    position = start
    for _ in range(count):
        if end - position < _CENTRAL.size:
            raise RejectedError(f"its directory has fewer than the {count:,} entries that it claims")
        header = _CENTRAL.unpack(file.read_at(position, _CENTRAL.size))
        signature, _, version, flags, method, _, _, crc, packed, size, *lengths, disk, _, external, offset = header
        name_bytes, extra_bytes, comment_bytes = lengths
        position += _CENTRAL.size + name_bytes + extra_bytes + comment_bytes
        if signature != _CENTRAL_SIGNATURE or position > end:
            raise RejectedError("its directory is damaged: what is there is no entry; expected a whole zip")
        text = file.read_at(position - name_bytes - extra_bytes - comment_bytes, name_bytes + extra_bytes)
        name = text[:name_bytes]
        _check_extra(name, text[name_bytes:])
        if disk or _IN_ZIP64 in (packed, size, offset):
            raise RejectedError(f"{shown(name)}: an entry in the manner of zip64; {_NO_ZIP64}")
        _check_method(name, version, flags, method)
        mode = external >> 16
        yield ZipEntry(name, flags, method, crc, packed, size, mode, external & 0xFFFF, offset)
    if position != end:
        raise RejectedError(f"its directory has more than the {count:,} entries that it claims")


def _check_method(name: bytes, version: int, flags: int, method: int) -> None:
    if version & 0xFF > MAX_VERSION:
        raise RejectedError(f"{shown(name)}: made for version {version / 10:.1f} of zip; expected an ordinary zip")
    if flags & _IS_ENCRYPTED or method == 99:
        raise RejectedError(f"{shown(name)}: encrypted; expected files that anybody can read")
    if flags & ~_ACCEPTED_FLAGS:
        raise RejectedError(f"{shown(name)}: flags {flags:#06x}, for encryption or patches; expected an ordinary zip")
    if method not in (STORED, DEFLATED):
        method_name = _METHODS.get(method, "a method")
        raise RejectedError(
            f"{shown(name)}: compressed by {method_name} ({method}); expected Deflate (8), or not at all (0)"
        )


def _check_extra(name: bytes, extra: bytes) -> dict[int, bytes]:
    fields: dict[int, bytes] = {}
    position = 0
    while len(extra) - position >= 4:
        number, count = struct.unpack_from("<2H", extra, position)
        fields[number] = extra[position + 4 : position + 4 + count]
        position += 4 + count
    if position != len(extra):
        raise RejectedError(f"{shown(name)}: its extra fields are damaged; expected a whole zip")
    other_name = fields.get(_NAME_FIELD, b"")[5:]
    if other_name and other_name != name:
        raise RejectedError(f"{shown(name)}: its other name is {shown(other_name)}; expected one name")
    return fields


def _data_offset(file: UploadFile, entry: ZipEntry, following: int) -> int:
    """Return where the data of an entry begins; it must agree with the directory and end at the next entry."""
    data_offset: int = entry.offset + _LOCAL.size
    if data_offset > following:
        raise RejectedError(f"{shown(entry.name)}: it overlaps with what follows; expected entries behind each other")
    header = _LOCAL.unpack(file.read_at(entry.offset, _LOCAL.size))
    signature, _, flags, method, _, _, crc, packed, size, name_bytes, extra_bytes = header
    if signature != _LOCAL_SIGNATURE:
        raise RejectedError(f"{shown(entry.name)}: there is no entry at byte {entry.offset:,}; expected it there")
    text = file.read_at(data_offset, min(name_bytes + extra_bytes, following - data_offset))
    data_offset += name_bytes + extra_bytes
    name = text[:name_bytes]
    behind = following - data_offset - entry.packed_bytes
    if behind < 0:
        raise RejectedError(f"{shown(entry.name)}: it overlaps with what follows; expected entries behind each other")
    if (name, flags, method) != (entry.name, entry.flags, entry.method):
        raise RejectedError(
            f"{shown(entry.name)}: in the directory flags {entry.flags:#06x} and method {entry.method}, before the file"
            f" {shown(name)}, {flags:#06x} and {method}; expected the same"
        )
    fields = _check_extra(name, text[name_bytes:])
    if _IN_ZIP64 in (packed, size):
        packed, size = _zip64_sizes(entry.name, fields)
    unknown = 0 if flags & HAS_DESCRIPTOR else None  # the values follow the data
    pairs = ((crc, entry.crc), (packed, entry.packed_bytes), (size, entry.size_bytes))
    if any(before not in (known, unknown) for before, known in pairs):
        raise RejectedError(
            f"{shown(entry.name)}: {size:,} bytes before the file, {entry.size_bytes:,} in the directory, or other"
            " CRCs or compressed sizes; expected the same"
        )
    _check_behind(file.read_at(following - behind, min(behind, 32)), entry, behind)
    return data_offset


def _zip64_sizes(name: bytes, fields: dict[int, bytes]) -> tuple[int, int]:
    """Return the compressed size and the size from an extra field, which writers reserve when they don't know them."""
    field = fields.get(_ZIP64_FIELD, b"")
    if len(field) != 16:
        raise RejectedError(f"{shown(name)}: an entry in the manner of zip64; {_NO_ZIP64}")
    size, packed = struct.unpack("<2Q", field)
    return packed, size


def _check_behind(data: bytes, entry: ZipEntry, count: int) -> None:
    """Raise RejectedError unless what lies behind an entry is the descriptor that its flags announce."""
    if entry.flags & HAS_DESCRIPTOR:
        values = (entry.crc, entry.packed_bytes, entry.size_bytes)
        forms = [struct.pack("<3L", *values), struct.pack("<L2Q", *values)]
        if data in (*forms, *(_DESCRIPTOR_SIGNATURE + form for form in forms)):
            return
        raise RejectedError(f"{shown(entry.name)}: the sizes behind it are not those in the directory; expected these")
    if count:
        raise RejectedError(f"{shown(entry.name)}: {count:,} bytes lie behind it that are in no entry; expected none")


_WINDOWS_DIRECTORY, _WINDOWS_DEVICE, _WINDOWS_LINK = 0x10, 0x40, 0x400


def zip_entries(file: UploadFile, limits: UnpackLimits) -> Iterator[Entry]:
    """Yield the entries of a zip; raise RejectedError before anything is inflated if that shows already."""
    budget = Budget(limits, file.size_bytes)
    entries = read_directory(file, limits)
    names = EntryNames(limits)
    for entry, _ in entries:
        names.add(entry.name, entry.is_directory)
        _check_entry(entry, limits)
    budget.check(sum(entry.size_bytes for entry, _ in entries))
    for entry, data_offset in entries:
        may_execute = bool(entry.mode & 0o100) if entry.mode else None
        chunks = _contents(file, entry, data_offset, budget)
        yield Entry(entry.name, entry.is_directory, entry.size_bytes, may_execute, chunks)


def _check_entry(entry: ZipEntry, limits: UnpackLimits) -> None:
    if entry.attributes & _WINDOWS_LINK:
        raise reject_kind(entry.name, "a symbolic link")
    if entry.attributes & _WINDOWS_DEVICE:
        raise reject_kind(entry.name, "a device")
    check_mode(entry.name, entry.mode, entry.is_directory)
    check_size(entry.name, entry.size_bytes, limits)
    if entry.attributes & _WINDOWS_DIRECTORY and not entry.is_directory:
        raise RejectedError(f"{shown(entry.name)}: a directory by its attributes, but not by its name; expected '/'")
    if entry.is_directory and (entry.size_bytes or entry.packed_bytes > 2):
        raise RejectedError(f"{shown(entry.name)}: a directory with {entry.size_bytes:,} bytes; expected none")


def _contents(file: UploadFile, entry: ZipEntry, data_offset: int, budget: Budget) -> Iterator[bytes]:
    """Yield what an entry holds: as many bytes as it claims, with the CRC that it claims."""
    crc, size_bytes = 0, 0
    for chunk in _unpacked(file, entry, data_offset):
        size_bytes += len(chunk)
        if size_bytes > entry.size_bytes:
            raise RejectedError(
                f"{shown(entry.name)}: it holds more than the {entry.size_bytes:,} bytes that it claims"
            )
        budget.spend(len(chunk))
        crc = zlib.crc32(chunk, crc)
        yield chunk
    if size_bytes != entry.size_bytes:
        raise RejectedError(f"{shown(entry.name)}: it holds {size_bytes:,} bytes and claims {entry.size_bytes:,}")
    if crc != entry.crc:
        raise RejectedError(f"{shown(entry.name)}: its CRC is {crc:08x} and not {entry.crc:08x}: it is damaged")


def _unpacked(file: UploadFile, entry: ZipEntry, data_offset: int) -> Iterator[bytes]:
    inflater = None if entry.method == STORED else zlib.decompressobj(-zlib.MAX_WBITS)
    for offset in range(data_offset, data_offset + entry.packed_bytes, CHUNK_BYTES):
        data = file.read_at(offset, min(CHUNK_BYTES, data_offset + entry.packed_bytes - offset))
        if inflater is None:
            yield data
        else:
            yield from _inflated(inflater, data, entry)
    if inflater is not None and not inflater.eof:
        raise RejectedError(f"{shown(entry.name)}: its compressed data ends in the middle; expected a whole file")


def _inflated(inflater: zlib._Decompress, data: bytes, entry: ZipEntry) -> Iterator[bytes]:
    chunk = b"any"
    try:
        while not inflater.eof and (data or chunk):  # output may remain when all input is consumed
            chunk = inflater.decompress(data, CHUNK_BYTES)
            data = inflater.unconsumed_tail
            yield chunk
    except zlib.error:
        raise RejectedError(f"{shown(entry.name)}: its compressed data is damaged; expected Deflate") from None
    if inflater.unused_data or data:
        raise RejectedError(f"{shown(entry.name)}: its compressed data ends before the entry does; expected no more")
