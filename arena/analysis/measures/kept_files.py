"""Files of a home's cache, which are complete or absent, and never trusted.

Another user may own the home, so a file must be a plain one of a bounded size with a checked content; any other
is ignored. A file with arrays is one line of JSON, plain numbers, and a digest, which detects damage on disk.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from arena.base.errors import StoreError
from arena.base.folder import replace_file
from arena.base.stored import from_json_text, from_stored

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Enough for about 10,000 bots."""
_DIGEST_BYTES = 16

T = TypeVar("T")


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file to read; OSError for a link, pipe or directory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(f"{path} is no plain file")


def read_parts(
    path: Path, line_type: type[T], size_of: Callable[[T], int | None], title: str
) -> tuple[T, bytes] | None:
    """Return the line of a file and the bytes behind it; None unless the file has exactly these and is undamaged.

    ``size_of`` returns how many bytes belong behind a line, and None for a line of another key.

    Raises:
        OSError: if there is no such file, or it is no plain one.
        StoreError: if the line is malformed.
    """
    with open_plain(path) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        text = file.readline(MAX_LINE_BYTES)
        line = from_stored(line_type, _json(text, title), title)
        size = size_of(line)
        if size is None or size_bytes != len(text) + size + _DIGEST_BYTES:
            return None
        data = file.read(size)
        is_undamaged = len(data) == size and file.read(_DIGEST_BYTES) == digest_of(text, data)
    return (line, data) if is_undamaged else None


def _json(text: bytes, title: str) -> Any:
    try:
        return from_json_text(text.decode(), title)
    except UnicodeDecodeError as error:
        raise StoreError(f"{title} is not text") from error


def digest_of(*parts: Any) -> bytes:
    """Return the digest that ends a file with these bytes and arrays."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        digest.update(part)
    return digest.digest()


def write_parts(path: Path, line: Any, *arrays: Any) -> None:
    """Write a line, which is a dataclass, and arrays for ``read_parts``; nothing if the line is too long."""
    text = json.dumps(asdict(line), separators=(",", ":")).encode() + b"\n"
    if len(text) <= MAX_LINE_BYTES:
        write_whole(path, text, *arrays)


def write_whole(path: Path, *parts: Any) -> None:
    """Write bytes and arrays, with their digest, to a file that appears only when it is complete.

    Errors in writing it are ignored.
    """
    with suppress(OSError):
        if not path.parent.is_symlink():  # which leads out of the home
            replace_file(path, *parts, digest_of(*parts))
