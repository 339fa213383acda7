"""The draw probability under which ratings expect as many ties as there were.

The plain share of ties is too low in a field of unequal bots: a weak bot rarely ties with a strong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import sqrt

import numpy as np
from scipy.special import ndtr

from arena.ratings.environment import ppf
from arena.ratings.results import Canonical
from arena.ratings.truncation import Floats

MIN_DRAW_PROBABILITY = 1e-3
"""At zero, a draw would make sigma grow."""
MAX_DRAW_PROBABILITY = 0.95
BISECTIONS = 30


class Ties:
    """How often each two bots met, and how many of these meetings were ties."""

    def __init__(self, results: Sequence[tuple[Canonical, int]], index: Mapping[str, int]) -> None:
        """Count meetings and ties.

        Args:
            results: distinct results, and how often each occurred.
            index: the number of each name.
        """
        first: list[int] = []
        second: list[int] = []
        counts: list[int] = []
        tied = 0
        for (members, ranks), count in results:
            for (a, rank_a), (b, rank_b) in combinations(zip(members, ranks, strict=True), 2):
                first.append(index[a])
                second.append(index[b])
                counts.append(count)
                tied += count * (rank_a == rank_b)
        self._first, self._second = np.array(first, dtype=np.intp), np.array(second, dtype=np.intp)
        self._counts = np.array(counts, dtype=np.float64)
        self._tied = tied

    def share(self) -> float:
        """Return the share of pairs that tied, kept within what ratings can be fitted with: a first guess."""
        share = self._tied / self._counts.sum() if len(self._counts) else 0.0
        return float(min(max(share, MIN_DRAW_PROBABILITY), MAX_DRAW_PROBABILITY))

    def matching(self, means: Floats, beta: float) -> float:
        """Return the draw probability under which these means expect as many ties as there were, by bisection.

        Args:
            means: of the strengths, shape (bots,).
            beta: the standard deviation of a performance.
        """
        gaps = (means[self._first] - means[self._second]) / (sqrt(2) * beta)
        low, high = MIN_DRAW_PROBABILITY, MAX_DRAW_PROBABILITY
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            margin = ppf((middle + 1) / 2)
            expected = float(self._counts @ (ndtr(margin - gaps) - ndtr(-margin - gaps)))
            low, high = (middle, high) if expected < self._tied else (low, middle)
        return (low + high) / 2
