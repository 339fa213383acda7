"""The protocol for the misbehaving bots of the tests, in a few lines."""

import os
import struct
import sys

import msgpack


def receive():
    header = sys.stdin.buffer.read(4)
    if len(header) < 4:
        sys.exit(0)
    return msgpack.unpackb(sys.stdin.buffer.read(struct.unpack(">I", header)[0]))


def write(data):
    while data:
        data = data[os.write(1, data) :]


def frame(message):
    body = msgpack.packb(message)
    return struct.pack(">I", len(body)) + body


def send(message):
    write(frame(message))


def play(on_act, wants=None):
    """Play as a good bot does, but for what ``on_act(message)`` does."""
    while True:
        message = receive()
        if message["type"] == "hello":
            send({"type": "ready", "protocol": 1, "wants": wants or {}})
        elif message["type"] == "act":
            on_act(message)
        elif message["type"] == "quit":
            sys.exit(0)


def answer(message, **changes):
    return {"type": "action", "ply": message["ply"], "action": message["legal"][0], **changes}
