"""Frames between the web process and its builders: a length of four bytes, and as many bytes."""

from __future__ import annotations

import asyncio
import struct
from typing import BinaryIO

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""More than any page has."""

_LENGTH = struct.Struct("!I")


class FrameError(Exception):
    """A frame is longer than any we send, or ends early."""


def framed(payload: bytes) -> bytes:
    """Return a frame."""
    return _LENGTH.pack(len(payload)) + payload


def read_frame(file: BinaryIO) -> bytes | None:
    """Return the payload of the next frame; None at the end.

    Raises:
        FrameError: if it is malformed.
    """
    head = file.read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise FrameError("a frame ends early")
    length = _bounded(head)
    payload = file.read(length)
    if len(payload) < length:
        raise FrameError("a frame ends early")
    return payload


async def receive_frame(reader: asyncio.StreamReader) -> bytes:
    """Return the payload of the next frame.

    Raises:
        FrameError: if it is malformed, or the process has ended.
    """
    try:
        return await reader.readexactly(_bounded(await reader.readexactly(_LENGTH.size)))
    except asyncio.IncompleteReadError as error:
        raise FrameError("a frame ends early") from error


def _bounded(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {length} bytes; expected at most {MAX_FRAME_BYTES}")
    return int(length)
