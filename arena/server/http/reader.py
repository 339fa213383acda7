"""A reader of a stream of events.

What is sent is a chain of chunks that all readers of the same topics share: a reader only knows its place in it. A
reader that reads slowly costs no more than others, and one that has fallen too far behind is dropped.
"""

from __future__ import annotations

import asyncio

MAX_BEHIND_BYTES = 256 * 1024
"""A reader that has not taken this much is dropped."""


class Chunk:
    """A few events, as they are sent, and what was sent after them.

    Attributes:
        data: the events.
        end: how many bytes have been sent with it since the chain began.
        following: the next chunk; None at the end of the chain.
    """

    __slots__ = ("data", "end", "following")

    def __init__(self, data: bytes = b"", end: int = 0) -> None:
        self.data = data
        self.end = end
        self.following: Chunk | None = None


class Reader:
    """One that reads a stream.

    Attributes:
        at: the last chunk it has taken.
    """

    __slots__ = ("_first", "_is_dropped", "_is_ended", "_last", "_waiter", "at")

    def __init__(self, at: Chunk) -> None:
        """Prepare a reader that is sent what comes after a chunk."""
        self.at = at
        self._is_dropped = False
        self._first = b""
        self._last = b""
        self._is_ended = False
        self._waiter: asyncio.Future[None] | None = None

    def put_first(self, data: bytes) -> None:
        """Set what is sent before all else."""
        self._first = data

    async def take(self) -> bytes:
        """Return what is to be sent next, as soon as there is something; nothing at the end of the stream."""
        while not (self._is_ended or self._first or self.at.following):
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._is_dropped:
            return b""
        parts, self._first = [self._first], b""
        while self.at.following:
            self.at = self.at.following
            parts.append(self.at.data)
        if self._is_ended:
            parts, self._last = [*parts, self._last], b""
        return b"".join(parts)

    def wake(self) -> None:
        """Let it see that there is something to take."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def end(self, last: bytes = b"") -> None:
        """End its stream, after what it has not taken yet and something last."""
        self._is_ended = True
        self._last = last
        self.wake()

    def drop_if_too_slow(self, end: int) -> None:
        """End its stream, whatever it has not taken, if that is too much.

        Args:
            end: of the last chunk.
        """
        if end - self.at.end > MAX_BEHIND_BYTES:
            self._is_dropped = True
            self.end()
