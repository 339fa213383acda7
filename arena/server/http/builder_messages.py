"""What the web process and its builders tell each other: JSON in frames, and the value of a page as it was built."""

from __future__ import annotations

import asyncio
import struct
from typing import Any, BinaryIO, NamedTuple

from pydantic import Field

from arena.server.http.problems import Problem
from arena.site.frame.model import Model

# The value of a page as it was built, and how long that took.


class BuiltValue(NamedTuple):
    """What a page shows.

    Attributes:
        json: as JSON.
        seconds: how long it took to build, without waiting for a builder.
        cpu_seconds: how long a processor worked for that; None if that is not known.
    """

    json: bytes
    seconds: float
    cpu_seconds: float | None = None


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


# What the web process and its builders say to each other, as JSON.
#
# The first message has what a builder needs to know, and an empty frame says that it is ready. Then each request has an
# answer; one without a problem is followed by a frame with the value of the page.


class BuilderStart(Model):
    """What a builder needs to know.

    Attributes:
        directory: of the home.
        store: the URL of its database; None for a file in the home. It may have a password, so it is no argument.
        import_path: where modules are found, external games included.
        parent: the process that has started it.
        memory_bytes: the most it may use; None for no bound of its own.
    """

    directory: str
    store: str | None
    import_path: tuple[str, ...]
    parent: int
    memory_bytes: int | None = None


class BuildRequest(Model):
    """A page to build.

    Attributes:
        page: its name in the table of pages.
        parameters: what its address says.
    """

    page: str
    parameters: dict[str, Any]


class BuildAnswer(Model):
    """How it went.

    Attributes:
        problem: why there is no value; None if the next frame has it.
        seconds: how long it took.
        cpu_seconds: how long a processor worked for that.
        log: what the server's log should say about it, such as a traceback; empty for nothing.
    """

    problem: Problem | None = None
    seconds: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    cpu_seconds: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    log: str = ""
