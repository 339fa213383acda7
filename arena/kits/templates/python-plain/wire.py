"""Frames: four bytes of length, big-endian, then one msgpack map. Everything on stdin and stdout is frames."""

import sys

import msgpack


def receive():
    """Return the next message, or None when the arena has gone."""
    header = sys.stdin.buffer.read(4)
    if len(header) < 4:
        return None
    body = sys.stdin.buffer.read(int.from_bytes(header, "big"))
    return msgpack.unpackb(body) if len(body) == int.from_bytes(header, "big") else None


def frame(message):
    """Return a message as bytes."""
    body = msgpack.packb(message)
    return len(body).to_bytes(4, "big") + body


def send(message):
    """Write a message at once."""
    sys.stdout.buffer.write(frame(message))
    sys.stdout.buffer.flush()
