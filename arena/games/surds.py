"""Exact sums of square roots.

A sum of square roots of positive integers is represented by its squarefree decomposition ``{s: c}``, the sum of c·√s
over distinct squarefree s. Square roots of distinct squarefree integers are linearly independent over the rationals
(A. S. Besicovitch, "On the linear independence of fractional powers of integers", J. London Math. Soc. 15, 1940), so
two sums are equal exactly when their decompositions are; unequal ones are compared by integer arithmetic of growing
precision, which terminates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cmp_to_key, lru_cache
from math import isqrt

from arena.base.results import competition_ranks

Surd = Mapping[int, int]


@lru_cache(maxsize=1 << 16)
def squarefree_part(number: int) -> tuple[int, int]:
    """Return ``(s, c)`` with ``number == s * c * c`` and s squarefree, for a positive number."""
    squarefree, root = number, 1
    factor = 2
    while factor * factor <= squarefree:
        while squarefree % (factor * factor) == 0:
            squarefree //= factor * factor
            root *= factor
        factor += 1
    return squarefree, root


def sum_of_roots(numbers: Iterable[int]) -> dict[int, int]:
    """Return the sum of the square roots of positive integers."""
    total: dict[int, int] = {}
    for number in numbers:
        squarefree, root = squarefree_part(number)
        total[squarefree] = total.get(squarefree, 0) + root
    return total


def _bounds(surd: Surd, bits: int) -> tuple[int, int]:
    """Return integers that enclose ``surd * 2**bits``."""
    low = sum(count * _scaled_root(squarefree, bits) for squarefree, count in surd.items())
    return low, low + sum(surd.values())


@lru_cache(maxsize=1 << 16)
def _scaled_root(number: int, bits: int) -> int:
    """Return the integer part of ``sqrt(number) * 2**bits``."""
    return isqrt(number << (2 * bits))


def is_less(left: Surd, right: Surd) -> bool:
    """Return, exactly, whether ``left < right``."""
    if left == right:
        return False
    bits = 64
    while True:
        (left_low, left_high), (right_low, right_high) = _bounds(left, bits), _bounds(right, bits)
        if left_high < right_low:
            return True
        if right_high < left_low:
            return False
        bits *= 2


def float_sum_of_roots(numbers: Sequence[int]) -> float:
    """Return the float nearest to the sum of the square roots of positive integers.

    It is ``nearest_float(sum_of_roots(numbers))``, without the decomposition unless the sum is so close to the middle
    between two floats that 64 binary places do not decide.
    """
    low = sum(_scaled_root(number, 64) for number in numbers)
    nearest = low / (1 << 64)  # dividing integers rounds to the nearest float
    if nearest == (low + len(numbers)) / (1 << 64):
        return nearest
    return nearest_float(sum_of_roots(numbers))


def nearest_float(surd: Surd) -> float:
    """Return the float nearest to the sum."""
    if not surd.keys() - {1}:
        return float(surd.get(1, 0))
    bits = 64
    while True:
        low, high = _bounds(surd, bits)
        nearest = low / (1 << bits)
        if nearest == high / (1 << bits):
            return nearest
        bits *= 2


def ranks_of(surds: list[dict[int, int]]) -> tuple[int, ...]:
    """Rank sums, largest first; equal sums share a rank and the next rank is skipped."""
    return tuple(competition_ranks([_largest_first(surd) for surd in surds]))


@cmp_to_key
def _largest_first(a: Surd, b: Surd) -> int:
    return is_less(a, b) - is_less(b, a)
