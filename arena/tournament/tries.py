"""The void matches of a run: they are tried again, at once a few times, and on a ladder later, ever more rarely."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from arena.base.records import MatchSpec
from arena.tournament.executors.executor import Void
from arena.tournament.progress import Progress
from arena.tournament.turns import Turns

MAX_TRIES = 3
"""A match that is void this many times in one run is reported, and left for the next run."""

RETRY_SECONDS = 60.0
MAX_RETRY_SECONDS = 3600.0
"""Until a match of a ladder is tried once more; each time twice as long."""

log = logging.getLogger("arena.director")


class _Held(NamedTuple):
    """A match that is held back.

    Attributes:
        spec: for its next try.
        pause_seconds: until that.
        again_at: when it is tried again.
    """

    spec: MatchSpec
    pause_seconds: float
    again_at: float


class Tries:
    """What becomes of the matches that were void in one run, and of those whose bots rest."""

    def __init__(self, progress: Progress, turns: Turns | None) -> None:
        """Prepare.

        Args:
            progress: of the run; it gets the matches that are given up.
            turns: who rests; None if nobody does.
        """
        self._progress, self._turns = progress, turns
        self._tries: Counter[int] = Counter()
        self._held: dict[int, _Held] = {}

    @property
    def passed_over(self) -> int:
        """How many matches without a record do not keep a ladder from its next round."""
        if self._turns is None:
            return 0
        progress = self._progress
        return len(progress.given_up) + len(progress.game_errors) + len(progress.put_off)

    def unless_resting(self, specs: Iterable[MatchSpec]) -> Iterator[MatchSpec]:
        """Yield matches as they are taken; those of bots that rest then are held back, and put off if they are away."""
        for spec in specs:
            if self._is_away(spec):
                self._progress.put_off.add(spec.match)
            elif self._rests(spec):
                self._hold(spec, "a bot rests")
            else:
                yield spec

    def is_again(self, void: Void) -> bool:
        """Note a void match; return whether it is played again at once."""
        match = void.match
        if void.game_error is not None:  # the rules know no chance: the same match would end in the same way
            self._progress.game_errors[match] = void.game_error
            return False
        self._tries[match] += 1
        if self._is_away(void.spec):
            self._progress.put_off.add(match)
            return False
        if self._rests(void.spec):
            self._hold(void.spec, void.reason)
            return False
        if self._tries[match] < MAX_TRIES:
            log.warning("match %d is void (%s); it will be played again", match, void.reason)
            return True
        log.error("match %d was void %d times (%s); it is given up", match, MAX_TRIES, void.reason)
        self._hold(void.spec, void.reason)
        return False

    def due(self) -> list[MatchSpec]:
        """Return matches that were given up some time ago, at most one for each bot; each has one more try."""
        now = time.monotonic()
        due: list[MatchSpec] = []
        tried: set[str] = set()
        for match, one in self._held.items():
            labels = {bot.label for bot in one.spec.bots}
            if match in self._progress.given_up and one.again_at <= now and labels.isdisjoint(tried):
                tried |= labels
                due.append(one.spec)
                del self._progress.given_up[match]
                self._tries[match] = MAX_TRIES - 1
        return due

    def _is_away(self, spec: MatchSpec) -> bool:
        return self._turns is not None and any(bot.label in self._turns.away for bot in spec.bots)

    def _rests(self, spec: MatchSpec) -> bool:
        return self._turns is not None and not self._turns.resting().isdisjoint(bot.label for bot in spec.bots)

    def _hold(self, spec: MatchSpec, reason: str) -> None:
        before = self._held.get(spec.match)
        pause_seconds = RETRY_SECONDS if before is None else min(2 * before.pause_seconds, MAX_RETRY_SECONDS)
        self._held[spec.match] = _Held(spec, pause_seconds, time.monotonic() + pause_seconds)
        self._progress.given_up[spec.match] = reason
