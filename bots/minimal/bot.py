#!/usr/bin/env python3
"""A whole bot with nothing but msgpack: it answers with the first legal action.

Everything arrives on stdin and leaves on stdout as frames: four bytes of length, big-endian, then one msgpack map.
protocol.md tells what every message holds. Print only to stderr.
"""

from __future__ import annotations

import sys
from typing import Any

import msgpack


def receive() -> dict[str, Any] | None:
    """Read one message; None when the arena has gone."""
    header = sys.stdin.buffer.read(4)
    if len(header) < 4:
        return None
    message: dict[str, Any] = msgpack.unpackb(sys.stdin.buffer.read(int.from_bytes(header, "big")))
    return message


def send(message: dict[str, Any]) -> None:
    """Write one message."""
    body: bytes = msgpack.packb(message)
    sys.stdout.buffer.write(len(body).to_bytes(4, "big") + body)
    sys.stdout.buffer.flush()


while (message := receive()) is not None:
    if message["type"] == "hello":
        send({"type": "ready", "protocol": 1, "name": "minimal"})
    elif message["type"] == "act":
        # Your idea goes here. message["legal"] lists the legal actions, message["observation"] shows the position.
        send({"type": "action", "ply": message["ply"], "action": message["legal"][0]})
    elif message["type"] == "quit":
        break
