"""Results, checked, as arrays, and which of them count for ratings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from arena.base.errors import UsageError

Result = tuple[Sequence[str], Sequence[int]]
"""The names in seat order, and the rank of each: 1 is best, ties share."""

Encounter = tuple[Result, ...]
"""The rated results of one encounter."""


def check_result(names: Sequence[str], ranks: Sequence[int]) -> None:
    """Raise UsageError if a result is malformed."""
    if len(names) < 2 or len(names) != len(ranks):
        raise UsageError(f"a result needs two or more names and a rank for each, not {names!r} and {ranks!r}")
    if len(set(names)) != len(names):
        raise UsageError(f"a name appears twice in one result: {names!r}")
    if not all(type(rank) is int for rank in ranks):
        raise UsageError(f"ranks are whole numbers, not {ranks!r}")


# Results and encounters as arrays: a million of them take a second, and a few bytes each.
#
# Bots are numbers in the alphabetical order of their names. Matches with different numbers of players share one
# array, in which missing seats have the bot -1 and the rank 0.

Integers = NDArray[np.int64]

MAX_CELLS_PER_KEY = 8
"""A table of all keys up to the largest is quicker than sorting them if it is not larger than this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistinctResults:
    """The distinct results with the same number of players, by rank and then by name, so that seats make no difference.

    Attributes:
        members: the numbers of the bots, the best rank first, shape (results, players).
        ranks: of the same, counted from 0 without gaps, shape (results, players).
        counts: how often each result occurred, shape (results,).
    """

    members: Integers
    ranks: NDArray[np.int16]
    counts: Integers

    @property
    def players(self) -> int:
        """The number of players in each result."""
        return int(self.members.shape[1])

    @property
    def ties(self) -> NDArray[np.bool_]:
        """Whether neighbours in the ranking tie, shape (results, players - 1)."""
        return np.asarray(self.ranks[:, 1:] == self.ranks[:, :-1])


NO_PAIRS = DistinctResults(
    members=np.zeros((0, 2), dtype=np.int64), ranks=np.zeros((0, 2), dtype=np.int16), counts=np.zeros(0, dtype=np.int64)
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EncounterArrays:
    """The kinds of encounters, and their distinct results.

    Attributes:
        names: everybody who occurs, in alphabetical order.
        results: the distinct results by their number of players, the smallest first.
        kind: the kind of encounter of each entry of ``result``, in ascending order.
        result: a result of that kind, counted over all of ``results``.
        occurrences: how often each kind of encounter occurred.
    """

    names: tuple[str, ...]
    results: tuple[DistinctResults, ...]
    kind: Integers
    result: Integers
    occurrences: Integers

    def rivals(self) -> Integers | None:
        """Return the two bots of each kind of encounter, if all its matches are between the same two; otherwise None.

        Two bots are one number: the smaller one times how many there are, plus the larger one.
        """
        if [own.players for own in self.results] != [2]:
            return None
        better, worse = self.results[0].members.T
        pair = (np.minimum(better, worse) * len(self.names) + np.maximum(better, worse))[self.result]
        begins = np.diff(self.kind, prepend=-1) != 0
        return None if (~begins[1:] & (pair[1:] != pair[:-1])).any() else pair[begins]

    @classmethod
    def of(cls, encounters: Iterable[tuple[Encounter, int]]) -> EncounterArrays:
        """Return encounters, each with how often it occurred, as arrays; UsageError if a result is malformed."""
        listed = [(results, count) for results, count in encounters if results]
        flat = [result for results, _ in listed for result in results]
        for names, ranks in flat:
            check_result(names, ranks)
        labels = sorted({name for names, _ in flat for name in names})
        index = {name: number for number, name in enumerate(labels)}
        width = max((len(names) for names, _ in flat), default=2)
        bots = padded([[index[name] for name in names] for names, _ in flat], width, -1)
        starts = np.cumsum([0, *(len(results) for results, _ in listed)])[:-1]
        rank_number = {
            rank: number for number, rank in enumerate(sorted({rank for _, ranks in flat for rank in ranks}))
        }
        numbers = padded([[rank_number[rank] for rank in ranks] for _, ranks in flat], width, 0)
        return cls.of_matches(labels, bots, numbers, starts, np.array([count for _, count in listed], dtype=np.int64))

    @classmethod
    def of_results(cls, counted: Iterable[tuple[Result, int]]) -> EncounterArrays:
        """Return results as arrays, each as an encounter of its own."""
        return cls.of(((result,), count) for result, count in counted)

    @classmethod
    def of_matches(
        cls,
        labels: Sequence[str],
        bots: NDArray[np.integer],
        ranks: NDArray[np.integer],
        starts: Integers,
        occurrences: Integers,
    ) -> EncounterArrays:
        """Return encounters as arrays.

        Args:
            labels: names, in alphabetical order.
            bots: the number of each match's bots in ``labels``, by seat, shape (matches, seats).
            ranks: their ranks, from 0, of the same shape.
            starts: the first match of each encounter, in ascending order; none is empty.
            occurrences: how often each encounter occurred.
        """
        occurs = np.zeros(len(labels) + 1, dtype=np.bool_)
        occurs[bots] = True  # the last is of missing seats
        used = np.flatnonzero(occurs[:-1])
        number_of = np.zeros(len(labels) + 1, dtype=np.int32)
        number_of[used] = np.arange(1, len(used) + 1)
        own = number_of[bots]  # the last is 0, of missing seats
        lengths = np.diff(starts, append=len(bots))
        kinds = np.zeros((len(starts), int(lengths.max(initial=0))), dtype=np.int64)
        kinds[np.arange(kinds.shape[1]) < lengths[:, None]] = combined([*own.T, *ranks.T]) + 1
        example, kind_of = numbered(combined(list(kinds.T)))
        total = np.bincount(kind_of, occurrences, len(example)).astype(np.int64)
        del kinds, kind_of
        kind = np.repeat(np.arange(len(example)), lengths[example])
        own_lengths = lengths[example]
        match = np.arange(len(kind)) + np.repeat(starts[example] - np.cumsum(own_lengths) + own_lengths, own_lengths)
        found, result = _canonical(own.take(match, axis=0) - 1, ranks.take(match, axis=0))  # which is quick for rows
        del own, match
        counts = np.bincount(result, total[kind]).astype(np.int64)
        ends = np.cumsum([0, *(len(members) for members, _ in found)])
        return cls(
            names=tuple(labels[number] for number in used.tolist()),
            results=tuple(
                DistinctResults(members=members, ranks=order, counts=counts[start : start + len(members)])
                for (members, order), start in zip(found, ends[:-1].tolist(), strict=True)
            ),
            kind=kind,
            result=result,
            occurrences=total,
        )


def padded(rows: Sequence[Sequence[int]], width: int, filling: int) -> Integers:
    """Return rows of different lengths as one array, shape (rows, width)."""
    array = np.full((len(rows), width), filling, dtype=np.int64)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    array[np.arange(width) < lengths[:, None]] = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
    return array


def combined(columns: Sequence[NDArray[np.integer]]) -> Integers:
    """Return a number for each row of columns of numbers from 0; numbers compare as rows do, column by column."""
    key = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    bound = 1
    for column in columns:
        base = int(column.max(initial=0)) + 1
        if bound * base >= 2**63:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64, copy=False)
            bound = int(key.max(initial=0)) + 1
        key *= base
        key += column
        bound *= base
    return key


def numbered(keys: Integers) -> tuple[Integers, Integers]:
    """Return where each distinct key occurs first, in ascending order, and the number of each key among them."""
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)  # a stable sort: quick if nearly sorted
    return first.astype(np.int64, copy=False), number.astype(np.int64, copy=False)


def distinct(keys: Integers) -> tuple[Integers, Integers]:
    """Return the distinct keys from 0, in ascending order, and the number of each key among them."""
    if not len(keys) or int(keys.max()) > MAX_CELLS_PER_KEY * len(keys):
        values, number = np.unique(keys, return_inverse=True)
        return values, number.astype(np.int64, copy=False)
    occurs = np.zeros(int(keys.max()) + 1, dtype=np.bool_)
    occurs[keys] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[keys].astype(np.int64)


def _canonical(
    bots: NDArray[np.integer], ranks: NDArray[np.integer]
) -> tuple[list[tuple[Integers, NDArray[np.int16]]], Integers]:
    """Return members and ranks of the distinct canonical results for each number of players, and each row's number."""
    if bots.shape[1] == 2 and bots.min(initial=0) >= 0:
        return _canonical_pairs(bots, ranks)
    players = (bots >= 0).sum(axis=1)
    number = np.zeros(len(bots), dtype=np.int64)
    found: list[tuple[Integers, NDArray[np.int16]]] = []
    known = 0
    for size in np.flatnonzero(np.bincount(players)).tolist():  # np.unique imports modules for 40 ms
        rows = np.flatnonzero(players == size)
        base = int(bots.max(initial=0)) + 1
        key = np.sort(ranks[rows, :size].astype(np.int64) * base + bots[rows, :size], axis=1)
        order, members = np.divmod(key, base)
        order = np.cumsum(np.diff(order, axis=1, prepend=order[:, :1]) > 0, axis=1, dtype=np.int16)
        first, own = numbered(combined([*members.T, *order.T]))
        found.append((members[first], order[first]))
        number[rows] = known + own
        known += len(first)
    return found, number


def _canonical_pairs(
    bots: NDArray[np.integer], ranks: NDArray[np.integer]
) -> tuple[list[tuple[Integers, NDArray[np.int16]]], Integers]:
    (one, other), (rank, other_rank) = bots.T, ranks.T
    is_turned = (rank > other_rank) | ((rank == other_rank) & (one > other))
    base = int(bots.max(initial=0)) + 1
    key = np.where(is_turned, other, one).astype(np.int64) * base + np.where(is_turned, one, other)
    key, number = distinct(2 * key + (rank != other_rank))
    members = np.stack(np.divmod(key >> 1, base)).T  # so that each column is in one piece
    order = np.stack([np.zeros_like(key), key & 1]).astype(np.int16).T
    return ([(members, order)] if len(key) else []), number


# Which matches count for ratings: the one place that says so.
#
# An opening here is the bots in their seats, the game with its options, and the actions of the opening. Where the bots
# have always played the same match from an opening, it counts once: a deterministic bot that plays one match five times
# has not shown its strength five times. Where they vary, every match is a fresh draw and counts, even if its actions
# occurred before.


def counting(openings: Sequence[Hashable], actions: Sequence[Hashable]) -> list[bool]:
    """Return for each match whether it counts.

    Values of openings and of all actions are equal for equal ones.
    """
    opening_numbers, action_numbers = _numbers(openings), _numbers(actions)
    return [bool(counts) for counts in counting_numbers(opening_numbers, action_numbers[:, None])]


def counting_numbers(openings: Integers, actions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return for each match whether it counts.

    There is a number for each opening, shape (matches,), and numbers for all actions, shape (matches, numbers).
    """
    first, opening = numbered(openings)
    varied = np.zeros(len(first), dtype=np.bool_)
    varied[opening[(actions != actions[first[opening]]).any(axis=1)]] = True
    counts = varied[opening]
    counts[first] = True
    return counts


def _numbers(values: Sequence[Hashable]) -> Integers:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
