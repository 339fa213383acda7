"""Void matches that come one after the other: who is behind them rests, and then the whole run.

1. A bot whose matches were void six times in a row, with different rivals, rests: it is not paired, and its matches are
   not tried. Its rivals play on. It tries again after a pause, and each further pause is twice as long.
2. When twelve matches in a row were void, whoever played them, the machine is at fault: the run ends, and whoever keeps
   the tournament going tries again later.
3. A match that is recorded ends both.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection

BOT_VOIDS = 6
RUN_VOIDS = 12
FIRST_PAUSE_SECONDS = 15.0
LONGEST_PAUSE_SECONDS = 3600.0


class VoidRests:
    """The void matches of one run.

    Attributes:
        in_row: how many matches were void since one was recorded.
    """

    def __init__(self, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        """Begin without any.

        Args:
            now: the clock.
        """
        self._now = now
        self.in_row = 0
        self._in_row_of: Counter[str] = Counter()
        self._rivals: dict[str, set[str]] = {}
        self._rests: Counter[str] = Counter()
        self._until: dict[str, float] = {}

    def begin_run(self) -> None:
        """Begin another run: after a storm, one more void match ends it."""
        self.in_row = min(self.in_row, RUN_VOIDS - 1)

    def note_recorded(self, bots: Collection[str]) -> None:
        """Note that a match has a record."""
        self.in_row = 0
        for bot in bots:
            self._in_row_of.pop(bot, None)
            self._rivals.pop(bot, None)
            self._rests.pop(bot, None)
            self._until.pop(bot, None)

    def note_void(self, bots: Collection[str]) -> list[str]:
        """Note that a match was void; return who rests from now on."""
        self.in_row += 1
        began = []
        for bot in bots:
            self._in_row_of[bot] += 1
            self._rivals.setdefault(bot, set()).update(other for other in bots if other != bot)
            if self._in_row_of[bot] >= BOT_VOIDS and len(self._rivals[bot]) > 1 and bot not in self.resting():
                pause = min(FIRST_PAUSE_SECONDS * 2 ** self._rests[bot], LONGEST_PAUSE_SECONDS)
                self._rests[bot] += 1
                self._until[bot] = self._now() + pause
                began.append(bot)
        return began

    def resting(self) -> dict[str, float]:
        """Return who rests, and for how many seconds still."""
        now = self._now()
        return {bot: until - now for bot, until in self._until.items() if until > now}

    @property
    def is_storm(self) -> bool:
        """Whether enough matches were void in a row for the run to end."""
        return self.in_row >= RUN_VOIDS
