"""A rating, and the trueskill package with arithmetic that does not give up in the tails."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import trueskill


class Rating(NamedTuple):
    """The belief about a bot's strength: a normal distribution with mean ``mu`` and standard deviation ``sigma``."""

    mu: float
    sigma: float

    @property
    def exposure(self) -> float:
        """``mu - 3 sigma``: a strength the bot has almost certainly; tables are sorted by it."""
        return self.mu - 3 * self.sigma


# The package's own formulas raise FloatingPointError when skills lie far apart, and its error function has a relative
# error of 1e-7. Here the same four functions (v and w for a win and for a draw; Herbrich, Minka and Graepel,
# "TrueSkill: A Bayesian skill rating system", 2006, section 3) use the standard library's ``erfc`` and, far out,
# their asymptotic expansions.

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2

CONFIDENCE_95 = NormalDist().inv_cdf(0.975)
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""

TAIL = -6.0
"""Below this many standard deviations the continued fraction of Mills' ratio is exact to 1e-9 within 30 terms."""

CERTAIN = 30.0
"""A draw whose margin lies this many standard deviations beyond the difference carries no information."""

_SQRT2 = math.sqrt(2.0)
_SQRT_2PI = math.sqrt(2.0 * math.pi)
_STANDARD_NORMAL = NormalDist()


def cdf(x: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * math.erfc(-x / _SQRT2)


def pdf(x: float) -> float:
    """Return the standard normal density."""
    return math.exp(-(x**2) / 2.0) / _SQRT_2PI


def ppf(p: float) -> float:
    """Return the inverse of the distribution function."""
    return _STANDARD_NORMAL.inv_cdf(p)


def hazard(x: float) -> float:
    """Return pdf(x) / cdf(x), in the lower tail by a continued fraction (Abramowitz and Stegun, 26.2.14)."""
    if x > TAIL:
        return pdf(x) / cdf(x)
    fraction = -x
    for k in range(30, 0, -1):
        fraction = -x + k / fraction
    return fraction


class Environment(trueskill.TrueSkill):  # type: ignore[misc]
    """TrueSkill without drift (tau = 0): programs don't change between matches.

    A new version of a bot is a new player.
    """

    def __init__(self, draw_probability: float, mu: float = MU, sigma: float = SIGMA, beta: float = BETA) -> None:
        super().__init__(mu, sigma, beta, tau=0.0, draw_probability=draw_probability, backend=(cdf, pdf, ppf))

    def v_win(self, diff: float, draw_margin: float) -> float:
        """Return the shift of the mean after a win, in units of the spread."""
        return hazard(diff - draw_margin)

    def w_win(self, diff: float, draw_margin: float) -> float:
        """Return the shrinking of the variance after a win, from 0 to 1."""
        x = diff - draw_margin
        v = hazard(x)
        return _inside(v * (v + x))

    def v_draw(self, diff: float, draw_margin: float) -> float:
        """Return the shift of the mean after a draw."""
        shift, _ = _between(abs(diff), draw_margin)
        return -shift if diff < 0 else shift

    def w_draw(self, diff: float, draw_margin: float) -> float:
        """Return the shrinking of the variance after a draw, from 0 to 1."""
        _, shrinking = _between(abs(diff), draw_margin)
        return _inside(shrinking)


def _between(diff: float, draw_margin: float) -> tuple[float, float]:
    """Return v and w of a draw for ``diff`` >= 0.

    With a = margin - diff and b = -margin - diff, v = (pdf(b) - pdf(a)) / (cdf(a) - cdf(b)) and
    w = v² + (a·pdf(a) - b·pdf(b)) / (cdf(a) - cdf(b)). All four terms are scaled by pdf(a), so that nothing underflows
    far out.
    """
    a, b = draw_margin - diff, -draw_margin - diff
    if a > CERTAIN:
        return 0.0, 0.0
    fall = math.exp((a - b) * (a + b) / 2.0)  # pdf(b) / pdf(a)
    width = 1.0 / hazard(a) - fall / hazard(b)
    if width < 1e-12:  # the margin is (nearly) zero: the difference of the performances is known exactly
        return -diff, 1.0
    v = (fall - 1.0) / width
    return v, v * v + (a - b * fall) / width


def _inside(w: float) -> float:
    return min(max(w, 1e-12), 1.0 - 1e-12)
