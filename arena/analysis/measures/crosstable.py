"""Crosstables: the score of each bot against each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.analysis.measures.result_table import CountedEncounter, ResultTable, count_encounters, result_counts
from arena.analysis.measures.standings_cache import standings_of
from arena.base.display import Tabular
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store


class Score(NamedTuple):
    """What a bot scored against a rival: a win is a point, a tie half."""

    points: float
    matches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosstable(Tabular):
    """The points of each bot against each other.

    Attributes:
        shown_names: the name that tables show of each bot, by ``name@version``, in the order of the standings.
        scores: by bot and rival (``name@version``); only those that have met.
    """

    shown_names: Mapping[str, str]
    scores: Mapping[tuple[str, str], Score]


def crosstable_of(
    store: Store,
    which: str | Scope = ALL_BUT_COMPARISONS,
    game: str | None = None,
    *,
    cache_directory: Path | None = None,
) -> Crosstable:
    """Return the crosstable of a tournament (its name), or of all tournaments of a scope.

    Args:
        game: only matches of this game; None for all.
        cache_directory: where standings of finished tournaments are cached; None for no cache.

    Raises:
        UnknownNameError: if there is no such tournament or season.
        StoreError: if a record is malformed.
    """
    table = standings_of(store, which, game, cache_directory=cache_directory)
    scores = crosstable(count_encounters(store.results(which, game)))
    return Crosstable(shown_names=table.shown_names, scores=scores)


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


def pair_scores(results: ResultTable, labels: Sequence[str]) -> dict[tuple[str, str], Score]:
    """Return the score by (bot, rival) of some bots, quickly even for a million matches."""
    size = len(labels)
    number = {label: place for place, label in enumerate(labels)}
    place = np.array([*(number.get(label, -1) for label in results.labels), -1], dtype=np.int64)[results.bots]
    occurrences, seats = results.match_occurrences, results.bots.shape[1]
    matches, twice = np.zeros(size * size, dtype=np.int64), np.zeros(size * size, dtype=np.int64)
    for seat in range(seats):
        for other in range(seats):
            here = (place[:, seat] >= 0) & (place[:, other] >= 0) & (place[:, seat] != place[:, other])
            rank, rival_rank = results.ranks[here, seat], results.ranks[here, other]
            cell, count = place[here, seat] * size + place[here, other], occurrences[here]
            matches += np.bincount(cell, count, size * size).astype(np.int64)
            won = 2 * (rank < rival_rank) + (rank == rival_rank)
            twice += np.bincount(cell, count * won, size * size).astype(np.int64)
    return {
        (labels[cell // size], labels[cell % size]): Score(int(twice[cell]) / 2, int(matches[cell]))
        for cell in np.flatnonzero(matches).tolist()
    }
