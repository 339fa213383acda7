"""The Gaussian likelihood terms of results: what each result implies about the strengths of its bots.

A result orders performances p = s + noise: neighbours in the ranking differ by more than the draw margin, or by less if
they tie. Expectation propagation replaces each of these truncations by a Gaussian message on the difference of two
performances (Herbrich, Minka and Graepel, "TrueSkill", 2006, section 3). The term of a result in the strengths s is the
Schur complement that is left when the performances are integrated out: a precision matrix and a shift.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats, hazard

Bools = NDArray[np.bool_]

MAX_ITERATIONS = 60
CERTAIN = 30.0
"""A draw whose margin lies this many standard deviations beyond the difference carries no information."""
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
