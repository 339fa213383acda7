"""What was said over the pipe, as people read it: the message, and the bytes in hexadecimal."""

from __future__ import annotations

import json

import msgpack

from arena.report.tables import printable

SHOWN_BYTES = 96
SHOWN_CHARACTERS = 400
_ROW_BYTES = 16


def show_message(frame: bytes) -> str:
    """Return the message in a frame as text; what is wrong with it if it is none."""
    if not frame:
        return "nothing"
    body = frame[4:]
    announced = int.from_bytes(frame[:4], "big")
    if len(frame) < 4 or announced != len(body):
        return f"no whole message: {len(frame)} bytes, of which the first four announce {announced}"
    try:
        message = msgpack.unpackb(body, strict_map_key=False, raw=False)
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        return f"no msgpack: {error}"
    text = printable(json.dumps(message, ensure_ascii=False, default=repr))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def hex_dump(data: bytes) -> list[str]:
    """Return lines of sixteen bytes, in hexadecimal and as characters; at most the first 96 bytes."""
    lines = []
    for start in range(0, min(len(data), SHOWN_BYTES), _ROW_BYTES):
        row = data[start : start + _ROW_BYTES]
        characters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{start:04x}  {row.hex(' '):<47}  {characters}")
    if len(data) > SHOWN_BYTES:
        lines.append(f"… and {len(data) - SHOWN_BYTES:,} bytes more")
    return lines


def exchange_lines(sent: bytes, received: bytes) -> list[str]:
    """Return what was sent and what came back, readable and in hexadecimal."""
    lines = [f"sent:      {show_message(sent)}", *(f"  {line}" for line in hex_dump(sent))]
    lines += [f"came back: {show_message(received)}", *(f"  {line}" for line in hex_dump(received))]
    return lines
