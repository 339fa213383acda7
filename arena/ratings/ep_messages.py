"""The messages of expectation propagation as arrays over distinct results, and the joint Gaussian that they make.

A message is a Gaussian factor exp(-pi s^2 / 2 + tau s) from a result to the strength s of one of its bots, relative to
the prior's mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arena.ratings.results import Canonical
from arena.ratings.truncation import Floats


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

    def __init__(self, results: Sequence[tuple[Canonical, int]], index: Mapping[str, int]) -> None:
        chosen = [(members, ranks, count) for (members, ranks), count in results if len(members) == 2]
        self.first = np.array([index[members[0]] for members, _, _ in chosen], dtype=np.intp)
        self.second = np.array([index[members[1]] for members, _, _ in chosen], dtype=np.intp)
        self.is_draw = np.array([ranks[0] == ranks[1] for _, ranks, _ in chosen], dtype=np.bool_)
        self.count = np.array([count for _, _, count in chosen], dtype=np.float64)
        self.pi = np.zeros((2, len(chosen)))
        self.tau = np.zeros((2, len(chosen)))


class MultiwayMessages:
    """The messages of matches of three or more bots, all of the same number, the best rank first.

    Attributes:
        members: the numbers of the bots, shape (results, players).
        ranks: of each result.
        is_draw: whether neighbours tie, shape (results, players - 1).
        count: how often each result occurred, shape (results,).
        pi: precisions of the messages, shape (results, players).
        tau: precisions times means, shape (results, players).
        truncations: messages of the truncations inside each result, as ``gaussian_terms`` returned them.
    """

    def __init__(self, players: int, results: Sequence[tuple[Canonical, int]], index: Mapping[str, int]) -> None:
        chosen = [(members, ranks, count) for (members, ranks), count in results if len(members) == players]
        self.members = np.array([[index[name] for name in members] for members, _, _ in chosen], dtype=np.intp)
        self.ranks = [ranks for _, ranks, _ in chosen]
        self.is_draw = np.array([[a == b for a, b in pairwise(ranks)] for ranks in self.ranks], dtype=np.bool_)
        self.count = np.array([count for _, _, count in chosen], dtype=np.float64)
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
