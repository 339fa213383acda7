"""Leaderboards that rest: a process that builds many pages shows one again for a while, whatever is recorded meanwhile.

While a ladder is played, every result changes its game's leaderboard, of which the profile of each bot of that game
shows a line. Where that takes long, computing it for every profile would keep a core busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

LEAST_CPU_SECONDS = 0.1
"""What takes less does not rest."""
REST_PER_CPU_SECOND = 10.0


Leaderboard = TypeVar("Leaderboard")


class _Kept(NamedTuple):
    board: Any
    until: float


class RestingLeaderboards:
    """The leaderboards that rest now, in the memory of a process."""

    def __init__(
        self,
        now: Callable[[], float] = lambda: time.monotonic(),
        worked: Callable[[], float] = lambda: time.process_time(),
    ) -> None:
        """Begin with none.

        Args:
            now: the clock.
            worked: for how long a processor has worked for this process.
        """
        self._now, self._worked = now, worked
        self._kept: dict[Hashable, _Kept] = {}

    def newest(self, what: Hashable, compute: Callable[[], Leaderboard]) -> Leaderboard:
        """Return a leaderboard that rests, or else compute it.

        Args:
            what: whose leaderboard it is; another value after a correction, and when a tournament is finished.
            compute: returns it.
        """
        kept = self._kept.get(what)
        if kept is not None and self._now() < kept.until:
            board: Leaderboard = kept.board
            return board
        began = self._worked()
        computed = compute()
        cpu_seconds = self._worked() - began
        self._kept = {one: other for one, other in self._kept.items() if self._now() < other.until}
        if cpu_seconds >= LEAST_CPU_SECONDS:
            self._kept[what] = _Kept(computed, self._now() + REST_PER_CPU_SECOND * cpu_seconds)
        return computed


_of_this_process: RestingLeaderboards | None = None


def let_leaderboards_rest(boards: RestingLeaderboards | None) -> None:
    """Let leaderboards rest in this process, which builds pages; elsewhere each is that of all records.

    Args:
        boards: those that rest; None for none, as at first.
    """
    global _of_this_process
    _of_this_process = boards


def resting_leaderboards() -> RestingLeaderboards | None:
    """Return the leaderboards that rest in this process; None where none do."""
    return _of_this_process
