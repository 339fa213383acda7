"""Frames: four bytes of length, big-endian, then one msgpack map with a string ``type``.

Bytes from a bot are untrusted until ``decode_body`` has checked their length, depth, number of values, key types and
numbers.
"""

from __future__ import annotations

import struct
from math import isfinite
from typing import Any

import msgpack

from arena.base.enums import FaultKind
from arena.base.records import DEFAULT_LIMITS, Limits

MAX_BYTES_TO_BOT = 1024 * 1024
HEADER_BYTES = 4

Message = dict[str, Any]

_HEADER = struct.Struct(">I")
_PACKER = msgpack.Packer()
_SCALARS = (int, str, bool, type(None))
_BAD_KEY = "a map has a key that is not a string"


class FrameError(ValueError):
    """Bytes that are not a frame of this protocol; ``kind`` is PROTOCOL, or LIMIT for a message that is too large."""

    def __init__(self, detail: str, kind: FaultKind = FaultKind.PROTOCOL) -> None:
        super().__init__(detail)
        self.kind = kind


def encode_frame(message: Message) -> bytes:
    """Return the frame of a message."""
    body: bytes = _PACKER.pack(message)
    return _HEADER.pack(len(body)) + body


def body_length(header: bytes | bytearray, limit: int = DEFAULT_LIMITS.message_bytes) -> int:
    """Return the length announced by the first four bytes of a frame.

    Raises:
        FrameError: if it is 0 or above ``limit`` bytes, with a hint if the bytes look like printed text.
    """
    (length,) = _HEADER.unpack_from(header)
    if length > limit:
        start = bytes(header[:HEADER_BYTES])
        if all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start):
            raise FrameError(f"text instead of a frame, starting {start.decode()!r}: did the bot print to stdout?")
        raise FrameError(f"a message of {length} bytes was announced; message_bytes allows {limit}", FaultKind.LIMIT)
    if length == 0:
        raise FrameError("an empty message was announced")
    return int(length)


def only_body(data: bytes, limit: int) -> bytes | None:
    """Return the body if the data are exactly one frame with a body of at most ``limit`` bytes; None otherwise."""
    length = len(data) - HEADER_BYTES
    return data[HEADER_BYTES:] if 0 < length <= limit and _HEADER.unpack_from(data)[0] == length else None


def decode_body(body: bytes, limits: Limits = DEFAULT_LIMITS) -> Message:
    """Return the message in the body of a frame from a bot.

    Raises:
        FrameError: if it is not one msgpack map with a string ``type`` within the limits.
    """
    try:
        message = msgpack.unpackb(body, raw=False, strict_map_key=True, object_pairs_hook=_unique, ext_hook=_no_ext)
    except FrameError:
        raise
    except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException) as error:
        if "for map key" in str(error):  # strict_map_key, which also protects against keys that collide
            raise FrameError(_BAD_KEY) from error
        kind = (
            FaultKind.LIMIT if isinstance(error, msgpack.exceptions.StackError | RecursionError) else FaultKind.PROTOCOL
        )
        raise FrameError(f"not valid msgpack ({_reason(error)})", kind) from error
    if type(message) is not dict:
        raise FrameError(f"expected a map, got a value of type {type(message).__name__}")
    if type(message.get("type")) is not str:
        raise FrameError("expected a map with a string under 'type'")
    _check_values(message, limits)
    return message


def _reason(error: Exception) -> str:
    if isinstance(error, msgpack.exceptions.ExtraData):
        return "extra bytes after the map"
    if isinstance(error, msgpack.exceptions.StackError | RecursionError):
        return "nested too deeply"
    if isinstance(error, msgpack.exceptions.FormatError):
        return "it has the byte c1, which msgpack does not use"
    return "it ends in the middle of a value" if "incomplete input" in str(error) else str(error)


def _unique(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise FrameError("a key appears twice in a map")
    if any(type(key) is not str for key in built):
        raise FrameError(_BAD_KEY)
    return built


def _no_ext(code: int, data: bytes) -> Any:
    raise FrameError(f"msgpack extension type {code}; extension types are not used")


def _check_values(message: Message, limits: Limits) -> None:
    """Check depth, number of values and finite numbers, one level of nesting at a time."""
    level: list[Any] = [message]
    nodes = 1
    for _depth in range(limits.message_depth):
        below: list[Any] = []
        for container in level:
            for value in container.values() if type(container) is dict else container:
                kind = type(value)
                if kind is dict or kind is list:
                    below.append(value)
                elif kind is float:
                    if not isfinite(value):
                        raise FrameError(f"the number {value}; numbers must be finite")
                elif kind not in _SCALARS:
                    raise FrameError(f"a value of type {kind.__name__}; binary values and extension types are not used")
            nodes += len(container)
        if nodes > limits.message_nodes:
            raise FrameError(f"more than {limits.message_nodes} values in one message (message_nodes)", FaultKind.LIMIT)
        if not below:
            return
        level = below
    raise FrameError(f"nested deeper than {limits.message_depth} levels (message_depth)", FaultKind.LIMIT)
