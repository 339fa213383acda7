"""How bots did against rivals: the one place that counts it, for profiles and for comparisons of two.

Wins, draws and losses count every match. The score is a mean over encounters: the two matches of an opening with seats
exchanged belong together, and a duplicate shows nothing new (``ratings/repeats.py``), so matches are no independent
observations and encounters are. Its interval is 1.96 standard errors of that mean, with the variance of the encounters
drawn a little towards a coin's (``ratings/consistency.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple, TypeVar

from arena.base.results import StoredResult
from arena.ratings.consistency import PairScore
from arena.ratings.environment import CONFIDENCE_95
from arena.ratings.result_arrays import counting

MAX_ENCOUNTERS_TO_GO = 100_000
"""Of a larger number of encounters that would decide, nothing is said."""

Key = TypeVar("Key", bound=Hashable)


class Meeting(NamedTuple):
    """A bot and a rival in a match.

    Attributes:
        tournament: the tournament's number in the store.
        encounter: from 1.
        game: the game's name.
        bot: ``name@version``.
        rival: the same.
        seat: the bot's.
        share: 1 if it came out ahead, 1/2 if the two tied, else 0.
        counts: whether it counts for the score.
    """

    tournament: int
    encounter: int
    game: str
    bot: str
    rival: str
    seat: int
    share: float
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadToHead:
    """How a bot did against rivals.

    Attributes:
        wins: matches in which it came out ahead.
        draws: matches in which they tied.
        losses: matches in which the rival came out ahead.
        duplicates: how many of these matches do not count for the score.
        encounters: how many count for the score.
        score: the mean over encounters of the share of points, from 0 to 1; None without one.
        margin: half the width of its 95 % interval; None without a score.
    """

    wins: int
    draws: int
    losses: int
    duplicates: int = 0
    encounters: int = 0
    score: float | None = None
    margin: float | None = None

    @property
    def matches(self) -> int:
        """All meetings."""
        return self.wins + self.draws + self.losses

    @property
    def is_clear(self) -> bool:
        """Whether the interval lies on one side of one half."""
        return self.score is not None and self.margin is not None and abs(self.score - 0.5) > self.margin

    @property
    def encounters_to_go(self) -> int | None:
        """About how many more encounters would decide if the score stays as it is; None if nobody can say."""
        if self.score is None or self.margin is None or self.score == 0.5 or self.is_clear:
            return None
        more = self.encounters * ((self.margin / (self.score - 0.5)) ** 2 - 1)
        return max(1, ceil(more)) if more <= MAX_ENCOUNTERS_TO_GO else None


def meetings(
    results: Iterable[StoredResult], bots: Collection[str], rivals: Collection[str] | None = None
) -> list[Meeting]:
    """Return every meeting of bots with rivals.

    Args:
        results: in the order of the schedule, tournament by tournament.
        bots: ``name@version`` each.
        rivals: the same; None for all other bots.
    """
    listed = list(results)
    openings = [f"{one.opening_hash} {one.bots}" for one in listed]
    found = []
    for one, counts in zip(listed, counting(openings, [one.actions_hash for one in listed]), strict=True):
        is_rated = counts and len(set(one.bots)) == len(one.bots)
        for seat, bot in enumerate(one.bots):
            if bot in bots:
                found += [
                    Meeting(
                        one.tournament, one.encounter, one.game, bot, rival, seat, _share(one, seat, other), is_rated
                    )
                    for other, rival in enumerate(one.bots)
                    if other != seat and (rival not in bots if rivals is None else rival in rivals)
                ]
    return found


def _share(result: StoredResult, seat: int, other: int) -> float:
    mine, theirs = result.ranks[seat], result.ranks[other]
    return (mine < theirs) + (mine == theirs) / 2


def head_to_head(met: Iterable[Meeting]) -> HeadToHead:
    """Return how the bots in meetings did against their rivals; meetings of an encounter come together."""
    listed = list(met)
    wins, losses = (sum(one.share == share for one in listed) for share in (1.0, 0.0))
    draws = len(listed) - wins - losses
    counted = [one for one in listed if one.counts]
    by_encounter = groupby(counted, key=attrgetter("tournament", "encounter"))
    shares = [fmean(one.share for one in group) for _, group in by_encounter]
    if not shares:
        return HeadToHead(wins=wins, draws=draws, losses=losses, duplicates=len(listed))
    pair = _pair_score(shares)
    return HeadToHead(
        wins=wins,
        draws=draws,
        losses=losses,
        duplicates=len(listed) - len(counted),
        encounters=pair.encounters,
        score=pair.score,
        margin=CONFIDENCE_95 * pair.error,
    )


def _pair_score(shares: Sequence[float]) -> PairScore:
    """Return the score of encounters with these shares of points."""
    mean = fmean(shares)
    variance = sum((share - mean) ** 2 for share in shares) / max(1, len(shares) - 1)
    return PairScore(score=mean, variance=variance, encounters=len(shares))


def grouped(met: Iterable[Meeting], key: Callable[[Meeting], Key]) -> dict[Key, HeadToHead]:
    """Return how the bots in meetings did, by a key of each, in the order in which the keys come first."""
    groups: dict[Key, list[Meeting]] = {}
    for one in met:
        groups.setdefault(key(one), []).append(one)
    return {value: head_to_head(group) for value, group in groups.items()}
