"""Numbers of a quality report as text."""

from __future__ import annotations

from arena.lab.measures.estimate import Estimate, Kind
from arena.lab.measures.measure import Row, Unit

ALL_EQUAL = "all equal"
"""In place of an interval that would have no width."""


_MOST_DECIMALS = 5


def number_text(row: Row) -> str:
    """Return a number with its unit; a dash where only bounds are known."""
    return value_text(row.estimate.value, row.unit)


def interval_text(row: Row) -> str:
    """Return how well a number is known."""
    estimate = row.estimate
    if estimate.kind is Kind.EXACT:
        return f"exact ({row.known})" if row.known else "exact"
    if estimate.kind is Kind.BOUNDS:
        return f"{bounds_text(estimate)} ({row.known})"
    return f"{ends_text(estimate, row.unit)}  n {estimate.n}"


def estimate_text(estimate: Estimate, unit: Unit) -> str:
    """Return a number with its interval."""
    if estimate.kind is Kind.EXACT:
        return f"{value_text(estimate.value, unit)}, exact"
    return f"{value_text(estimate.value, unit)} {ends_text(estimate, unit)}"


def ends_text(estimate: Estimate, unit: Unit) -> str:
    """Return an interval, in the unit of its number; ``ALL_EQUAL`` where all observations were.

    Ends that differ have as many decimals as show it.
    """
    if estimate.differing is not None:
        return f"({ALL_EQUAL})"
    for more_decimals in range(_MOST_DECIMALS if estimate.low != estimate.high else 1):
        ends = (value_text(end, unit, more_decimals).removesuffix(" %") for end in (estimate.low, estimate.high))
        low, high = ends
        if low != high:
            break
    return f"[{low}, {high}]"


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
