"""A measure, its numbers with their 95 % intervals, and these as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log, sqrt
from statistics import NormalDist
from typing import NamedTuple

from arena.ratings.distributions import t_quantile, wilson_interval

# Numbers with their 95 % intervals: shares, means, and differences of two.
#
# Shares have Wilson's score interval (E. B. Wilson, JASA 22, 1927). Where observations come in clusters, such as the
# positions of a match, or are not only 0 and 1, such as points, it is computed with the effective number of
# observations (L. Kish, Survey Sampling, 1965; C. Franco et al., J. Survey Statistics and Methodology 7, 2019). Means
# have Student's interval, and differences the one that follows from those of both sides (R. G. Newcombe, Statistics in
# Medicine 17, 1998, method 10). Where all observations are equal, Student's interval has no width, whatever others may
# be like; ``differing`` has the share that may differ.

Z = NormalDist().inv_cdf(0.975)


class Kind(StrEnum):
    """How an estimate is known."""

    EXACT = "exact"
    SAMPLED = "sampled"
    BOUNDS = "bounds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and how well it is known, by ``n`` independent observations.

    ``low`` and ``high`` are its 95 % interval, or certain bounds, and then ``value`` is None. ``differing``: of a mean
    whose observations were all equal, the largest share of others that may differ from them, at 95 % confidence.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    kind: Kind = Kind.SAMPLED
    differing: float | None = None

    def lies_above(self, value: float) -> bool:
        """Return whether all of the interval is above a value."""
        return self.low is not None and self.low > value

    def lies_below(self, value: float) -> bool:
        """Return whether all of the interval is below a value."""
        return self.high is not None and self.high < value


class Cluster(NamedTuple):
    """The sum of observations that depend on each other, and their number."""

    total: float
    size: int = 1


def exactly(value: float, n: int = 1) -> Estimate:
    """Return a number without error, which rests on all ``n`` observations."""
    return Estimate(value=value, low=value, high=value, n=n, kind=Kind.EXACT)


def between(low: float | None, high: float | None, n: int = 1) -> Estimate:
    """Return a number of which certain bounds are known."""
    return Estimate(value=None, low=low, high=high, n=n, kind=Kind.BOUNDS)


def share_of(clusters: Sequence[Cluster]) -> Estimate | None:
    """Return the mean of observations from 0 to 1 with its interval; None without observations."""
    clusters = [cluster for cluster in clusters if cluster.size]
    if not clusters:
        return None
    n, count = len(clusters), sum(cluster.size for cluster in clusters)
    share = sum(cluster.total for cluster in clusters) / count
    is_counted = all(cluster.size == 1 and cluster.total in (0, 1) for cluster in clusters)
    return share_with(share, 0.0 if is_counted else _variance(clusters, share, count), n, is_counted=is_counted)


def share_with(share: float, variance: float, n: int, *, is_counted: bool) -> Estimate:
    """Return a share with its interval, from the variance of the mean; ``is_counted``: of observations 0 and 1."""
    if is_counted:
        low, high = wilson_interval(share, n, Z)
        return Estimate(value=share, low=low, high=high, n=n)
    if variance <= 0:
        others = Z * Z / (n + Z * Z)  # at most this share is different, by Wilson's interval
        return Estimate(value=share, low=share * (1 - others), high=share + (1 - share) * others, n=n)
    low, high = wilson_interval(share, share * (1 - share) / variance, t_quantile(n - 1, 0.975))
    return Estimate(value=share, low=low, high=high, n=n)


def mean_of(clusters: Sequence[Cluster]) -> Estimate | None:
    """Return the mean of observations of any size with its interval; None without two clusters."""
    clusters = [cluster for cluster in clusters if cluster.size]
    n, count = len(clusters), sum(cluster.size for cluster in clusters)
    if n < 2:
        return None
    mean = sum(cluster.total for cluster in clusters) / count
    return mean_with(mean, _variance(clusters, mean, count), n)


def mean_with(mean: float, variance: float, n: int) -> Estimate:
    """Return a mean with its interval, from its variance; of two observations or more."""
    if variance <= 0:
        return Estimate(value=mean, low=mean, high=mean, n=n, differing=differing_share(n))
    margin = t_quantile(n - 1, 0.975) * sqrt(variance)
    return Estimate(value=mean, low=mean - margin, high=mean + margin, n=n)


def differing_share(n: int) -> float:
    """Return the largest share of which ``n`` observations may show none, at 95 % confidence; about 3 / n.

    Exact (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934); the short form is the rule of three
    (J. A. Hanley and A. Lippman-Hand, JAMA 249, 1983).

    >>> round(differing_share(100), 4)
    0.0295
    """
    return 1 - exp(log(0.05) / n)


def difference(first: Estimate, second: Estimate) -> Estimate | None:
    """Return how much larger ``second`` is than ``first``; None if only bounds of either are known."""
    if None in (first.value, first.low, first.high, second.value, second.low, second.high):
        return None
    assert first.value is not None and first.low is not None and first.high is not None
    assert second.value is not None and second.low is not None and second.high is not None
    middle = second.value - first.value
    low = middle - sqrt((second.value - second.low) ** 2 + (first.high - first.value) ** 2)
    high = middle + sqrt((second.high - second.value) ** 2 + (first.value - first.low) ** 2)
    is_exact = first.kind is second.kind is Kind.EXACT
    kind = Kind.EXACT if is_exact else Kind.SAMPLED
    differing = max(first.differing, second.differing) if first.differing and second.differing else None
    return Estimate(value=middle, low=low, high=high, n=min(first.n, second.n), kind=kind, differing=differing)


def _variance(clusters: Sequence[Cluster], mean: float, count: int) -> float:
    """Return the variance of a ratio of sums over clusters, linearized; 0 for a single cluster."""
    n = len(clusters)
    squares = sum((cluster.total - mean * cluster.size) ** 2 for cluster in clusters)
    return 0.0 if n < 2 or squares < 1e-18 * count else n / (n - 1) * squares / count**2


# A measure and its numbers.


class Unit(StrEnum):
    """What a number counts."""

    SHARE = "share"
    SCORE = "score"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A number of a measure.

    ``at`` is its strength, ply or size, or empty for the whole game. ``known`` tells how: of a board as for a worth, of
    random play ``table`` or ``kernel``; empty for what was simulated on the rules.
    """

    name: str
    at: str
    unit: Unit
    estimate: Estimate
    known: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One of the eleven measures: what its numbers are, the numbers, and a note if some are missing."""

    key: str
    title: str
    about: str
    rows: tuple[Row, ...] = ()
    note: str = ""

    def row(self, name: str, at: str = "") -> Row | None:
        """Return a number by its name."""
        return next((row for row in self.rows if (row.name, row.at) == (name, at)), None)


def rows_of(name: str, at: str, unit: Unit, estimate: Estimate | None, known: str = "") -> list[Row]:
    """Return a number as a list, which is empty without an estimate."""
    return [] if estimate is None else [Row(name=name, at=at, unit=unit, estimate=estimate, known=known)]


def share_rows(name: str, at: str, observations: Iterable[Cluster | float]) -> list[Row]:
    """Return a share as a list, from clusters or from independent observations of 0 to 1; empty without any."""
    clusters = [seen if isinstance(seen, Cluster) else Cluster(float(seen)) for seen in observations]
    return rows_of(name, at, Unit.SHARE, share_of(clusters))


# Numbers of a quality report as text.

ALL_EQUAL = "all equal"
"""In place of an interval that would have no width."""


_MOST_DECIMALS = 5


def number_text(row: Row) -> str:
    """Return a number with its unit; a dash where only bounds are known."""
    return value_text(row.estimate.value, row.unit, _more_decimals(row.estimate, row.unit))


def interval_text(row: Row) -> str:
    """Return how well a number is known."""
    estimate = row.estimate
    known = f" ({row.known})" if row.known else ""
    if estimate.kind is Kind.EXACT:
        return f"exact{known}" if estimate.n == 1 else f"exact{known}  n {estimate.n}"
    if estimate.kind is Kind.BOUNDS:
        return f"{bounds_text(estimate)}{known}"
    return f"{ends_text(estimate, row.unit)}{known}  n {estimate.n}"


def estimate_text(estimate: Estimate, unit: Unit) -> str:
    """Return a number with its interval."""
    if estimate.kind is Kind.EXACT:
        return f"{value_text(estimate.value, unit)}, exact"
    value = value_text(estimate.value, unit, _more_decimals(estimate, unit))
    return f"{value} {ends_text(estimate, unit)}"


def ends_text(estimate: Estimate, unit: Unit) -> str:
    """Return an interval in the unit of its number, with as many decimals as tell its ends apart."""
    if estimate.differing is not None:
        return f"({ALL_EQUAL})"
    more_decimals = _more_decimals(estimate, unit)
    low, high = (value_text(end, unit, more_decimals).removesuffix(" %") for end in (estimate.low, estimate.high))
    return f"[{low}, {high}]"


def _more_decimals(estimate: Estimate, unit: Unit) -> int:
    """Return how many decimals more than usual tell the ends of an interval apart; none if nothing does."""
    low, high = estimate.low, estimate.high
    differ = (more for more in range(_MOST_DECIMALS) if value_text(low, unit, more) != value_text(high, unit, more))
    return next(differ, 0) if estimate.kind is Kind.SAMPLED else 0


def bounds_text(estimate: Estimate) -> str:
    """Return bounds that are certain as text."""
    low = "" if estimate.low is None else f"at least {estimate.low:g}"
    high = "" if estimate.high is None else f"at most {estimate.high:g}"
    return " and ".join(filter(None, (low, high))) or "not known"


def value_text(value: float | None, unit: Unit, more_decimals: int = 0) -> str:
    """Return a number as text, with one decimal in per cent and two otherwise, or more.

    >>> value_text(0.125, Unit.SHARE), value_text(1.25, Unit.SCORE), value_text(-0.001, Unit.SCORE)
    ('12.5 %', '1.25', '0')
    """
    if value is None:
        return "–"
    if unit is Unit.SHARE:
        return f"{100 * value:.{1 + more_decimals}f} %"
    text = f"{value:.{2 + more_decimals}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
