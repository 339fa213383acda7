"""The messages between the web process and its builders: JSON in frames, and the values of pages."""

from __future__ import annotations

import asyncio
import struct
from typing import Any, BinaryIO, NamedTuple

from pydantic import Field

from arena.server.http.problems import Problem
from arena.site.frame.model import Lane, Model


class BuiltValue(NamedTuple):
    """The JSON of a page, how long its build took without waiting for a builder, its CPU time if known, and its age."""

    json: bytes
    seconds: float
    cpu_seconds: float | None = None
    age_seconds: float = 0.0


# Frames between the web process and its builders: a length of four bytes, and as many bytes.

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""More than any page has."""

_LENGTH = struct.Struct("!I")


class FrameError(Exception):
    """A frame is longer than any we send, or ends early."""


def framed(payload: bytes) -> bytes:
    """Return a frame."""
    return _LENGTH.pack(len(payload)) + payload


def read_frame(file: BinaryIO) -> bytes | None:
    """Return the payload of the next frame; None at the end. Raise FrameError if it is malformed."""
    head = file.read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise FrameError("a frame ends early")
    length = _checked_length(head)
    payload = file.read(length)
    if len(payload) < length:
        raise FrameError("a frame ends early")
    return payload


async def receive_frame(reader: asyncio.StreamReader) -> bytes:
    """Return the payload of the next frame; raise FrameError if it is malformed, or the process has ended."""
    try:
        return await reader.readexactly(_checked_length(await reader.readexactly(_LENGTH.size)))
    except asyncio.IncompleteReadError as error:
        raise FrameError("a frame ends early") from error


def _checked_length(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {length} bytes; expected at most {MAX_FRAME_BYTES}")
    return int(length)


# The messages are JSON. The first one has the settings of a builder, which answers with an empty frame when it is
# ready. Then each request has an answer; an answer without a problem is followed by a frame with the value of the page.


class BuilderStart(Model):
    """What a builder needs to know; the URL of the database may have a password, so it is no argument."""

    lane: Lane
    directory: str
    store: str | None
    import_path: tuple[str, ...]
    parent: int
    memory_bytes: int | None = None


class BuildRequest(Model):
    """A page to build, by its name in the table of pages, with the parameters of its address."""

    page: str
    parameters: dict[str, Any]


class BuildAnswer(Model):
    """The outcome of a build, and a line for the server's log; without a problem, the next frame has the value."""

    problem: Problem | None = None
    seconds: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    cpu_seconds: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    log: str = ""
