"""The entries of a tar: ustar, and the long names of GNU tar and pax."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import NamedTuple

from arena.match.uploads.entry import (
    Budget,
    Entry,
    RejectedError,
    UnpackLimits,
    check_mode,
    check_size,
    reject_kind,
    shown,
    too_many_entries,
)
from arena.match.uploads.upload_file import CHUNK_BYTES, Compression, Stream, UploadFile

_BLOCK = 512
_ZEROS = bytes(_BLOCK)
MAX_EXTENSION_BYTES = 16 * 1024
"""Of a header that extends an entry: a long name, or the attributes of pax."""

MAX_PADDING_BYTES = 1024 * 1024
"""Of zeros behind the end; tar writes records of 10,240 bytes by default."""

_OTHER_NUMBERS = (slice(108, 116), slice(116, 124), slice(136, 148), slice(329, 337), slice(337, 345))
"""Owner, group, time and device: unused here, but some readers take an entry without them for the end."""

_LARGE = (b"\x80", b"\xff")
"""First bytes of numbers that are not octal."""

_FILE_TYPES, _DIRECTORY_TYPE = (b"0", b"\0"), b"5"
_LONG_NAME, _PAX, _PAX_OF_ALL = b"L", b"x", b"g"
_REFUSED = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"K": "a link with a long target",
    b"S": "a sparse file",
}
_UNUSED_KEYS = ("atime", "charset", "comment", "ctime", "gid", "gname", "mtime", "uid", "uname")
_UNUSED_PREFIXES = ("LIBARCHIVE.", "SCHILY.")
"""Of owners, times and attributes, which pax may have and nobody needs here."""


class _Header(NamedTuple):
    name: bytes
    mode: int
    size_bytes: int
    kind: bytes


def tar_entries(file: UploadFile, compression: Compression | None, limits: UnpackLimits) -> Iterator[Entry]:
    """Yield the entries of a tar; raise RejectedError as soon as it is known not to be accepted."""
    stream = Stream(file, compression, Budget(limits, file.size_bytes))
    long_name, headers = b"", 0
    while (header := _next_header(stream)) is not None:
        headers += 1
        if headers > 2 * limits.entries:  # each with a header of its own for a long name
            raise RejectedError(too_many_entries(limits))
        if header.kind in (_LONG_NAME, _PAX, _PAX_OF_ALL):
            name = _extension(header, _read_extension(stream, header))
            if name and long_name:
                raise RejectedError(f"{shown(name)}: one entry with two long names; expected one")
            long_name = name or long_name
            continue
        entry, long_name = _entry(header, long_name or header.name, stream, limits), b""
        yield entry
        _skip_padding(stream, header.size_bytes)
    if long_name:
        raise RejectedError(f"{shown(long_name)}: a long name without an entry; expected one behind it")
    _check_behind(stream)


def _check_behind(stream: Stream) -> None:
    """Raise RejectedError for anything but the zeros that fill the last record."""
    count = 0
    while data := stream.read_some(CHUNK_BYTES):
        count += len(data)
        if data.strip(b"\0") or count > MAX_PADDING_BYTES:
            raise RejectedError(
                f"something lies behind its end; expected nothing there but zeros, at most {MAX_PADDING_BYTES:,}"
            )


def _next_header(stream: Stream) -> _Header | None:
    """Return the next header; None at the end, which is two blocks of zeros."""
    block = stream.read(_BLOCK)
    if len(block) < _BLOCK:
        raise RejectedError("it ends without the two blocks of zeros at the end of a tar; expected a whole one")
    if block == _ZEROS:
        if stream.read(_BLOCK) != _ZEROS:
            raise RejectedError("it ends with one block of zeros; expected the two at the end of a tar, and all before")
        return None
    name, prefix = _text(block[:100]), _text(block[345:500])
    checksum = sum(block) - sum(block[148:156]) + 8 * ord(" ")
    if block[257:262] != b"ustar" or _number(block[148:156]) != checksum:
        raise RejectedError("it is damaged, or no tar: there is no header where one should be; expected a whole tar")
    if prefix:
        if block[257:265] != b"ustar\x0000":  # the times of an incremental tar by GNU, which some take for a prefix
            raise RejectedError(f"{shown(name)}: an entry of an incremental tar; expected an ordinary one")
        name = prefix + b"/" + name
    mode, size_bytes = _number(block[100:108]), _number(block[124:136])
    if mode is None or size_bytes is None:
        raise RejectedError(f"{shown(name)}: a size or a mode that is no octal number; expected one below 8 GiB")
    for field in _OTHER_NUMBERS:
        if _number(block[field]) is None and block[field][:1] not in _LARGE:
            raise RejectedError(f"{shown(name)}: an owner, a time or a device that is no number; expected a whole tar")
    return _Header(name, mode, size_bytes, block[156:157])


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _number(field: bytes) -> int | None:
    """Return an octal number; None for anything else, also for one of more than 8 GiB in GNU tar's manner."""
    digits = field.rstrip(b" \0").lstrip(b" ")
    return int(digits or b"0", 8) if all(48 <= digit < 56 for digit in digits) else None


def _entry(header: _Header, name: bytes, stream: Stream, limits: UnpackLimits) -> Entry:
    if header.kind not in (*_FILE_TYPES, _DIRECTORY_TYPE):
        what = _REFUSED.get(header.kind) or f"an entry of type {header.kind.decode('ascii', 'backslashreplace')!r}"
        raise reject_kind(name, what)
    is_directory = header.kind == _DIRECTORY_TYPE
    kind = stat.S_IFDIR if is_directory else stat.S_IFREG
    if stat.S_IFMT(header.mode) not in (0, kind) or (not is_directory and name.endswith(b"/")):
        raise RejectedError(
            f"{shown(name)}: its mode or its name is not that of its type; expected a file or a directory"
        )
    check_mode(name, stat.S_IMODE(header.mode), is_directory)
    check_size(name, header.size_bytes, limits)
    if is_directory and header.size_bytes:
        raise RejectedError(f"{shown(name)}: a directory with {header.size_bytes:,} bytes; expected none")
    chunks = _contents(stream, name, header.size_bytes)
    return Entry(name, is_directory, header.size_bytes, bool(header.mode & 0o100), chunks)


def _contents(stream: Stream, name: bytes, size_bytes: int) -> Iterator[bytes]:
    left = size_bytes
    while left:
        chunk = stream.read_some(min(left, CHUNK_BYTES))
        if not chunk:
            raise RejectedError(
                f"{shown(name)}: {left:,} of its {size_bytes:,} bytes are missing; expected a whole tar"
            )
        left -= len(chunk)
        yield chunk


def _skip_padding(stream: Stream, size_bytes: int) -> None:
    count = -size_bytes % _BLOCK
    if len(stream.read(count)) < count:
        raise RejectedError("it ends in the middle of a block; expected a whole tar")


def _read_extension(stream: Stream, header: _Header) -> bytes:
    if header.size_bytes > MAX_EXTENSION_BYTES:
        raise RejectedError(
            f"{shown(header.name)}: a header of {header.size_bytes:,} bytes for a long name or attributes; expected at"
            f" most {MAX_EXTENSION_BYTES:,}"
        )
    data = b"".join(_contents(stream, header.name, header.size_bytes))
    _skip_padding(stream, header.size_bytes)
    return data


def _extension(header: _Header, data: bytes) -> bytes:
    """Return the long name that a header gives to the next entry; nothing if it gives none."""
    if header.kind == _LONG_NAME:
        return data.removesuffix(b"\0")
    return _pax_path(data, of_all=header.kind == _PAX_OF_ALL)


def _pax_path(data: bytes, of_all: bool) -> bytes:
    """Return the path in a pax header, which may hold nothing else that changes an entry."""
    path = b""
    while data:
        digits, _, rest = data.partition(b" ")
        count = int(digits) if digits.isdigit() and len(digits) < 6 else 0
        key, equals, value = rest[: count - len(digits) - 2].partition(b"=")
        if not len(digits) + 2 < count <= len(data) or not equals or data[count - 1 : count] != b"\n":
            raise RejectedError("a pax header is damaged; expected lines of a length, a name and a value")
        data = data[count:]
        name = key.decode(errors="backslashreplace")
        if name == "path" and not of_all and not path and value:
            path = value
        elif name not in _UNUSED_KEYS and not name.startswith(_UNUSED_PREFIXES):
            raise RejectedError(
                f"a pax header says {shown(key)} = {shown(value)}; expected 'path' once for an entry, owners and times"
            )
    return path
