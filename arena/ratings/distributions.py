"""Normal, chi-square and Student's t distributions and Wilson's interval, for the statistics of the arena."""

from __future__ import annotations

from math import cos, exp, lgamma, log, pi, sin, sqrt, tan
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 16_384
"""Arrays are worked through in blocks that stay in the processor's cache."""

EXPANDED_FREEDOM = 200
"""From this many degrees of freedom Cornish and Fisher's expansion of t is exact to 1e-10."""

_MILLS = (
    4.480233382099169e-10,
    -1.6952996818880583e-09,
    -6.5624402369464745e-09,
    1.3723059452459651e-08,
    5.077844122332048e-08,
    -4.494916382038613e-08,
    -2.869299965207942e-07,
    -3.101083609757584e-09,
    1.390762707984928e-06,
    1.0194890870987357e-06,
    -6.5533544552582505e-06,
    -8.606187876096938e-06,
    3.415881433183821e-05,
    5.3266970938315365e-05,
    -0.0002202155756957516,
    -0.00023670175882712258,
    0.001741848773732585,
    -0.0007159509052838121,
    -0.01253910362039814,
    0.04495912907706981,
    -0.0807080096790523,
    0.07169048120143744,
    0.035091880234748005,
    -0.2423996705218081,
    1.1832619145678034,
)
"""The polynomial of ``mills_ratio``, the highest power first."""


def mills_ratio(x: Floats) -> Floats:
    """Return (1 - cdf(x)) / pdf(x) of the standard normal distribution for x >= 0, to a relative error of 1e-15.

    (1 + x) times the ratio is smooth in (x - 4) / (x + 4), which maps all x >= 0 to [-1, 1], and is approximated there
    by the first 25 terms of its Chebyshev series (Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x)
    exp(x²) erfc(x)", Mathematics of Computation 36, 1981, do the same for erfc), computed with 50 digits.
    """
    flat = np.ravel(x)
    ratio = np.empty_like(flat)
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        mapped = 1.0 - 8.0 / (part + 4.0)
        total = np.full_like(part, _MILLS[0])
        for coefficient in _MILLS[1:]:
            total *= mapped
            total += coefficient
        ratio[start : start + BLOCK] = total / (1.0 + part)
    return ratio.reshape(np.shape(x))


def normal_density(x: Floats) -> Floats:
    """Return the standard normal density."""
    near = np.minimum(np.abs(x), 100.0)  # beyond, it is 0, and the square may overflow
    return np.asarray(np.exp(-0.5 * near * near) / sqrt(2.0 * pi))


def normal_cdf(x: Floats) -> Floats:
    """Return the standard normal distribution function, exact in both tails."""
    tail = normal_density(x) * mills_ratio(np.abs(x))
    return np.where(x > 0, 1.0 - tail, tail)


def hazard(x: Floats) -> Floats:
    """Return pdf(x) / cdf(x) of the standard normal distribution, exact in the tails."""
    ratio = mills_ratio(np.abs(x))
    quotient = 1.0 / ratio
    above = np.flatnonzero(x > 0)
    density = normal_density(x.ravel()[above])
    quotient.ravel()[above] = density / (1.0 - density * ratio.ravel()[above])
    return np.asarray(quotient)


def chi_square_survival(freedom: float, x: float) -> float:
    """Return the probability that a chi-square variable of ``freedom`` > 0 degrees exceeds ``x``.

    By the series and the continued fraction of the incomplete gamma function (Abramowitz and Stegun, 6.5.29, 6.5.31).
    """
    if x <= 0:
        return 1.0
    a, x = freedom / 2, x / 2
    scale = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:
        term = total = 1.0 / a
        while term > 1e-17 * total:
            a += 1
            term *= x / a
            total += term
        return 1.0 - scale * total
    b = x + 1 - a
    c, d = 1e300, 1.0 / b
    fraction, k, factor = d, 0, 0.0
    while abs(factor - 1.0) > 1e-15:  # Lentz's method
        k += 1
        b += 2
        numerator = k * (a - k)
        d = 1.0 / (numerator * d + b)
        c = b + numerator / c
        factor = c * d
        fraction *= factor
    return scale * fraction


def t_quantile(freedom: int, p: float) -> float:
    """Return the value that Student's t of ``freedom`` >= 1 degrees exceeds with probability 1 - p, for p > 1/2."""
    if freedom >= EXPANDED_FREEDOM:
        return _expanded_t_quantile(freedom, NormalDist().inv_cdf(p))
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(freedom, middle) < 2 * p - 1 else (low, middle)
    return sqrt(freedom) * tan((low + high) / 2)


def wilson_interval(share: float, n: float, z: float) -> tuple[float, float]:
    """Return the score interval of a share of ``n`` > 0 observations (E. B. Wilson, JASA 22, 1927).

    ``n`` is the effective number if they are not independent; the quantile ``z`` is 1.96 for 95 %.
    """
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    margin = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return (0.0 if share == 0 else max(0.0, middle - margin)), (1.0 if share == 1 else min(1.0, middle + margin))


def _t_within(freedom: int, angle: float) -> float:
    """Return the probability that |t| < sqrt(freedom) tan(angle) (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    term, total = 1.0, 0.0
    for k in range(2 + freedom % 2, freedom + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (k - 1) / k
    if freedom % 2:
        return 2 / pi * (angle + sin(angle) * cos(angle) * total)
    return sin(angle) * total


def _expanded_t_quantile(freedom: int, x: float) -> float:
    """Return the quantile of t from that of the normal distribution (Abramowitz and Stegun, 26.7.5)."""
    corrections = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(correction / float(freedom) ** power for power, correction in enumerate(corrections, 1))
