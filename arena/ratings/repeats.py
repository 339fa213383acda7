"""Which matches count for ratings: the one place that says so.

An opening here is the bots in their seats, the game with its options, and the actions of the opening. Where the bots
have always played the same match from an opening, it counts once: a deterministic bot that plays one match five times
has not shown its strength five times. Where they vary, every match is a fresh draw and counts, even if its actions
occurred before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.ratings.result_arrays import Integers, numbered


def counting(openings: Sequence[Hashable], actions: Sequence[Hashable]) -> list[bool]:
    """Return for each match whether it counts.

    Args:
        openings: the opening of each match, as a value that is equal for equal openings.
        actions: all actions of each match, as a value that is equal for equal actions.
    """
    opening_numbers, action_numbers = _numbers(openings), _numbers(actions)
    return [bool(counts) for counts in counting_numbers(opening_numbers, action_numbers[:, None])]


def counting_numbers(openings: Integers, actions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return for each match whether it counts.

    Args:
        openings: a number for the opening of each match, shape (matches,).
        actions: numbers for all actions of each match, shape (matches, numbers).
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
