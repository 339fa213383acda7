"""Small charts of the report, as SVG whose colours belong to the page: intervals, and one bot's rating over matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor

from arena.analysis.standings import Standing
from arena.report.inline_html import GOOD
from arena.report.markup import text

Points = Sequence[tuple[float, float]]
"""A rating history: pairs of matches and mu."""

_WIDTH = 300
_HEIGHT = 120
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 8, 8, 30


class IntervalScale:
    """Draws the intervals of all lines of a table on one scale."""

    def __init__(self, lines: Sequence[Standing]) -> None:
        """Choose the scale.

        Args:
            lines: all that are to be drawn.
        """
        ends = [line.rating.mu + side * (line.margin or 0.0) for line in lines for side in (-1, 1)]
        self._low = min(ends, default=0.0)
        self._span = max(max(ends, default=1.0) - self._low, 1e-9)

    def svg(self, line: Standing) -> str:
        """Return the interval of a line; screen readers have the numbers beside it.

        Its own colours are for notebooks; the style sheet of the report has others.
        """
        margin = line.margin or 0.0
        left, middle, right = (self._at(line.rating.mu + side * margin) for side in (-1, 0, 1))
        return (
            '<svg class="interval" width="150" height="14" viewBox="0 0 200 14" preserveAspectRatio="none"'
            f' fill="{GOOD}" aria-hidden="true">'
            '<rect class="scale" x="0" y="6.5" width="200" height="1" fill="#888" fill-opacity=".4"/>'
            f'<rect class="range" x="{left:.1f}" y="4" width="{right - left:.1f}" height="6" fill-opacity=".45"/>'
            f'<rect class="mean" x="{middle - 1:.1f}" y="1" width="2" height="12"/></svg>'
        )

    def _at(self, value: float) -> float:
        return 2 + 196 * (value - self._low) / self._span


class HistoryChart:
    """Draws rating histories as small multiples: each bot's own line, with those of all others behind it."""

    GROUND = "every-history"
    """The id of the lines that all of the charts share."""

    def __init__(self, histories: Mapping[str, Points]) -> None:
        """Choose the scale.

        Args:
            histories: of all bots, by their names.
        """
        self._histories = histories
        values = [mu for points in histories.values() for _, mu in points]
        self._matches = max((x for points in histories.values() for x, _ in points), default=1)
        low, high = min(values, default=0.0), max(values, default=1.0)
        step = _step(high - low)
        self._low, self._high = step * floor(low / step), step * max(ceil(high / step), floor(low / step) + 1)
        self._ticks = [self._low + step * k for k in range(round((self._high - self._low) / step) + 1)]

    def ground(self) -> str:
        """Return the lines of all bots, to be in the page once."""
        lines = "".join(self._line(points) for points in self._histories.values())
        shared = f'<g id="{self.GROUND}" fill="none">{lines}</g>'
        return f'<svg class="hidden" aria-hidden="true"><defs>{shared}</defs></svg>'

    def svg(self, bot: str) -> str:
        """Return the chart of a bot, titled for screen readers; nothing without two points."""
        points = self._histories.get(bot, ())
        if len(points) < 2:
            return ""
        (first, started), (last, ended) = points[0], points[-1]
        title = f"Rating (mu) over matches: {started:.1f} after {first:,.0f}, {ended:.1f} after {last:,.0f}"
        return (
            f'<svg class="history" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"><title>{text(title)}</title>'
            f'{self._axes()}<use class="others" href="#{self.GROUND}"/>'
            f'<g class="own">{self._line(points)}<circle cx="{self._x(last):.1f}" cy="{self._y(ended):.1f}" r="3"/></g>'
            "</svg>"
        )

    def _axes(self) -> str:
        grid = "".join(
            f'<path class="grid" d="M{_LEFT} {self._y(tick):.1f}H{_WIDTH - _RIGHT}"/>'
            f'<text class="end" x="{_LEFT - 5}" y="{self._y(tick) + 3.5:.1f}">{tick:g}</text>'
            for tick in self._ticks
        )
        base = _HEIGHT - _BOTTOM + 13
        return (
            f'{grid}<text x="{_LEFT}" y="{base}">0</text>'
            f'<text class="end" x="{_WIDTH - _RIGHT}" y="{base}">{self._matches:,.0f}</text>'
            f'<text class="middle" x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{base}">matches of the tournament</text>'
            f'<text class="unit" x="{_LEFT - 5}" y="{base}">mu</text>'
        )

    def _line(self, points: Points) -> str:
        return '<polyline points="' + " ".join(f"{self._x(x):.1f},{self._y(mu):.1f}" for x, mu in points) + '"/>'

    def _x(self, matches: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * matches / self._matches

    def _y(self, mu: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (self._high - mu) / (self._high - self._low)


def _step(span: float) -> float:
    """Return a round distance between ticks, so that there are two to five."""
    return next((step for step in (0.5, 1, 2, 5, 10, 20, 50) if span <= 4 * step), span or 1.0)
