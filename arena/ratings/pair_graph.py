"""Who has met whom, as a graph, and Gaussians whose precision matrix is the prior's plus the graph's Laplacian.

The likelihood depends on differences of strengths alone, and the Schur complement of performances that attract each
other is again such a matrix, so the precision of every field, also of matches of three or more, has this form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats
from arena.ratings.result_arrays import DistinctResults, distinct

MAX_GROUPS = 400
"""Groups of bots of similar strength, whose common shifts are solved for exactly."""

MAX_ITERATIONS = 500

Numbers = NDArray[np.int32]
Block = NDArray[np.float32]


class PairGraph:
    """The pairs of bots that have met.

    Attributes:
        first: the smaller number of each pair, in ascending order.
        second: the larger number.
        pair_of: the number of the pair of each result, for each number of players and each two ranks.
    """

    def __init__(self, results: Sequence[DistinctResults], bots: int) -> None:
        keys = [np.zeros(0, dtype=np.int64)]
        for own in results:
            for a, b in combinations(range(own.players), 2):
                left, right = own.members[:, a], own.members[:, b]
                keys.append(np.minimum(left, right) * bots + np.maximum(left, right))
        lengths = [len(key) for key in keys[1:]]
        met, number = distinct(np.concatenate(keys))
        del keys
        self.bots = bots
        self.first, self.second = (ends.astype(np.int32) for ends in np.divmod(met, max(bots, 1)))
        self.pair_of = np.split(number.astype(np.int32), np.cumsum(lengths)[:-1]) if lengths else []

    def rows(self) -> Rows:
        """Return the pairs of each bot."""
        pairs = len(self.first)
        order = sorted_by(np.concatenate([self.first, self.second]), self.bots)
        pair = order % np.int32(max(pairs, 1))
        other = np.where(order < pairs, self.second[pair], self.first[pair])
        degree = np.bincount(self.first, minlength=self.bots) + np.bincount(self.second, minlength=self.bots)
        return Rows(np.concatenate([[0], np.cumsum(degree)]), other, pair, order < pairs)


class Rows(NamedTuple):
    """The entries of a symmetric matrix, row by row.

    Attributes:
        starts: where the entries of each row begin, and where those of the last end.
        other: the column of each entry.
        is_first: whether the row is the first bot of the pair.
    """

    starts: NDArray[np.int64]
    other: Numbers
    pair: Numbers
    is_first: NDArray[np.bool_]


def sorted_by(keys: NDArray[np.integer], bound: int) -> Numbers:
    """Return the stable order of ``keys`` from 0 to ``bound``; of 16 bits numpy sorts them digit by digit, quickly."""
    return np.argsort(keys.astype(np.uint16 if bound < 2**16 else np.int32), kind="stable").astype(np.int32)


class SparseGaussian:
    """The Gaussian of all strengths, by conjugate gradients on the pairs that have met.

    The preconditioner solves for common shifts of groups of bots of similar strength exactly, and for everybody alone
    (a two-level method; Nicolaides, "Deflation of conjugate gradients", 1987).
    """

    def __init__(self, graph: PairGraph, rows: Rows, prior_pi: float, weight: Floats, means: Floats) -> None:
        """Prepare with the precisions of each bot's prior and of each pair's difference, and rough means."""
        self._graph, self._rows, self._prior_pi = graph, rows, prior_pi
        self.weight = weight
        size = graph.bots
        self.diagonal = prior_pi + np.bincount(graph.first, weight, size) + np.bincount(graph.second, weight, size)
        self._entries = weight.astype(np.float32)[rows.pair]
        groups = min(MAX_GROUPS, max(1, size // 8))
        self._group = np.empty(size, dtype=np.int64)
        self._group[np.argsort(means, kind="stable")] = np.arange(size) * groups // size
        a, b = self._group[graph.first], self._group[graph.second]
        coarse = np.bincount(a * groups + b, weight, groups * groups).reshape(groups, groups)
        coarse = np.diag(np.bincount(self._group, self.diagonal, groups)) - coarse - coarse.T
        self._coarse_inverse = np.linalg.inv(coarse)
        self._by_group = np.argsort(self._group, kind="stable")
        self._group_starts = np.searchsorted(self._group[self._by_group], np.arange(groups))

    def solve(self, right: Floats, tolerance: float, start: Floats | None = None) -> Floats:
        """Return the solution of precision @ x = right, shape (bots, columns), from a guess.

        The tolerance is of the preconditioned residual, relative to that of ``right``.
        """
        x = np.zeros_like(right) if start is None else start.copy()
        residual = right - self._times(x) if start is not None else right.copy()
        scale = np.maximum((right * self._preconditioned(right)).sum(axis=0), 1e-300)
        direction = self._preconditioned(residual)
        product = (residual * direction).sum(axis=0)
        for _ in range(MAX_ITERATIONS):
            if (product <= tolerance**2 * scale).all():
                break
            image = self._times(direction)
            step = product / np.maximum((direction * image).sum(axis=0), 1e-300)
            x += step * direction
            residual -= step * image
            improved = self._preconditioned(residual)
            after = (residual * improved).sum(axis=0)
            direction = improved + after / np.maximum(product, 1e-300) * direction
            product = after
        return x

    def noise(self, draws: int, generator: np.random.Generator) -> Floats:
        """Return draws of shifts whose covariance is the precision matrix, shape (bots, draws)."""
        rows = self._rows
        value = np.sqrt(self._entries)
        np.negative(value, out=value, where=~rows.is_first)
        shifts = signed_sums(rows.starts, rows.pair, value, len(self.weight), draws, generator)
        return np.asarray(shifts + np.sqrt(self._prior_pi) * generator.standard_normal(shifts.shape), dtype=np.float64)

    def _times(self, x: Floats) -> Floats:
        narrow = x.astype(np.float32)
        product = self.diagonal[:, None] * x
        for row, entries in _slices(self._rows.starts):
            product[row] -= self._entries[entries] @ narrow[self._rows.other[entries]]
        return product

    def _preconditioned(self, residual: Floats) -> Floats:
        sums = np.add.reduceat(residual[self._by_group], self._group_starts, axis=0)
        shifts = (self._coarse_inverse @ sums)[self._group]
        return np.asarray(residual / self.diagonal[:, None] + shifts, dtype=np.float64)


def signed_sums(
    starts: NDArray[np.int64],
    source: Numbers,
    value: Block,
    sources: int,
    draws: int,
    generator: np.random.Generator,
) -> Floats:
    """Return for each row the sum of its values, each with the random sign of its source, shape (rows, draws).

    Random signs, in place of normal variables, have the same covariance, and a bit each (the wild bootstrap; Liu,
    "Bootstrap procedures under some non-i.i.d. models", 1988). ``draws`` is a multiple of 8; ``starts`` are as in
    ``Rows``.
    """
    signs = generator.integers(0, 256, size=(sources, draws // 8), dtype=np.uint8)
    sums = np.empty((len(starts) - 1, draws))
    for row, entries in _slices(starts):
        own = value[entries]
        bits = np.unpackbits(signs[source[entries]], axis=1).astype(np.float32)
        sums[row] = 2.0 * (own @ bits) - own.sum()
    return sums


def _slices(starts: NDArray[np.int64]) -> Iterator[tuple[int, slice]]:
    return ((row, slice(start, end)) for row, (start, end) in enumerate(pairwise(starts.tolist())))
