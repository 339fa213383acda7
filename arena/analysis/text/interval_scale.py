"""Ratings with their intervals as SVG with colours of its own, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from arena.analysis.measures.standings import Standing
from arena.analysis.text.inline_html import GOOD


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
        """Return the interval of a line; screen readers have the numbers beside it."""
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
