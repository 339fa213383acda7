"""What the fit keeps of results: arrays over distinct results with their sites, and the linear system of all means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arena.ratings.results import Canonical
from arena.ratings.truncation import Floats


class Pairs:
    """The results of two: arrays over distinct results, the winner first."""

    def __init__(self, results: Sequence[tuple[Canonical, int]], index: Mapping[str, int]) -> None:
        chosen = [(members, ranks, count) for (members, ranks), count in results if len(members) == 2]
        self.first = np.array([index[members[0]] for members, _, _ in chosen], dtype=np.intp)
        self.second = np.array([index[members[1]] for members, _, _ in chosen], dtype=np.intp)
        self.is_draw = np.array([ranks[0] == ranks[1] for _, ranks, _ in chosen], dtype=np.bool_)
        self.count = np.array([count for _, _, count in chosen], dtype=np.float64)
        self.pi = np.zeros((2, len(chosen)))
        self.tau = np.zeros((2, len(chosen)))


class Groups:
    """The results of so many, three or more: arrays over distinct results, the best rank first."""

    def __init__(self, size: int, results: Sequence[tuple[Canonical, int]], index: Mapping[str, int]) -> None:
        chosen = [(members, ranks, count) for (members, ranks), count in results if len(members) == size]
        self.members = np.array([[index[name] for name in members] for members, _, _ in chosen], dtype=np.intp)
        self.ranks = [ranks for _, ranks, _ in chosen]
        self.is_draw = np.array([[a == b for a, b in pairwise(ranks)] for ranks in self.ranks], dtype=np.bool_)
        self.count = np.array([count for _, _, count in chosen], dtype=np.float64)
        self.pi, self.tau = np.zeros(self.members.shape), np.zeros(self.members.shape)
        self.inner: Floats | None = None  # sites of the truncations


class Joint:
    """The linear system for all means, given what results say."""

    def __init__(self, size: int, prior_pi: float) -> None:
        self._size = size
        self._precision = np.zeros(size * size)
        self._precision[:: size + 1] = prior_pi
        self._shift = np.zeros(size)

    def add_pairs(self, members: NDArray[np.intp], precision: Floats, shift: Floats, count: Floats) -> None:
        """Add results of two: ``precision`` and ``shift`` of the difference of their strengths."""
        size, (first, second) = self._size, members
        precision, shift = precision * count, shift * count
        for a, b, sign in ((first, first, 1), (second, second, 1), (first, second, -1), (second, first, -1)):
            self._precision += sign * np.bincount(a * size + b, precision, size * size)
        self._shift += np.bincount(first, shift, size) - np.bincount(second, shift, size)

    def add(self, members: NDArray[np.intp], precision: Floats, shift: Floats, count: Floats) -> None:
        """Add results of three or more."""
        cells = members[:, :, None] * self._size + members[:, None, :]
        weighted = (precision * count[:, None, None]).ravel()
        self._precision += np.bincount(cells.ravel(), weighted, self._size**2)
        self._shift += np.bincount(members.ravel(), (shift * count[:, None]).ravel(), self._size)

    @property
    def precision(self) -> Floats:
        """The precision of all strengths together, prior included."""
        return self._precision.reshape(self._size, self._size)

    def mean(self) -> Floats:
        """Return the means."""
        return np.asarray(np.linalg.solve(self.precision, self._shift))
