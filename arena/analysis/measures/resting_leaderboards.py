"""Leaderboards that rest: a process that builds many pages shows the same one for a while, although results come in.

Each result of a ladder changes the leaderboard of its game, of which every profile shows a line: computing it again for
each would keep a core busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

LEAST_CPU_SECONDS = 0.1
"""A leaderboard that takes less does not rest."""
REST_PER_CPU_SECOND = 10.0


Leaderboard = TypeVar("Leaderboard")


class _Resting(NamedTuple):
    board: Any
    until: float


class RestingLeaderboards:
    """The leaderboards that rest now, in the memory of a process."""

    def __init__(
        self,
        now: Callable[[], float] = lambda: time.monotonic(),
        worked: Callable[[], float] = lambda: time.process_time(),
    ) -> None:
        self._now, self._worked = now, worked
        self._resting: dict[Hashable, _Resting] = {}

    def newest(self, identity: Hashable, compute: Callable[[], Leaderboard]) -> Leaderboard:
        """Return a leaderboard that rests, or else compute it.

        ``identity`` differs after a correction, and when a tournament is finished.
        """
        resting = self._resting.get(identity)
        if resting is not None and self._now() < resting.until:
            board: Leaderboard = resting.board
            return board
        began = self._worked()
        computed = compute()
        cpu_seconds = self._worked() - began
        self._resting = {key: value for key, value in self._resting.items() if self._now() < value.until}
        if cpu_seconds >= LEAST_CPU_SECONDS:
            self._resting[identity] = _Resting(computed, self._now() + REST_PER_CPU_SECOND * cpu_seconds)
        return computed


_of_this_process: RestingLeaderboards | None = None


def let_leaderboards_rest(boards: RestingLeaderboards | None) -> None:
    """Let leaderboards rest in this process, which builds pages; elsewhere each is that of all records."""
    global _of_this_process
    _of_this_process = boards


def resting_leaderboards() -> RestingLeaderboards | None:
    """Return the leaderboards that rest in this process; None where none do."""
    return _of_this_process
