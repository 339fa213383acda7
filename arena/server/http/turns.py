"""Whose turn it is to be built: pages that nobody has seen yet come first, but not always."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from arena.server.http.problems import Problem, ProblemError

MAX_WAITING = 256
"""Pages that wait for their turn; each is one that several readers may wait for."""

FIRST_PER_LATER = 3
"""How many pages that nobody has seen yet have their turn before one that is only out of date."""

BUSY = Problem(
    status=503,
    title="Too many pages are being built",
    error=f"More than {MAX_WAITING} pages wait to be built; try again in a few seconds.",
    retry_after_seconds=5,
)


class Turns:
    """Lets a few be built at a time; the others wait, each kind in the order of their arrival.

    Attributes:
        refused: how many found too many waiting.
    """

    def __init__(self, at_once: int, max_waiting: int = MAX_WAITING) -> None:
        self.refused = 0
        self._at_once = self._free = at_once
        self._max_waiting = max_waiting
        self._first: deque[asyncio.Future[None]] = deque()
        self._later: deque[asyncio.Future[None]] = deque()
        self._first_in_a_row = 0

    @property
    def is_busy(self) -> bool:
        """Whether a page would have to wait."""
        return self._free <= 0

    @property
    def busy(self) -> int:
        """How many have their turn now."""
        return self._at_once - self._free

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._first) + len(self._later)

    @asynccontextmanager
    async def turn(self, is_first: bool) -> AsyncIterator[None]:
        """Wait for a turn, sooner for a page that nobody has seen yet; raise ProblemError if too many wait."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._wait(self._first if is_first else self._later)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        if self.waiting >= self._max_waiting:
            self.refused += 1
            raise ProblemError(BUSY)
        waiter = asyncio.get_running_loop().create_future()
        queue.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                with suppress(ValueError):  # it was passed over
                    queue.remove(waiter)
            else:  # it was its turn when it left
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        while self._first or self._later:
            is_later = bool(self._later) and (not self._first or self._first_in_a_row >= FIRST_PER_LATER)
            self._first_in_a_row = self._first_in_a_row + 1 if self._later and not is_later else 0
            waiter = (self._later if is_later else self._first).popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1
