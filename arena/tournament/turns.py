"""Who sits out rounds of a ladder that is kept going: slow bots for a while, and those whose matches are void.

A run without this pairs by results alone, so that the same results give the same schedule; with it, by the clock too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from arena.base.stored import from_json_text
from arena.store.results.rows import RecordRow, as_json
from arena.tournament.executors.executor import Executor, JobResult, Played, Void
from arena.tournament.time_shares import EndedMatch, TimeShares
from arena.tournament.void_rests import VoidRests


class SitsOut(NamedTuple):
    """An entrant who is not paired for a while.

    Attributes:
        bot: ``name@version``.
        is_slow: whether that is because it has had more than its share of time; else its matches were void.
        seconds: how long still; if it is slow, of the others' time.
    """

    bot: str
    is_slow: bool
    seconds: float


class Turns:
    """Who sits out rounds, in one program; it may see several runs.

    Attributes:
        away: who plays nothing, also none of the matches that are scheduled; whoever keeps the ladder going says who.
        said: the bytes that bots have said in records, until whoever keeps the ladder going has counted them.
    """

    def __init__(self, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        """Begin with everybody.

        Args:
            now: the clock.
        """
        self._now = now
        self._shares, self._rests = TimeShares(), VoidRests(now)
        self._seen_at = now()
        self.away: frozenset[str] = frozenset()
        self.said = Counter[str]()

    @property
    def void_in_row(self) -> int:
        """How many matches were void since one was recorded."""
        return self._rests.in_row

    @property
    def is_storm(self) -> bool:
        """Whether enough matches were void in a row for the run to end."""
        return self._rests.is_storm

    def begin(self) -> None:
        """Begin a run: time before it is nobody's."""
        self._seen_at = self._now()
        self._rests.begin_run()

    def see(self, results: Sequence[JobResult], executor: Executor, present: Collection[str]) -> list[str]:
        """Note what came of matches since the last call; return who rests from now on because of void ones.

        Args:
            results: of matches.
            executor: that plays them.
            present: the entrants.
        """
        now = self._now()
        ended = [_ended(result.row) for result in results if isinstance(result, Played)]
        playing = {one.match for one in executor.playing()}
        self._shares.pass_time(now - self._seen_at, ended, playing - {one.match for one in ended}, present)
        self._seen_at = now
        began: list[str] = []
        for result in results:
            if isinstance(result, Void) and result.game_error is None:
                began += self._rests.note_void([bot.label for bot in result.spec.bots])
        for one in ended:
            self._rests.note_recorded(one.seconds)
            self.said.update(one.said)
        return began

    def resting(self) -> frozenset[str]:
        """Return who is not to be paired whoever else wants to play."""
        return self.away.union(self._rests.resting())

    def in_debt(self) -> frozenset[str]:
        """Return who is not to be paired while others want to play."""
        return frozenset(self._shares.in_debt())

    def sitting_out(self) -> list[SitsOut]:
        """Return everybody who sits out, with the reason."""
        resting = self._rests.resting()
        found = [SitsOut(bot, False, seconds) for bot, seconds in sorted(resting.items())]
        slow = sorted(self._shares.in_debt().items())
        return found + [SitsOut(bot, True, seconds) for bot, seconds in slow if bot not in resting]


def _ended(row: RecordRow) -> EndedMatch:
    bots = from_json_text(row.bots, "a record")
    record = from_json_text(row.record, "a record")
    seconds, said = dict[str, float](), Counter[str]()
    for bot, seat in zip(bots, record["seats"], strict=True):
        seconds[bot] = seconds.get(bot, 0.0) + float(seat["wall_seconds"])
        said[bot] += len(seat["stderr"].encode(errors="replace"))
    for fault in record["faults"]:
        said[bots[fault["seat"]]] += len(fault["detail"])
    for ply, note in record["notes"]:
        said[bots[record["actions"][ply][0]]] += len(as_json(note))
    return EndedMatch(row.match, seconds, said)
