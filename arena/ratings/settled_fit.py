"""A fit with the draw probability and the prior's width that go with it, as one fixed point.

Each sweep of expectation propagation is followed by a step of both: the draw probability becomes the one under which
the fit expects as many ties as there were, the width that of a step of expectation maximisation. All three settle
together, so that the result does not depend on where the sweeps began: from nothing, or from the fit of most of the
results. More digits are settled than the nine that have to be equal.

The matrix of all strengths is inverted until its entries have nearly settled. From there means are moved by Newton
steps with the last inverse, and the traces of later inverses are the first two terms of their series in what has
changed.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np

from arena.ratings.distributions import Floats
from arena.ratings.environment import MU, SIGMA
from arena.ratings.ep_messages import MAX_DRAW_PROBABILITY, MIN_DRAW_PROBABILITY, JointGaussian
from arena.ratings.extrapolation import Extrapolation
from arena.ratings.large_field import TOLERANCES, SparsePosterior
from arena.ratings.result_arrays import EncounterArrays
from arena.ratings.set_fit import Joint, SetFit

IMAGINARY_BOTS = 3.0
ROUNDS = 20
MIN_WIDTH = 0.1

MAX_STEP = 1e-8
"""The last step, in points of mu and sigma or relatively."""

TOLERANCE = 3e-11
"""Of what is left after it, judged by how much shorter it was than the one before."""

MAX_SWEEPS = 1000
MAX_CONTINUED_SWEEPS = 60
"""A fit that has not settled by then begins from nothing."""

MAX_RATE = 0.999

SLOW_SWEEPS = 30.0
"""By how much more than the last sweep slow ones would still change; fields of a wide prior are settled relatively."""

SMALL_MATRIX = 128
"""With more rows a matrix is inverted in four parts."""

NEAR = 1e-4
"""How far the precision of a bot may be from that of the inverse, relatively."""


class Start(NamedTuple):
    """An earlier fit to begin with; means and precisions of beliefs are in the order of the names."""

    names: tuple[str, ...]
    means: Floats
    precisions: Floats
    draw_probability: float
    prior_width: float


class Posterior:
    """The posterior distribution of all strengths, relative to the prior's mean."""

    def __init__(self, fit: SetFit, joint: JointGaussian) -> None:
        self.fit = fit
        self.precision = joint.precision
        self.diagonal = np.diag(self.precision).copy()
        self.covariance = inverse(joint.precision)
        self.mean = self.covariance @ joint.shift
        self._square: Floats | None = None

    def trace(self) -> float:
        """Return the sum of the variances."""
        return float(np.trace(self.covariance))

    def mean_of(self, joint: JointGaussian, guess: Floats) -> Floats:
        """Return the means of a similar distribution, better than a guess."""
        return np.asarray(guess + self.covariance @ (joint.shift - joint.precision @ guess))

    def trace_of(self, joint: JointGaussian) -> float:
        """Return the sum of the variances of a similar distribution, up to the square of what is different."""
        if self._square is None:
            narrow = self.covariance.astype(np.float32)
            self._square = (narrow @ narrow).astype(np.float64)
        return self.trace() - float(np.vdot(self._square, joint.precision - self.precision))

    def pulls_of_rivals(self, encounters: EncounterArrays) -> JointGaussian | None:
        """Return how kinds of encounters pull, if the matches of each are between the same two bots; otherwise None.

        Returns:
            A Gaussian whose precision matrix is the sum of the products of the pulls at each two bots, and whose shift
            is the sum of the pulls at each.
        """
        pair, size = encounters.rivals(), len(self.mean)
        if pair is None:
            return None
        (of_pairs,) = encounters.results
        winner, loser = of_pairs.members.T
        precision, shift = self.fit.swept_pairs
        own = (shift - precision * (self.mean[winner] - self.mean[loser])) / of_pairs.counts
        pull = np.bincount(encounters.kind, np.where(winner < loser, own, -own)[encounters.result])
        total = np.asarray(pull * encounters.occurrences, dtype=np.float64)
        sums = JointGaussian(size, 0.0)
        sums.add_pairs(*np.divmod(pair, size), pull * total, total)
        return sums


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric positive definite matrix, by that of its Schur complement.

    It takes half as long as numpy's, which knows of no symmetry.
    """
    half = len(matrix) // 2
    if len(matrix) <= SMALL_MATRIX:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    found = np.empty_like(matrix)
    first = inverse(matrix[:half, :half])
    across = first @ matrix[:half, half:]
    found[half:, half:] = inverse(matrix[half:, half:] - matrix[half:, :half] @ across)
    found[:half, half:] = -across @ found[half:, half:]
    found[half:, :half] = found[:half, half:].T
    found[:half, :half] = first - found[:half, half:] @ across.T
    return found


class Settled(NamedTuple):
    """A fit's draw probability, prior's width and posterior distribution, and whether they are a fixed point."""

    draw_probability: float
    width: float
    posterior: Posterior | SparsePosterior
    is_settled: bool


def settle(fit: SetFit, prior_width: float | None, start: Start | None = None) -> Settled:
    """Fit, with the draw probability and the prior's width that go with the fit.

    Args:
        prior_width: the standard deviation of the prior; by default estimated from the field.
        start: where to begin, which makes no difference to nine digits; not used in large fields.
    """
    if fit.is_large:
        return _settle_large(fit, prior_width)
    return _Settling(fit, prior_width, start).settled()


class _Settling:
    def __init__(self, fit: SetFit, prior_width: float | None, start: Start | None) -> None:
        self._fit, self._prior_width = fit, prior_width
        self._probability, self._width = fit.tied_share(), prior_width or SIGMA
        if start is not None:
            self._probability, self._width = start.draw_probability, prior_width or start.prior_width
            number = {name: k for k, name in enumerate(start.names)}
            known = np.array([number.get(name, -1) for name in fit.names])
            means = np.where(known < 0, MU, start.means[known])
            precisions = np.where(known < 0, start.prior_width**-2, start.precisions[known])
            fit.begin_with(means, precisions, start.prior_width)
        self._near: Posterior | None = None
        self._is_continued = start is not None

    def settled(self) -> Settled:
        extrapolation, last_change = Extrapolation(self._fit), MAX_STEP
        for _ in range(MAX_CONTINUED_SWEEPS if self._is_continued else MAX_SWEEPS):
            self._fit.assume(self._probability, self._width)
            extrapolation.begin(self._logarithms())
            change = self._fit.sweep(self._mean_of)
            change = max(change, self._take(self._fit.matching_draw_probability(), self._trace))
            rate = min(change / last_change, MAX_RATE)
            left = change * rate / (1.0 - rate)
            if extrapolation.is_slow:
                left = max(extrapolation.distance, SLOW_SWEEPS * change * min(1.0, SIGMA / self._width))
            if change < MAX_STEP and left < TOLERANCE:
                self._near = Posterior(self._fit, self._joint)
                if self._take(self._probability, self._near.trace()) < TOLERANCE:
                    return Settled(self._probability, self._width, self._near, True)
            probability, width = np.exp(extrapolation.end(change, self._logarithms())).tolist()
            self._probability = min(max(probability, MIN_DRAW_PROBABILITY), MAX_DRAW_PROBABILITY)
            self._width = self._prior_width or width
            last_change = change
        return Settled(self._probability, self._width, Posterior(self._fit, self._joint), False)

    def _logarithms(self) -> Floats:
        return np.log([self._probability, self._width])

    def _take(self, probability: float, trace: float) -> float:
        """Take a draw probability, and the width that goes with a trace; return how far either moves, relatively."""
        width = self._prior_width or estimated_width(self._fit, trace)
        change = max(abs(log(probability / self._probability)), abs(log(width / self._width)))
        self._probability, self._width = probability, width
        return change

    def _mean_of(self, joint: Joint) -> Floats:
        assert isinstance(joint, JointGaussian)  # the field is not large
        self._joint = joint
        if self._near is None or np.abs(np.diag(joint.precision) / self._near.diagonal - 1.0).max() > NEAR:
            self._near = Posterior(self._fit, joint)
            self._trace = self._near.trace()
            return self._near.mean
        self._trace = self._near.trace_of(joint)
        return self._near.mean_of(joint, self._fit.means)


def estimated_width(fit: SetFit, trace: float) -> float:
    """Return the width by a step of expectation maximisation, with a few imaginary bots of the usual width."""
    spread = float((fit.means**2).sum()) + trace
    return max(MIN_WIDTH, float(np.sqrt((IMAGINARY_BOTS * SIGMA**2 + spread) / (IMAGINARY_BOTS + len(fit.names)))))


def _settle_large(fit: SetFit, prior_width: float | None) -> Settled:
    probability, width = fit.tied_share(), prior_width or SIGMA
    for round_ in range(ROUNDS):
        tolerance = TOLERANCES[min(round_, len(TOLERANCES) - 1)]
        fit.run(probability, width, tolerance)
        posterior = SparsePosterior(fit)
        matched = fit.matching_draw_probability()
        estimate = prior_width or estimated_width(fit, posterior.trace())
        has_settled = abs(matched - probability) < 0.01 * probability and abs(estimate - width) < 0.01 * width
        if has_settled and tolerance == TOLERANCES[-1]:
            return Settled(probability, width, posterior, False)
        probability, width = matched, estimate
    fit.run(probability, width, TOLERANCES[-1])
    return Settled(probability, width, SparsePosterior(fit), False)
