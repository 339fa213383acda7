"""The messages of expectation propagation as arrays over distinct results, and the joint Gaussian that they make."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats, hazard, normal_cdf
from arena.ratings.environment import CERTAIN, ppf
from arena.ratings.pair_graph import PairGraph, Rows, SparseGaussian
from arena.ratings.result_arrays import NO_PAIRS, DistinctResults, Integers

# A message is a Gaussian factor exp(-pi s^2 / 2 + tau s) from a result to the strength s of one of its bots, relative
# to the prior's mean.

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
        """Begin with messages that say nothing, for results of two players only."""
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
        self.members, self.ranks, self.is_draw = results.members, results.ranks, results.ties
        self.count = results.counts.astype(np.float64)
        self.pi, self.tau = np.zeros(self.members.shape), np.zeros(self.members.shape)
        self.truncations: Floats | None = None


class LikelihoodTerms(NamedTuple):
    """The Gaussian likelihood terms of all distinct results with the same number of players.

    Attributes:
        members: the numbers of the bots, shape (results, players).
        precision: shape (results, players, players).
        shift: shape (results, players).
        occurrences: how often each result occurred, shape (results,).
    """

    members: NDArray[np.intp]
    precision: Floats
    shift: Floats
    occurrences: Floats


class JointGaussian:
    """The Gaussian of all strengths together: the prior times the likelihood terms of the results."""

    def __init__(self, bots: int, prior_pi: float) -> None:
        self._size = bots
        self._precision = np.zeros(bots * bots)
        self._precision[:: bots + 1] = prior_pi
        self.shift = np.zeros(bots)

    def add_pairs(self, first: Integers, second: Integers, precision: Floats, shift: Floats) -> None:
        """Multiply by the terms of matches of two, in the difference of their strengths, each times its occurrences."""
        size = self._size
        between = np.bincount(first * size + second, precision, size * size).reshape(size, size)
        self.precision[:] -= between
        self.precision[:] -= between.T
        self._precision[:: size + 1] += between.sum(axis=0) + between.sum(axis=1)
        self.shift += np.bincount(first, shift, size) - np.bincount(second, shift, size)

    def add(self, members: NDArray[np.intp], precision: Floats, shift: Floats, count: Floats) -> None:
        """Multiply by the terms of matches of three or more; see ``LikelihoodTerms`` for the arguments."""
        cells = members[:, :, None] * self._size + members[:, None, :]
        weighted = (precision * count[:, None, None]).ravel()
        self._precision += np.bincount(cells.ravel(), weighted, self._size**2)
        self.shift += np.bincount(members.ravel(), (shift * count[:, None]).ravel(), self._size)

    @property
    def precision(self) -> Floats:
        """The precision matrix, prior included, shape (bots, bots)."""
        return self._precision.reshape(self._size, self._size)

    def mean(self) -> Floats:
        """Return the means, shape (bots,)."""
        return np.asarray(np.linalg.solve(self.precision, self.shift))


class SparseJoint:
    """The same of a large field, whose precision matrix is sparse."""

    def __init__(self, graph: PairGraph, rows: Rows, prior_pi: float, means: Floats) -> None:
        self._graph, self._rows, self._prior_pi, self._means = graph, rows, prior_pi, means
        self._weight = np.zeros(len(graph.first))
        self._shift = np.zeros(graph.bots)
        self._pair_of = iter(graph.pair_of)

    def add_pairs(self, first: Integers, second: Integers, precision: Floats, shift: Floats) -> None:
        """Multiply by the terms of matches of two, before all others; see ``JointGaussian``."""
        size = self._graph.bots
        self._weight += np.bincount(next(self._pair_of), precision, len(self._weight))
        self._shift += np.bincount(first, shift, size) - np.bincount(second, shift, size)

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


# The Gaussian likelihood terms of results: what each result implies about the strengths of its bots.
#
# A result orders performances p = s + noise: neighbours in the ranking differ by more than the draw margin, or by
# less if they tie. Expectation propagation replaces each of these truncations by a Gaussian message on the difference
# of two performances (Herbrich, Minka and Graepel, "TrueSkill", 2006, section 3). The term of a result in the
# strengths s is the Schur complement that is left when the performances are integrated out: a precision matrix and a
# shift.

Bools = NDArray[np.bool_]

MAX_ITERATIONS = 60
FAR = -30.0
"""Below this many standard deviations the series of v + x (Abramowitz and Stegun, 26.2.12) is exact to 1e-8."""


def corrections(diff: Floats, margin: Floats, is_draw: Bools) -> tuple[Floats, Floats]:
    """Return v and w of TrueSkill: the shift of a mean, and the shrinking of a variance, in units of the spread."""
    drawn = np.flatnonzero(is_draw)
    if len(drawn) < len(is_draw):
        v, w = _corrections_of_wins(diff - margin)
    else:
        v, w = np.empty_like(diff), np.empty_like(diff)
    if len(drawn):
        v_drawn, w[drawn] = _corrections_of_draws(np.abs(diff[drawn]), margin[drawn])
        v[drawn] = np.where(diff[drawn] < 0, -v_drawn, v_drawn)
    return v, np.clip(w, 1e-12, 1.0 - 1e-12)


def _corrections_of_wins(x: Floats) -> tuple[Floats, Floats]:
    v = hazard(x)
    excess = v + x
    far = np.flatnonzero(x < FAR)
    if len(far):  # v + x would cancel
        y = x[far]
        excess[far] = -1.0 / y + 2.0 / y**3 - 10.0 / y**5
    return v, v * excess


def _corrections_of_draws(diff: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Return v and w of draws for ``diff`` >= 0; see ``environment._between``, which does the same for one."""
    a, b = margin - diff, -margin - diff
    is_uninformative = a > CERTAIN
    a = np.minimum(a, CERTAIN)
    fall = np.exp((a - b) * (a + b) / 2.0)
    width = 1.0 / hazard(a) - fall / hazard(b)
    is_point = width < 1e-12
    width = np.where(is_point, 1.0, width)
    v = np.where(is_point, -diff, (fall - 1.0) / width)
    w = np.where(is_point, 1.0, v * v + (a - b * fall) / width)
    return np.where(is_uninformative, 0.0, v), np.where(is_uninformative, 0.0, w)


class GaussianTerms(NamedTuple):
    """The likelihood terms of results: exp(-s'Ks/2 + h's) each.

    Attributes:
        precision: K, shape (results, players, players).
        shift: h, shape (results, players).
        truncations: the messages of the truncations, precision and precision times mean, shape
            (2, results, players - 1); a later call can start from them.
    """

    precision: Floats
    shift: Floats
    truncations: Floats


def gaussian_terms(
    mean: Floats, variance: Floats, is_draw: Bools, margin: float, beta: float, start: Floats | None = None
) -> GaussianTerms:
    """Return the term of each result, given the cavity distributions of the strengths.

    Args:
        mean: of the strengths without this result, shape (results, players), the best rank first.
        variance: of the same, shape (results, players).
        is_draw: whether neighbours tie, shape (results, players - 1).
        margin: the draw margin of two performances.
        beta: the standard deviation of a performance.
        start: ``truncations`` of an earlier call.
    """
    players = mean.shape[1]
    step = np.zeros((players - 1, players))
    step[np.arange(players - 1), np.arange(players - 1)] = 1.0
    step[np.arange(players - 1), np.arange(1, players)] = -1.0
    centre = mean @ step.T
    spread = np.einsum("ip,rp,jp->rij", step, variance + beta**2, step)
    pi, tau = truncations = _truncations(centre, spread, is_draw, margin, start)
    # the messages N(tau/pi, 1/pi) on differences of performances, seen through the noise of the performances
    noise = beta**2 * (step @ step.T)
    informative = np.maximum(pi, 1e-12)
    seen = np.linalg.inv(noise[None] + _diagonal(1.0 / informative))
    weighted = np.einsum("ip,rij->rpj", step, seen)
    return GaussianTerms(weighted @ step[None], np.einsum("rpj,rj->rp", weighted, tau / informative), truncations)


def _diagonal(values: Floats) -> Floats:
    matrix = np.zeros((*values.shape, values.shape[-1]))
    index = np.arange(values.shape[-1])
    matrix[:, index, index] = values
    return matrix


def _truncations(centre: Floats, spread: Floats, is_draw: Bools, margin: float, start: Floats | None) -> Floats:
    """Return precision and precision times mean of each truncation's message, by expectation propagation."""
    steps = centre.shape[1]
    truncations = np.zeros((2, *centre.shape)) if start is None else start.copy()
    pi, tau = truncations
    covariance = np.linalg.inv(np.linalg.inv(spread) + _diagonal(pi)) if start is not None else spread.copy()
    mean = centre + np.einsum("rij,rj->ri", covariance, tau - pi * centre)
    for _ in range(MAX_ITERATIONS if steps > 1 else 1):
        before = pi.copy()
        for k in range(steps):
            own = covariance[:, k, k]
            cavity_pi = 1.0 / own - pi[:, k]
            cavity_mean = (mean[:, k] / own - tau[:, k]) / cavity_pi
            c = np.sqrt(1.0 / cavity_pi)
            v, w = corrections(cavity_mean / c, margin / c, is_draw[:, k])
            new_pi = cavity_pi * w / (1.0 - w)
            new_tau = (cavity_mean + c * v / w) * new_pi
            change_pi, change_tau = new_pi - pi[:, k], new_tau - tau[:, k]
            pi[:, k], tau[:, k] = new_pi, new_tau
            # a rank-one update of the joint distribution of the differences
            column = covariance[:, :, k].copy()
            gain = column / (1.0 + change_pi * own)[:, None]
            mean += gain * (change_tau - change_pi * mean[:, k])[:, None]
            covariance -= change_pi[:, None, None] * gain[:, :, None] * column[:, None, :]
        if np.abs(pi - before).max(initial=0.0) < 1e-9 + 1e-7 * np.abs(pi).max(initial=0.0):
            break
    return truncations


# The draw probability under which ratings expect as many ties as there were.
#
# The plain share of ties is too low in a field of unequal bots: a weak bot rarely ties with a strong one.

MIN_DRAW_PROBABILITY = 1e-3
"""At zero, a draw would make sigma grow."""
MAX_DRAW_PROBABILITY = 0.95
MAX_STEPS = 60
TOLERANCE = 1e-13
MAX_EXACT_PAIRS = 100_000
STEPS = 1000
"""The gaps between more pairs are divided among multiples of this part of a standard deviation, which moves the result
by 1e-7.
"""


class Ties:
    """How often each two bots met, and how many of these meetings were ties."""

    def __init__(self, results: Sequence[DistinctResults], graph: PairGraph) -> None:
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
        """
        means = means / (sqrt(2) * beta)
        gaps, counts = means.take(self._first) - means.take(self._second), self._counts
        if len(gaps) > MAX_EXACT_PAIRS:
            place = np.abs(gaps) * STEPS
            step = place.astype(np.int64)
            part = counts * (place - step)  # of both neighbours, so that nothing jumps
            steps = int(step.max()) + 2
            of_next = np.bincount(step, part, steps)
            counts = np.asarray(np.bincount(step, counts, steps) - of_next, dtype=np.float64)
            counts[1:] += of_next[:-1]
            gaps = np.arange(steps) / STEPS
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
        margin = ppf((draw_probability + 1) / 2)
        return float(counts @ (normal_cdf(margin - gaps) - normal_cdf(-margin - gaps))) - self._tied
