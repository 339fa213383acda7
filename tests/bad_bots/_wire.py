"""The protocol for the misbehaving bots of the tests, in a few lines."""

import contextlib
import os
import struct
import sys
import time

import msgpack


def receive():
    header = sys.stdin.buffer.read(4)
    if len(header) < 4:
        sys.exit(0)
    return msgpack.unpackb(sys.stdin.buffer.read(struct.unpack(">I", header)[0]))


def write(data):
    while data:
        data = data[os.write(1, data) :]


def framed(body):
    return struct.pack(">I", len(body)) + body


def frame(message):
    return framed(msgpack.packb(message))


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


def play_with(**changes):
    """Play as a good bot does, but for these fields of every answer."""
    play(lambda message: send(answer(message, **changes)))


def play_hog(take, seconds=0.0):
    """Take what is there until something refuses, wait to be seen, and end."""

    def hog(message):
        with contextlib.suppress(OSError):
            take()
        time.sleep(seconds)
        raise SystemExit("enough: nobody held me")

    play(hog)


def play_with_body(make_body):
    """Play as a good bot does, but for the body of every answer."""
    play(lambda message: write(framed(make_body(message))))


def commit(deed):
    """Do a deed before every answer, tell in a note whether it was held, and else play as a good bot does."""

    def act(message):
        try:
            told = deed()
        except Exception as error:
            send(answer(message, note=f"held: {type(error).__name__}: {error}"[:200]))
        else:
            send(answer(message, note=f"got through: {told}"[:200]))

    play(act)


def parent():
    """Return the parent's number if it can be seen."""
    if os.getppid() <= 2:
        raise PermissionError("the parent is out of sight")
    return os.getppid()


def by_machine(x86_64, aarch64):
    """Return this machine's number of a system call."""
    return {"x86_64": x86_64, "aarch64": aarch64}[os.uname().machine]


def must(result, libc):
    """Raise if a C function failed."""
    import ctypes

    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return libc
