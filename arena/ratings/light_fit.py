"""A light fit: the strengths of a field from the points of encounters, with errors from the encounters themselves.

It is the quasi-likelihood with TrueSkill's mean and variance of a match. The covariance of the strengths is estimated
by the sandwich, and by the model scaled by Pearson's dispersion; for a difference the larger one counts (McCullagh and
Nelder, "Generalized Linear Models", 1989, chapter 9). It takes milliseconds for a hundred bots, so that a field can be
looked at often; the ratings of tables are those of ``field_fit.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats, normal_cdf, normal_density
from arena.ratings.environment import BETA, SIGMA

PRIOR_ENCOUNTERS = 10.0
"""With which the dispersion is taken to be 1 before encounters have shown it."""

SPREAD = sqrt(2) * BETA
MATCHES = 2.0
"""In an encounter of two."""

MAX_MOVE = 2 * SPREAD
MAX_STEPS = 40
TOLERANCE = 1e-4
MARGIN_STEPS = 18

Integers = NDArray[np.intp]


@dataclass(slots=True)
class PairTotals:
    """What the encounters of each two bots came to: matrices of shape (bots, bots).

    Attributes:
        encounters: the number of encounters; symmetric.
        points: the sum of the row's shares of the points, each from 0 to 1.
        squares: the sum of their squares.
        ties: the sum of the shares of matches that were tied; symmetric.
    """

    encounters: Floats
    points: Floats
    squares: Floats
    ties: Floats

    @classmethod
    def empty(cls, bots: int) -> PairTotals:
        """Return the totals of bots that have not met."""
        return cls(*(np.zeros((bots, bots)) for _ in range(4)))

    def add(self, first: int, second: int, share: float, tied: float) -> None:
        """Add an encounter: the share of points of the first of two bots, and the share of matches that were tied."""
        self.encounters[[first, second], [second, first]] += 1
        self.points[[first, second], [second, first]] += share, 1 - share
        self.squares[[first, second], [second, first]] += share**2, (1 - share) ** 2
        self.ties[[first, second], [second, first]] += tied

    def scaled(self, factor: Floats) -> PairTotals:
        """Return totals in which the encounters of a pair count by a factor."""
        return PairTotals(self.encounters * factor, self.points * factor, self.squares * factor, self.ties * factor)

    def of(self, bots: Sequence[int]) -> PairTotals:
        """Return the totals of some bots among each other."""
        own = np.ix_(bots, bots)
        return PairTotals(self.encounters[own], self.points[own], self.squares[own], self.ties[own])


class Fit(NamedTuple):
    """The strengths of a field.

    Attributes:
        strengths: in points of mu, around 0.
        covariances: two estimates of their covariance, of which the larger one counts for each difference.
        telling: what one encounter of two bots says about the difference of their strengths.
        expected: the points that are expected of the row against the column.
        slope: how they grow with the difference.
        variance: the variance of the points of a match, by the model.
    """

    strengths: Floats
    covariances: tuple[Floats, Floats]
    telling: Floats
    expected: Floats
    slope: Floats
    variance: Floats

    def contradictions(self, totals: PairTotals) -> Floats:
        """Return by how many standard errors the points of each pair differ from what this fit expects of them.

        Args:
            totals: of all encounters, of which the fit may have counted a few of each pair.
        """
        count = np.maximum(totals.encounters, 1.0)
        share = totals.points / count
        own = np.maximum(totals.squares / count - share**2, self.variance / (2 * MATCHES))
        bots = np.arange(len(share), dtype=np.intp)
        error = np.sqrt(own / count + (self.slope * self.errors(bots[:, None], bots[None, :])) ** 2)
        return np.asarray(np.where(totals.encounters > 0, (share - self.expected) / error, 0.0))

    def errors(self, first: Integers, second: Integers) -> Floats:
        """Return the standard errors of differences of strengths."""
        variances = [
            covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
            for covariance in self.covariances
        ]
        return np.asarray(np.sqrt(np.maximum(*variances)))


class _Expected(NamedTuple):
    """What the model expects of a match: the row's points, how they grow with the difference, and their variance."""

    points: Floats
    slope: Floats
    variance: Floats
    ties: Floats


def _expected(difference: Floats, margin: float) -> _Expected:
    win = normal_cdf((difference - margin) / SPREAD)
    loss = normal_cdf((-difference - margin) / SPREAD)
    tie = np.maximum(1 - win - loss, 0.0)
    points = win + tie / 2
    slope = (normal_density((difference - margin) / SPREAD) + normal_density((difference + margin) / SPREAD)) / (
        2 * SPREAD
    )
    return _Expected(points, np.maximum(slope, 1e-9), np.maximum(win + tie / 4 - points**2, 1e-6), tie)


def _margin(totals: PairTotals, difference: Floats) -> float:
    """Return the draw margin under which as many ties are expected as there were."""
    ties, weight = totals.ties.sum(), totals.encounters
    low, high = 0.0, 6 * SPREAD
    if ties <= 0:
        return 0.0
    for _ in range(MARGIN_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if (weight * _expected(difference, middle).ties).sum() < ties else (low, middle)
    return (low + high) / 2


def fit(totals: PairTotals, start: Floats | None = None) -> Fit:
    """Return the strengths that agree best with the encounters, each of a match in either seat."""
    bots = len(totals.encounters)
    strengths = np.zeros(bots) if start is None or len(start) != bots else start
    prior = np.eye(bots) / SIGMA**2
    margin = 0.0
    for step in range(MAX_STEPS):
        difference = strengths[:, None] - strengths[None, :]
        if step % 4 == 0:
            margin = _margin(totals, difference)
        expected = _expected(difference, margin)
        weight = MATCHES * expected.slope / expected.variance
        pull = (weight * (totals.points - totals.encounters * expected.points)).sum(1) - strengths / SIGMA**2
        information = _laplacian(totals.encounters * weight * expected.slope) + prior
        move = np.linalg.solve(information, pull)
        strengths = strengths + np.clip(move, -MAX_MOVE, MAX_MOVE)
        if np.abs(move).max() < TOLERANCE and step:
            break
    residual = totals.squares - 2 * expected.points * totals.points + totals.encounters * expected.points**2
    residual = np.maximum(residual, 0.0)
    chi_square = MATCHES * (residual / expected.variance).sum() / 2
    freedom = max(totals.encounters.sum() / 2 - bots + 1, 0.0)
    dispersion = (chi_square + PRIOR_ENCOUNTERS) / (freedom + PRIOR_ENCOUNTERS)
    inverse = np.linalg.inv(information)
    sandwich = inverse @ _laplacian(weight**2 * residual) @ inverse
    telling = MATCHES * expected.slope**2 / expected.variance / dispersion
    covariances = inverse * dispersion, sandwich
    return Fit(strengths, covariances, telling, expected.points, expected.slope, expected.variance)


def _laplacian(weight: Floats) -> Floats:
    weight = weight.copy()
    np.fill_diagonal(weight, 0.0)
    return np.asarray(np.diag(weight.sum(1)) - weight)
