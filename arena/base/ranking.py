"""Ranks with ties, as competitions count them: equals share the better rank, and the next rank is skipped."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any


def competition_ranks(keys: Sequence[Any]) -> list[int]:
    """Return the rank of each key; the least key is the best and has rank 1.

    >>> competition_ranks([30, 10, 20, 10])
    [4, 1, 3, 1]
    """
    ordered = sorted(keys)
    return [1 + bisect_left(ordered, key) for key in keys]


def points_of(ranks: Sequence[int]) -> tuple[int, ...]:
    """Return each seat's points: two for each rival that it beats, and one for each that it ties with.

    >>> points_of((1, 1, 3))
    (3, 3, 0)
    """
    return tuple(sum(2 * (other > mine) + (other == mine) for other in ranks) - 1 for mine in ranks)
