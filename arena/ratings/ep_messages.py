"""The messages of expectation propagation as arrays over distinct results, and the joint Gaussian that they make.

A message is a Gaussian factor exp(-pi s^2 / 2 + tau s) from a result to the strength s of one of its bots, relative to
the prior's mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats
from arena.ratings.pair_graph import PairGraph, Rows, SparseGaussian
from arena.ratings.result_arrays import NO_PAIRS, DistinctResults

MEAN_TOLERANCE = 1e-5
"""Of the means of large fields, relative to what moves them."""


class PairwiseMessages:
    """The messages of matches of two bots, the winner first.

    Attributes:
        first: the number of the first bot, shape (results,), as all but the messages.
        count: how often each result occurred.
        pi: precisions of the messages, shape (2, results).
        tau: precisions times means, shape (2, results).
    """

    def __init__(self, results: Sequence[DistinctResults]) -> None:
        """Begin with messages that say nothing; of results of more players none is made."""
        pairs = next((own for own in results if own.players == 2), NO_PAIRS)
        self.first, self.second = np.ascontiguousarray(pairs.members.T)
        self.is_draw = pairs.ties[:, 0]
        self.count = pairs.counts.astype(np.float64)
        self.pi = np.zeros((2, len(pairs.counts)))
        self.tau = np.zeros((2, len(pairs.counts)))


class MultiwayMessages:
    """The messages of matches of three or more bots, all of the same number, the best rank first.

    Attributes:
        members: the numbers of the bots, shape (results, players), as ``ranks``, ``pi`` and ``tau``.
        is_draw: whether neighbours tie, shape (results, players - 1).
        count: how often each result occurred, shape (results,).
        pi: precisions of the messages.
        tau: precisions times means.
        truncations: messages of the truncations inside each result, as ``gaussian_terms`` returned them.
    """

    def __init__(self, results: DistinctResults) -> None:
        """Begin with messages that say nothing."""
        self.members, self.ranks, self.is_draw = results.members, results.ranks, results.ties
        self.count = results.counts.astype(np.float64)
        self.pi, self.tau = np.zeros(self.members.shape), np.zeros(self.members.shape)
        self.truncations: Floats | None = None


class JointGaussian:
    """The Gaussian of all strengths together: the prior times the likelihood terms of the results."""

    def __init__(self, bots: int, prior_pi: float) -> None:
        self._size = bots
        self._precision = np.zeros(bots * bots)
        self._precision[:: bots + 1] = prior_pi
        self._shift = np.zeros(bots)

    def add_pairs(self, pairs: PairwiseMessages, precision: Floats, shift: Floats) -> None:
        """Multiply by the terms of matches of two, each in the difference of their strengths, shape (results,)."""
        size, first, second = self._size, pairs.first, pairs.second
        precision, shift = precision * pairs.count, shift * pairs.count
        between = np.bincount(first * size + second, precision, size * size).reshape(size, size)
        self.precision[:] -= between
        self.precision[:] -= between.T
        self._precision[:: size + 1] += between.sum(axis=0) + between.sum(axis=1)
        self._shift += np.bincount(first, shift, size) - np.bincount(second, shift, size)

    def add(self, members: NDArray[np.intp], precision: Floats, shift: Floats, count: Floats) -> None:
        """Multiply by the terms of matches of three or more; see ``LikelihoodTerms`` for the arguments."""
        cells = members[:, :, None] * self._size + members[:, None, :]
        weighted = (precision * count[:, None, None]).ravel()
        self._precision += np.bincount(cells.ravel(), weighted, self._size**2)
        self._shift += np.bincount(members.ravel(), (shift * count[:, None]).ravel(), self._size)

    @property
    def precision(self) -> Floats:
        """The precision matrix, prior included, shape (bots, bots)."""
        return self._precision.reshape(self._size, self._size)

    def mean(self) -> Floats:
        """Return the means, shape (bots,)."""
        return np.asarray(np.linalg.solve(self.precision, self._shift))


class SparseJoint:
    """The same of a large field, whose precision matrix is sparse."""

    def __init__(self, graph: PairGraph, rows: Rows, prior_pi: float, means: Floats) -> None:
        self._graph, self._rows, self._prior_pi, self._means = graph, rows, prior_pi, means
        self._weight = np.zeros(len(graph.first))
        self._shift = np.zeros(graph.bots)
        self._pair_of = iter(graph.pair_of)

    def add_pairs(self, pairs: PairwiseMessages, precision: Floats, shift: Floats) -> None:
        """Multiply by the terms of matches of two, before all others; see ``JointGaussian``."""
        size = self._graph.bots
        self._weight += np.bincount(next(self._pair_of), precision * pairs.count, len(self._weight))
        shift = shift * pairs.count
        self._shift += np.bincount(pairs.first, shift, size) - np.bincount(pairs.second, shift, size)

    def add(self, members: NDArray[np.intp], precision: Floats, shift: Floats, count: Floats) -> None:
        """Multiply by the terms of matches of three or more, those of fewer players first."""
        for a, b in combinations(range(members.shape[1]), 2):
            weight = np.maximum(-precision[:, a, b] * count, 0.0)  # below 0 by rounding errors at most
            self._weight += np.bincount(next(self._pair_of), weight, len(self._weight))
        self._shift += np.bincount(members.ravel(), (shift * count[:, None]).ravel(), self._graph.bots)

    def gaussian(self) -> SparseGaussian:
        """Return the Gaussian."""
        return SparseGaussian(self._graph, self._rows, self._prior_pi, self._weight, self._means)

    def mean(self) -> Floats:
        """Return the means, shape (bots,)."""
        return self.gaussian().solve(self._shift[:, None], MEAN_TOLERANCE, self._means[:, None])[:, 0]
