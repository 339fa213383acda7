"""The ratings of one to eight bots after each tournament, as a chart that is as wide as its place.

The drawing is stretched, and its strokes are not; what is written beside it is text of the page, which keeps its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from markupsafe import Markup

from arena.analysis.text.tables import printable
from arena.base.text import minute_text
from arena.site.pages.rating_point import MAX_CHARTED, RatingPoint

MAX_BANDS = 3
"""With more lines, bands would hide each other; their intervals are strokes then."""

_DASHES = ("", "7 4", "2 4", "9 4 2 4", "1 5", "12 3", "5 5", "3 2")
_STEPS = (0.5, 1, 2, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class ChartedBot:
    """A line of the chart.

    Attributes:
        bot: ``name@version``.
        drawing: a short line as it is drawn in the chart, for the key.
    """

    bot: str
    drawing: Markup


class RatingChart:
    """Draws ratings after tournaments: a line for each bot, and its intervals."""

    def __init__(self, points: Sequence[RatingPoint]) -> None:
        """Choose the scale.

        Args:
            points: of one game; bots in the order of their lines, of which the first eight are drawn.
        """
        self._bots = list(dict.fromkeys(point.bot for point in points))[:MAX_CHARTED]
        self._points = [point for point in points if point.bot in self._bots]
        times = {(point.at, point.tournament): None for point in self._points}
        self._places = {tournament: place for place, (_, tournament) in enumerate(sorted(times))}
        ends = [point.mu + side * (point.margin_95 or 0.0) for point in self._points for side in (-1, 1)]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        step = next((step for step in _STEPS if high - low <= 4 * step), high - low)
        self._low, self._high = step * floor(low / step), step * max(ceil(high / step), floor(low / step) + 1)
        count = round((self._high - self._low) / step)
        self.ticks = [f"{self._high - step * number:g}" for number in range(count + 1)]

    @property
    def first(self) -> RatingPoint:
        """The earliest point."""
        return min(self._points, key=lambda point: (point.at, point.tournament))

    @property
    def last(self) -> RatingPoint:
        """The latest point."""
        return max(self._points, key=lambda point: (point.at, point.tournament))

    @property
    def lines(self) -> list[ChartedBot]:
        """The key of the lines."""
        sample = '<svg class="sample" viewBox="0 0 32 10" aria-hidden="true"><g class="seat{}">{}</g></svg>'
        stroke = '<path class="line" d="M0 5H32" stroke-dasharray="{}"/><path class="dot" d="M16 5h0"/>'
        return [
            ChartedBot(bot, Markup(sample.format(number, stroke.format(_DASHES[number]))))
            for number, bot in enumerate(self._bots)
        ]

    @property
    def grid(self) -> Markup:
        """The lines at the ticks."""
        last = len(self.ticks) - 1
        return Markup("".join(f'<path class="grid" d="M0 {100 * k / last:.2f}H100"/>' for k in range(last + 1)))

    def svg(self) -> Markup:
        """Return the drawing; what it shows is in its label, and in the table beside it."""
        groups = Markup().join(self._group(number, bot) for number, bot in enumerate(self._bots))
        return Markup(
            '<svg class="ratings" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="{label}">'
            "{grid}{groups}</svg>"
        ).format(label=self._label(), grid=self.grid, groups=groups)

    def _group(self, number: int, bot: str) -> Markup:
        own = sorted((point for point in self._points if point.bot == bot), key=lambda p: self._places[p.tournament])
        known = [point for point in own if point.margin_95 is not None]
        upper = [self._at(point, 1) for point in known]
        lower = [self._at(point, -1) for point in reversed(known)]
        has_band = len(known) > 1 and len(self._bots) <= MAX_BANDS
        band = f'<polygon class="band" points="{" ".join(upper + lower)}"/>' if has_band else ""
        spans = "".join(f'<path class="span" d="M{self._at(point, -1)}L{self._at(point, 1)}"/>' for point in known)
        line = f'<path class="line" stroke-dasharray="{_DASHES[number]}" d="M{"L".join(map(self._at, own))}"/>'
        dots = Markup().join(
            Markup('<path class="dot" d="M{at}h0"><title>{title}</title></path>').format(
                at=self._at(point), title=_title(point)
            )
            for point in own
        )
        opening = Markup(f'<g class="seat{number}">{band}{spans}{line if len(own) > 1 else ""}')
        return opening + dots + Markup("</g>")

    def _at(self, point: RatingPoint, side: int = 0) -> str:
        last = len(self._places) - 1
        x = 2 + 96 * self._places[point.tournament] / last if last else 50.0
        value = point.mu + side * (point.margin_95 or 0.0)
        return f"{x:.2f} {100 * (self._high - value) / (self._high - self._low):.2f}"

    def _label(self) -> str:
        latest = {point.bot: point for point in sorted(self._points, key=lambda p: self._places[p.tournament])}
        return "Ratings: " + "; ".join(_title(latest[bot]) for bot in self._bots)


def _title(point: RatingPoint) -> str:
    margin = "" if point.margin_95 is None else f" ± {point.margin_95:.1f}"
    when = f"after {point.tournament} ({minute_text(point.at)})"
    return printable(f"{point.bot} {point.mu:.1f}{margin}, rank {point.rank} of {point.bots}, {when}")
