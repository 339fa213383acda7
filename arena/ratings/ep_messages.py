"""The messages of expectation propagation as arrays over distinct results, and the joint Gaussian that they make.

A message is a Gaussian factor exp(-pi s^2 / 2 + tau s) from a result to the strength s of one of its bots, relative to
the prior's mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats
from arena.ratings.result_arrays import NO_PAIRS, DistinctResults


class PairwiseMessages:
    """The messages of matches of two bots, the winner first.

    Attributes:
        first: the number of the first bot, shape (results,).
        second: the number of the second bot, shape (results,).
        is_draw: shape (results,).
        count: how often each result occurred, shape (results,).
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
        members: the numbers of the bots, shape (results, players).
        ranks: of the same, shape (results, players).
        is_draw: whether neighbours tie, shape (results, players - 1).
        count: how often each result occurred, shape (results,).
        pi: precisions of the messages, shape (results, players).
        tau: precisions times means, shape (results, players).
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

    def add_pairs(self, members: NDArray[np.intp], precision: Floats, shift: Floats, count: Floats) -> None:
        """Multiply by the terms of matches of two.

        Args:
            members: the numbers of the bots, shape (2, results).
            precision: of the difference of their strengths, shape (results,).
            shift: of the same difference, shape (results,).
            count: how often each result occurred, shape (results,).
        """
        size, (first, second) = self._size, members
        precision, shift = precision * count, shift * count
        for a, b, sign in ((first, first, 1), (second, second, 1), (first, second, -1), (second, first, -1)):
            self._precision += sign * np.bincount(a * size + b, precision, size * size)
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
