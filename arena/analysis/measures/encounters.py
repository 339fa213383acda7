"""Encounters counted from results: equal ones are one line, with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from arena.base.results import StoredResult
from arena.ratings.result_arrays import counting


class CountedMatch(NamedTuple):
    """One match as tables count it.

    Attributes:
        bots: ``name@version`` per seat.
        ranks: per seat.
        rated: whether it counts for ratings.
    """

    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    rated: bool = True


class CountedEncounter(NamedTuple):
    """Encounters with equal results, and their number.

    Attributes:
        game: the game's name.
        matches: its matches, in the order of the schedule.
        occurrences: how many encounters had these results.
    """

    game: str
    matches: tuple[CountedMatch, ...]
    occurrences: int = 1


def count_encounters(results: Iterable[StoredResult]) -> list[CountedEncounter]:
    """Count encounters with equal results.

    Args:
        results: in the order of the schedule, tournament by tournament.
    """
    keys: list[int] = []  # numbers and texts instead of tuples: a million of those keep the garbage collector busy
    openings: list[str] = []
    actions: list[str] = []
    kinds: list[int] = []
    kind_of: dict[tuple[str, tuple[str, ...], tuple[int, ...]], int] = {}
    for tournament, encounter, game, bots, ranks, opening_hash, actions_hash in results:
        keys.append(tournament << 64 | encounter)
        openings.append(f"{opening_hash} {bots}")
        actions.append(actions_hash)
        kinds.append(kind_of.setdefault((game, bots, ranks), len(kind_of)))
    lines = zip(keys, kinds, counting(openings, actions), strict=True)
    together = groupby(lines, key=itemgetter(0))
    counted = Counter(tuple(2 * kind + counts for _, kind, counts in group) for _, group in together)
    values = list(kind_of)
    return sorted(
        CountedEncounter(
            values[encounter[0] // 2][0],
            tuple(CountedMatch(*values[match // 2][1:], match % 2 == 1) for match in encounter),
            occurrences,
        )
        for encounter, occurrences in counted.items()
    )


def result_counts(encounters: Iterable[CountedEncounter]) -> Counter[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Return the number of matches by their result: bots and ranks, per seat."""
    counts: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
    for encounter in encounters:
        for match in encounter.matches:
            counts[match.bots, match.ranks] += encounter.occurrences
    return counts
