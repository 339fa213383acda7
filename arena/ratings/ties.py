"""The draw probability under which ratings expect as many ties as there were.

The plain share of ties is too low in a field of unequal bots: a weak bot rarely ties with a strong one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np

from arena.ratings.distributions import Floats, normal_cdf
from arena.ratings.environment import ppf
from arena.ratings.pair_graph import PairGraph
from arena.ratings.result_arrays import DistinctResults

MIN_DRAW_PROBABILITY = 1e-3
"""At zero, a draw would make sigma grow."""
MAX_DRAW_PROBABILITY = 0.95
MAX_STEPS = 30
TOLERANCE = 1e-9
MAX_EXACT_PAIRS = 100_000
STEPS = 1000
"""The gaps between more pairs are rounded to this part of a standard deviation, which moves the result by 1e-6."""


class Ties:
    """How often each two bots met, and how many of these meetings were ties."""

    def __init__(self, results: Sequence[DistinctResults], graph: PairGraph) -> None:
        """Count meetings and ties.

        Args:
            results: distinct results, for each number of players.
            graph: of the same.
        """
        self._first, self._second = graph.first, graph.second
        self._counts = np.zeros(len(graph.first))
        self._tied = 0
        pairs = iter(graph.pair_of)
        for own in results:
            for a, b in combinations(range(own.players), 2):
                self._counts += np.bincount(next(pairs), own.counts, len(self._counts))
                self._tied += int(own.counts[own.ranks[:, a] == own.ranks[:, b]].sum())

    def share(self) -> float:
        """Return the share of pairs that tied, kept within what ratings can be fitted with: a first guess."""
        share = self._tied / self._counts.sum() if len(self._counts) else 0.0
        return float(min(max(share, MIN_DRAW_PROBABILITY), MAX_DRAW_PROBABILITY))

    def matching(self, means: Floats, beta: float) -> float:
        """Return the draw probability under which these means expect as many ties as there were.

        By the Illinois variant of the false position method: a third of the steps of a bisection.

        Args:
            means: of the strengths, shape (bots,).
            beta: the standard deviation of a performance.
        """
        gaps, counts = (means[self._first] - means[self._second]) / (sqrt(2) * beta), self._counts
        if len(gaps) > MAX_EXACT_PAIRS:
            steps = np.rint(np.abs(gaps) * STEPS).astype(np.int64)
            counts = np.bincount(steps, counts).astype(np.float64, copy=False)
            gaps = np.arange(len(counts)) / STEPS
        low, high = MIN_DRAW_PROBABILITY, MAX_DRAW_PROBABILITY
        too_few, too_many = self._excess(low, gaps, counts), self._excess(high, gaps, counts)
        if too_few >= 0 or too_many <= 0:
            return low if too_few >= 0 else high
        side = 0
        for _ in range(MAX_STEPS):
            middle = (low * too_many - high * too_few) / (too_many - too_few)
            excess = self._excess(middle, gaps, counts)
            if abs(excess) < TOLERANCE * self._tied or high - low < TOLERANCE:
                return middle
            if excess < 0:
                low, too_few, too_many = middle, excess, too_many / 2 if side < 0 else too_many
            else:
                high, too_many, too_few = middle, excess, too_few / 2 if side > 0 else too_few
            side = -1 if excess < 0 else 1
        return (low + high) / 2

    def _excess(self, draw_probability: float, gaps: Floats, counts: Floats) -> float:
        """Return how many more ties are expected than there were."""
        margin = ppf((draw_probability + 1) / 2)
        return float(counts @ (normal_cdf(margin - gaps) - normal_cdf(-margin - gaps))) - self._tied
