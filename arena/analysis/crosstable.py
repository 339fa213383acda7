"""Crosstables: the score of each bot against each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from arena.analysis.encounters import CountedEncounter, result_counts


class Score(NamedTuple):
    """What a bot scored against a rival.

    Attributes:
        points: a win is a point, a tie half.
        matches: the number of matches in which they met.
    """

    points: float
    matches: int


def crosstable(encounters: Iterable[CountedEncounter]) -> dict[tuple[str, str], Score]:
    """Return the score by (bot, rival), over every match in which the two met."""
    points: defaultdict[tuple[str, str], float] = defaultdict(float)
    matches: Counter[tuple[str, str]] = Counter()
    for (bots, ranks), count in result_counts(encounters).items():
        for bot, rank in zip(bots, ranks, strict=True):
            for rival, other in zip(bots, ranks, strict=True):
                if bot != rival:
                    points[bot, rival] += count * ((rank < other) + (rank == other) / 2)
                    matches[bot, rival] += count
    return {pair: Score(points[pair], matches[pair]) for pair in matches}
