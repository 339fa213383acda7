"""Messages of a conversation as people read them: as text, and the bytes in hexadecimal."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgpack

from arena.analysis.text.tables import printable
from arena.match.players.bot_output import TranscriptFrame
from arena.protocol.frames import HEADER_BYTES

SHOWN_BYTES = 96
SHOWN_CHARACTERS = 400
SHOWN_MESSAGES = 5
_ROW_BYTES = 16


def show_message(frame: bytes) -> str:
    """Return the message in a frame as text; for invalid bytes, the reason."""
    if not frame:
        return "nothing"
    body = frame[HEADER_BYTES:]
    announced = int.from_bytes(frame[:HEADER_BYTES], "big")
    if len(frame) < HEADER_BYTES or announced != len(body):
        size = "more than one" if 0 < announced < len(body) else "not a whole"
        return f"{size} message: {len(frame)} bytes, of which the first four announce {announced}"
    try:
        message = msgpack.unpackb(body, strict_map_key=False, raw=False)
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        return f"not msgpack: {error}"
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


def exchange_lines(before: Sequence[TranscriptFrame], sent: bytes, received: bytes) -> list[str]:
    """Return the end of a conversation: a few messages as text, and the last exchange in hexadecimal too."""
    lines = [
        f"{'sent:     ' if frame.is_sent else 'came back:'} {show_message(frame.data)}"
        for frame in before[-SHOWN_MESSAGES:]
    ]
    lines += [f"sent:      {show_message(sent)}", *(f"  {line}" for line in hex_dump(sent))]
    lines += [f"came back: {show_message(received)}", *(f"  {line}" for line in hex_dump(received))]
    return lines
