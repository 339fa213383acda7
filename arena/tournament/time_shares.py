"""Who takes how much of the time in which a ladder is played, and who therefore sits out rounds.

1. The time in which a match was played is shared with those that were played meanwhile, so that all shares together are
   the time that has passed. A worker that waits for a slow match costs time too, and it is charged to that match.
2. The share of a match is charged to its bots as they thought.
3. Whoever costs more than twice what a bot of this ladder usually does owes the rest to every other entrant, and sits
   out until the others have had that time. With n entrants a slow bot so takes about an n-th of the time, however slow
   it is; quick ones are not touched.
4. Nobody sits out for those who have nothing to learn: who is paired then is up to the ladder.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import NamedTuple

USUAL = 2.0
"""Times the median that a match of a bot may cost before it owes anything."""

NEWEST_WEIGHT = 0.3
"""Of the latest match in what a match of a bot usually costs."""


class EndedMatch(NamedTuple):
    """A match that was recorded.

    Attributes:
        match: its number.
        seconds: how long each of its bots thought, by ``name@version``.
        said: how many bytes of the record each of them has said.
    """

    match: int
    seconds: Mapping[str, float]
    said: Mapping[str, int] = {}


class TimeShares:
    """The time of one run."""

    def __init__(self) -> None:
        self._shares: dict[int, float] = {}
        self._usual: dict[str, float] = {}
        self._owed: dict[str, float] = {}

    def pass_time(
        self, seconds: float, ended: Sequence[EndedMatch], playing: Collection[int], present: Collection[str]
    ) -> None:
        """Charge the time since the last call.

        Args:
            seconds: how long that is.
            ended: what was recorded since.
            playing: the matches that are being played now.
            present: the entrants.
        """
        weights = {one.match: min(seconds, sum(one.seconds.values())) for one in ended}
        weights |= dict.fromkeys(playing, seconds)
        total = sum(weights.values())
        for match, weight in weights.items():
            self._shares[match] = self._shares.get(match, 0.0) + (seconds * weight / total if total else 0.0)
        for one in ended:
            self._charge(one, self._shares.pop(one.match), present)
        self._shares = {match: share for match, share in self._shares.items() if match in playing}

    def _charge(self, one: EndedMatch, share: float, present: Collection[str]) -> None:
        thought = sum(one.seconds.values())
        costs = {bot: share * seconds / thought if thought else 0.0 for bot, seconds in one.seconds.items()}
        for bot, owed in self._owed.items():
            self._owed[bot] = owed - sum(cost for other, cost in costs.items() if other != bot)
        for bot, cost in costs.items():
            before = self._usual.get(bot, cost)
            self._usual[bot] = before + NEWEST_WEIGHT * (cost - before)
        usual = median(self._usual[bot] for bot in self._usual if bot in present or bot in costs)
        for bot, cost in costs.items():
            excess = cost - USUAL * usual
            if excess > 0:
                self._owed[bot] = self._owed.get(bot, 0.0) + excess * max(1, len(present) - 1)
        self._owed = {bot: owed for bot, owed in self._owed.items() if owed > 0}

    def in_debt(self) -> dict[str, float]:
        """Return who sits out while others want to play, and how many seconds of the others are to pass before."""
        return dict(self._owed)
