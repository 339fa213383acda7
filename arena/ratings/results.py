"""Results in canonical order, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from arena.errors import UsageError

Result = tuple[Sequence[str], Sequence[int]]
"""The names in seat order, and the rank of each: 1 is best, ties share."""

Canonical = tuple[tuple[str, ...], tuple[int, ...]]
"""A result in canonical order, by rank and then by name, so that seats make no difference; ranks count from 0."""


def in_canonical_order(counted: Iterable[tuple[Result, int]]) -> Counter[Canonical]:
    """Count results in canonical order.

    Raises:
        UsageError: if a result is malformed.
    """
    counts: Counter[Canonical] = Counter()
    for (names, ranks), count in counted:
        counts[canonical(names, ranks)] += count
    return counts


def canonical(names: Sequence[str], ranks: Sequence[int]) -> Canonical:
    """Return a result in canonical order.

    Raises:
        UsageError: if it is malformed.
    """
    if len(names) < 2 or len(names) != len(ranks):
        raise UsageError(f"a result needs two or more names and a rank for each, not {names!r} and {ranks!r}")
    if len(set(names)) != len(names):
        raise UsageError(f"a name appears twice in one result: {names!r}")
    if not all(type(rank) is int for rank in ranks):
        raise UsageError(f"ranks are whole numbers, not {ranks!r}")
    if len(names) == 2:  # most results by far
        (a, b), (rank_a, rank_b) = names, ranks
        if rank_a == rank_b:
            return ((a, b) if a < b else (b, a)), (0, 0)
        return ((a, b) if rank_a < rank_b else (b, a)), (0, 1)
    order = sorted(zip(ranks, names, strict=True))
    dense = {rank: number for number, rank in enumerate(sorted(set(ranks)))}
    return tuple(name for _, name in order), tuple(dense[rank] for rank, _ in order)
