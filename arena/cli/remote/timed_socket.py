"""A connection that ends at a deadline, however slowly the other end sends its bytes."""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Callable


class Deadline:
    """The instant at which a wait ends."""

    def __init__(self, seconds: float, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._now = now
        self.renew(seconds)

    def renew(self, seconds: float) -> None:
        """Wait for so long from now on."""
        self._at = self._now() + seconds

    def left_seconds(self) -> float:
        """Return how long there is.

        Raises:
            TimeoutError: if it is over.
        """
        left = self._at - self._now()
        if left <= 0:
            raise TimeoutError
        return left


class _Stream(io.RawIOBase):
    """What comes from a socket, until a deadline."""

    def __init__(self, source: socket.socket, deadline: Deadline) -> None:
        self._source, self._deadline = source, deadline

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read what is there."""
        self._source.settimeout(self._deadline.left_seconds())
        return self._source.recv_into(buffer)


class TimedSocket:
    """Of a socket, what ``http.client`` uses. Whoever opened the socket closes it."""

    def __init__(self, opened: socket.socket, deadline: Deadline) -> None:
        self._opened, self._deadline = opened, deadline

    def makefile(self, *_: object) -> io.BufferedReader:
        """Return what comes, as a file."""
        return io.BufferedReader(_Stream(self._opened, self._deadline))

    def sendall(self, data: bytes) -> None:
        """Send all of it before the deadline."""
        self._opened.settimeout(self._deadline.left_seconds())
        self._opened.sendall(data)

    def close(self) -> None:
        """Do nothing: a response may still be read."""
