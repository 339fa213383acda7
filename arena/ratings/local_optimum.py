"""Where the score of a bot is best, by noisy results: CLOP.

Rémi Coulom, "CLOP: Confident Local Optimization for Noisy Black-Box Parameter Tuning" (Advances in Computer Games,
2011): the logarithm of the odds of a point is modelled as quadratic in the parameters, from samples with weights. A
sample that is by the model worse than the mean, and confidently so, loses weight; so the model is at last one of the
surroundings of the best point, and new samples are drawn there.

In the paper, the weighted mean of the samples estimates the optimum. It leans to the middle where the range ends nearer
to one side of the optimum: 0.80 for an optimum at 0.9 of 0 to 1. The maximum of the model does not, but varies twice as
much. So the estimate is between the two (``benchmarks/tuning.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import exp

import numpy as np

from arena.ratings.distributions import Floats

H = 3.0
"""How far below the mean, in standard errors, a sample has to be to lose most of its weight, as in the paper."""

PRIOR_VARIANCE = 4.0
"""Of each coefficient but the constant, in parameters from -1 to 1: a bot is hardly ever 50 times as good elsewhere."""

MAX_STEPS = 50
SETTLED = 0.99
MAX_TRIES = 20_000

SHARE_OF_PEAK = 0.4
"""How far the estimate lies from the weighted mean towards the maximum: with the least loss in simulations."""

MAX_ROUNDS_OF_ASCENT = 200
NO_SLOPE = 1e-6

Point = tuple[float, ...]
"""A value of each parameter, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The score of an encounter at a point: its share of the points, from 0 to 1."""

    point: Point
    score: float


@dataclass(frozen=True, slots=True)
class _Cut:
    """A model, and the mean below which it takes weight away."""

    coefficients: Floats
    mean: float
    error: float

    def weight(self, terms: Floats) -> Floats:
        below: Floats = np.minimum(0.0, (terms @ self.coefficients - self.mean) / (H * self.error))
        return np.exp(below)


class LocalOptimum:
    """A model of one or more samples around the best points.

    Attributes:
        centre: the weighted mean of the samples.
        best: the estimate of the optimum.
        effective: how many samples it rests on: the sum of their weights.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        points = np.array([sample.point for sample in samples])
        scores = np.array([sample.score for sample in samples])
        terms, weights = _terms(points), np.ones(len(samples))
        self._cuts: list[_Cut] = []
        coefficients = np.zeros(terms.shape[1])
        for _ in range(MAX_STEPS):
            coefficients = _fitted(terms, scores, weights, coefficients)
            mean, error = _mean(scores, weights)
            cut = _Cut(coefficients, mean, error)
            self._cuts.append(cut)
            before, weights = weights.sum(), np.minimum(weights, cut.weight(terms))
            if weights.sum() > SETTLED * before:
                break
        self.centre: Point = tuple(float(value) for value in weights @ points / weights.sum())
        self.effective = float(weights.sum())
        peak = _maximum(coefficients, 2.0 * np.array(self.centre) - 1.0)
        self.best: Point = tuple(
            (1.0 - SHARE_OF_PEAK) * mean + SHARE_OF_PEAK * (1.0 + place) / 2.0
            for mean, place in zip(self.centre, peak, strict=True)
        )

    def weight(self, point: Point) -> float:
        """Return the weight of a point: 1 where the model is not confident that it is worse than the mean."""
        terms = _terms(np.array([point]))
        return min(1.0, *(float(cut.weight(terms)[0]) for cut in self._cuts))

    def draw(self, count: int, uniform: Callable[[], float]) -> list[Point]:
        """Return points, each drawn in proportion to its weight; ``uniform`` returns random numbers from 0 to 1."""
        drawn: list[Point] = []
        for _ in range(MAX_TRIES):
            point = tuple(uniform() for _ in self.centre)
            if uniform() < self.weight(point):
                drawn.append(point)
            if len(drawn) == count:
                return drawn
        return [*drawn, *[self.centre] * (count - len(drawn))]

    def score(self, point: Point) -> float:
        """Return the score that the model expects at a point."""
        return 1.0 / (1.0 + exp(-float((_terms(np.array([point])) @ self._cuts[-1].coefficients)[0])))


def _terms(points: Floats) -> Floats:
    """Return 1, each parameter from -1 to 1, and each product of two."""
    centred = 2.0 * points - 1.0
    columns = [np.ones(len(points)), *centred.T]
    columns += [
        centred[:, one] * centred[:, other] for one, other in combinations_with_replacement(range(points.shape[1]), 2)
    ]
    return np.stack(columns, axis=1)


def _maximum(coefficients: Floats, start: Floats) -> list[float]:
    """Return where the model is highest in the range, climbing from a start, one parameter after the other."""
    count = len(start)
    slope, bend = coefficients[1 : 1 + count], np.zeros((count, count))
    pairs = combinations_with_replacement(range(count), 2)
    for (one, other), coefficient in zip(pairs, coefficients[1 + count :], strict=True):
        bend[one, other] += coefficient
        bend[other, one] += coefficient
    found = start.copy()
    for _ in range(MAX_ROUNDS_OF_ASCENT):
        before = found.copy()
        for k in range(count):
            rise = slope[k] + bend[k] @ found - bend[k, k] * found[k]
            if bend[k, k] < 0:
                found[k] = np.clip(-rise / bend[k, k], -1.0, 1.0)
            elif abs(rise) > NO_SLOPE:
                found[k] = np.copysign(1.0, rise)
        if float(np.abs(found - before).max()) < 1e-9:
            break
    return [float(value) for value in found]


def _fitted(terms: Floats, scores: Floats, weights: Floats, start: Floats) -> Floats:
    """Return the coefficients of the logistic regression, by Newton's method; steps that are too long are halved."""
    precision = np.full(terms.shape[1], 1.0 / PRIOR_VARIANCE)
    precision[0] = 1e-6
    found = start
    for _ in range(MAX_STEPS):
        chances = 1.0 / (1.0 + np.exp(-(terms @ found)))
        slope = terms.T @ (weights * (scores - chances)) - precision * found
        curvature = (terms.T * (weights * chances * (1.0 - chances))) @ terms + np.diag(precision)
        step = np.linalg.solve(curvature, slope)
        while _likelihood(terms, scores, weights, precision, found + step) < _likelihood(
            terms, scores, weights, precision, found
        ):
            step /= 2.0
            if float(np.abs(step).max()) < 1e-9:
                return found
        found = found + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return found


def _likelihood(terms: Floats, scores: Floats, weights: Floats, precision: Floats, found: Floats) -> float:
    odds = terms @ found
    fit = weights @ (scores * odds - np.logaddexp(0.0, odds))
    return float(fit - 0.5 * (precision * found**2).sum())


def _mean(scores: Floats, weights: Floats) -> tuple[float, float]:
    """Return the logarithm of the odds of the mean score, and its standard error; half a win, half a loss added."""
    total = float(weights.sum()) + 1.0
    mean = (float(weights @ scores) + 0.5) / total
    return float(np.log(mean / (1.0 - mean))), float(1.0 / np.sqrt(total * mean * (1.0 - mean)))
