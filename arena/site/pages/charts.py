"""Charts as SVG whose colours belong to the style sheet: intervals, bars, rating histories."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from math import ceil, floor
from types import MappingProxyType

from markupsafe import Markup, escape

from arena.analysis.measures.values import RatingPoint
from arena.analysis.text.tables import printable
from arena.base.text import minute_text
from arena.site.pages.standings_model import MAX_CHARTED, CrosstableCell

# Everything in them is a number, or escaped here; positions across are percentages, so that strokes keep their width.

MARGIN_PERCENT = 1.5
"""Of the width of an interval chart, left free on either side."""

_WIDTH, _HEIGHT = 300, 120
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 8, 8, 30
_STEPS = (0.5, 1, 2, 5, 10, 20, 50)


def ticks(low: float, high: float, steps: Sequence[float], most: int) -> list[float]:
    """Return round numbers along an axis from below ``low`` to above ``high``, at most about that many steps apart."""
    step = next((step for step in steps if high - low <= most * step), high - low)
    first = floor(low / step)
    return [step * number for number in range(first, max(ceil(high / step), first + 1) + 1)]


def interval(mu: float, margin: float | None, low: float, high: float, over: str = "") -> Markup:
    """Return a rating as a stroke and its interval, if known, as a bar, on the scale from ``low`` to ``high``.

    Screen readers read the numbers next to it.
    """
    span = max(high - low, 1e-9)

    def across(value: float) -> float:
        return MARGIN_PERCENT + (100 - 2 * MARGIN_PERCENT) * min(max((value - low) / span, 0.0), 1.0)

    if not margin:
        return interval_svg(None, across(mu), None, over)
    return interval_svg(across(mu - margin), across(mu), across(mu + margin), over)


HALF = '<rect class="half" x="50%" y="2" width="1" height="10"/>'


def interval_svg(left: float | None, middle: float, right: float | None, over: str = "") -> Markup:
    """Return a stroke in a bar that ends at these percentages of the width, without ends no bar."""
    bar = ""
    if left is not None and right is not None:
        bar = f'<rect class="range" x="{left:.1f}%" y="4" width="{right - left:.1f}%" height="6"/>'
    return Markup(
        '<svg class="interval" aria-hidden="true"><rect class="scale" y="6.5" width="100%" height="1"/>'
        f'{bar}<rect class="mean" x="{middle:.1f}%" y="1" width="3" height="12" transform="translate(-1.5)"/>'
        f"{over}</svg>"
    )


def bar(share: float) -> Markup:
    """Return a bar that is filled up to a share, from 0 to 1. For screen readers, the numbers are beside it."""
    percent = 100 * min(max(share, 0.0), 1.0)
    return Markup(
        '<svg class="bar" aria-hidden="true"><rect class="scale" width="100%" height="100%"/>'
        f'<rect class="mean" width="{percent:.1f}%" height="100%"/></svg>'
    )


def shares(counts: Sequence[int]) -> Markup:
    """Return wins, draws and losses as a bar of three parts. For screen readers, the numbers are beside it."""
    total = max(sum(counts), 1)
    parts, left = [], 0.0
    for kind, count in zip(("win", "drawn", "loss"), counts, strict=True):
        width = 100 * count / total
        parts.append(f'<rect class="{kind}" x="{left:.2f}%" width="{width:.2f}%" height="100%"/>')
        left += width
    return Markup(f'<svg class="shares" aria-hidden="true">{"".join(parts)}</svg>')


def share_interval(percent: float, margin: float | None) -> Markup:
    """Return a score from 0 to 100 with its interval, and a mark at one half."""
    return interval(percent, margin, 0.0, 100.0, HALF)


def deviation(value: float, largest: float) -> Markup:
    """Return a bar from the middle to the left or, if positive, to the right; that of ``largest`` ends at the edge.

    Screen readers read the numbers next to it.
    """
    width = 50 * min(abs(value) / max(largest, 1e-9), 1.0)
    left = 50.0 if value >= 0 else 50 - width
    kind = "up" if value >= 0 else "down"
    return Markup(
        '<svg class="interval" aria-hidden="true"><rect class="scale" y="6.5" width="100%" height="1"/>'
        f'<rect class="{kind}" x="{left:.1f}%" y="3" width="{width:.1f}%" height="8"/>'
        '<rect class="scale" x="50%" width="1" height="14"/></svg>'
    )


def heat_step(share: float) -> str:
    """Return the class of a cell of a heat map, of eleven from none to all.

    >>> heat_step(0), heat_step(0.49), heat_step(1)
    ('h0', 'h5', 'h10')
    """
    return f"h{round(10 * min(max(share, 0.0), 1.0))}"


def heat_cells(cells: Sequence[CrosstableCell | None], address: str | None, rivals: Sequence[str]) -> Markup:
    """Return a row of a crosstable as cells of a heat map: as Markup, because there are thousands of them.

    Args:
        cells: of a bot, against each rival.
        address: of the list of the bot's matches, to which the rival is added; None without one.
        rivals: as they are added to the address; empty for one without.
    """
    return Markup("".join(starmap(partial(_heat_cell, escape(address or "")), zip(cells, rivals, strict=True))))


def _heat_cell(address: str, cell: CrosstableCell | None, rival: str) -> str:
    if cell is None:
        return "<td></td>"
    share = cell.points / cell.matches
    shown = f"{100 * share:.0f}"
    if address and rival:
        shown = f'<a href="{address}&amp;rival={rival}">{shown}</a>'
    return f'<td class="{heat_step(share)}">{shown}</td>'


@dataclass(frozen=True, slots=True)
class Point:
    """A rating after ``x`` matches; half the width of its interval if known."""

    x: float
    mu: float
    margin: float | None = None


def history(own: Sequence[Point], others: Sequence[Sequence[Point]] = (), unit: str = "matches") -> Markup:
    """Return a rating over matches (or another unit), as a line in its band; nothing without two points.

    Lines of ``others`` are behind it, for comparison.
    """
    if len(own) < 2:
        return Markup()
    scale = _HistoryScale([own, *others])
    first, last = own[0], own[-1]
    title = f"Rating (mu): {first.mu:.1f} after {first.x:,.0f}, {last.mu:.1f} after {last.x:,.0f} {unit}"
    behind = "".join(f'<polyline class="others" points="{scale.line(points)}"/>' for points in others)
    return Markup(
        '<svg class="history" viewBox="0 0 {width} {height}" role="img"><title>{title}</title>{axes}'
        '{band}{behind}<polyline class="own" points="{line}"/>'
        '<circle class="own" cx="{x:.1f}" cy="{y:.1f}" r="3"/></svg>'
    ).format(
        width=_WIDTH,
        height=_HEIGHT,
        title=title,
        axes=scale.axes(unit),
        band=Markup(scale.band(own)),
        behind=Markup(behind),
        line=scale.line(own),
        x=scale.x(last.x),
        y=scale.y(last.mu),
    )


class _HistoryScale:
    def __init__(self, lines: Sequence[Sequence[Point]]) -> None:
        points = [point for line in lines for point in line]
        self._last = max(point.x for point in points) or 1
        ends = [point.mu + side * (point.margin or 0.0) for point in lines[0] for side in (-1, 1)]
        ends += [point.mu for point in points]
        self._ticks = ticks(min(ends), max(ends), _STEPS, 4)
        self._low, self._high = self._ticks[0], self._ticks[-1]

    def x(self, matches: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * matches / self._last

    def y(self, mu: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (self._high - mu) / (self._high - self._low)

    def line(self, points: Sequence[Point]) -> str:
        return " ".join(f"{self.x(point.x):.1f},{self.y(point.mu):.1f}" for point in points)

    def band(self, points: Sequence[Point]) -> str:
        known = [point for point in points if point.margin is not None]
        upper = [Point(point.x, point.mu + (point.margin or 0.0)) for point in known]
        lower = [Point(point.x, point.mu - (point.margin or 0.0)) for point in reversed(known)]
        return f'<polygon class="band" points="{self.line([*upper, *lower])}"/>' if len(known) > 1 else ""

    def axes(self, unit: str) -> Markup:
        grid = "".join(
            f'<path class="grid" d="M{_LEFT} {self.y(tick):.1f}H{_WIDTH - _RIGHT}"/>'
            f'<text class="end" x="{_LEFT - 5}" y="{self.y(tick) + 3.5:.1f}">{tick:g}</text>'
            for tick in self._ticks
        )
        base, middle = _HEIGHT - _BOTTOM + 13, (_LEFT + _WIDTH - _RIGHT) / 2
        return Markup(grid) + Markup(
            '<text x="{left}" y="{base}">0</text><text class="end" x="{right}" y="{base}">{last}</text>'
            '<text class="middle" x="{middle:g}" y="{base}">{unit}</text>'
            '<text class="end" x="{before}" y="{base}">mu</text>'
        ).format(
            left=_LEFT,
            right=_WIDTH - _RIGHT,
            before=_LEFT - 5,
            base=base,
            middle=middle,
            unit=unit,
            last=f"{self._last:,.0f}",
        )


# The ratings of one to eight bots after each tournament, as a chart that is as wide as its place.
#
# The drawing is stretched, and its strokes are not; what is written beside it is text of the page, which keeps its
# size.

MAX_BANDS = 3
"""With more lines, bands would hide each other; their intervals are strokes then."""

_DASHES = ("", "7 4", "2 4", "9 4 2 4", "1 5", "12 3", "5 5", "3 2")


@dataclass(frozen=True, slots=True)
class ChartedBot:
    """A line of the chart; ``drawing`` is a short line in its style, for the key."""

    bot: str
    drawing: Markup


class RatingChart:
    """Draws ratings after tournaments, or after rounds of one: a line for each bot, its intervals, and marks."""

    def __init__(self, points: Sequence[RatingPoint], sent: Mapping[str, str] = MappingProxyType({})) -> None:
        """Choose the scale for points of one game; draws the first eight bots, in the order of their lines.

        ``sent`` has the times at which bots were submitted, by ``name@version``: there is a mark for each.
        """
        self._sent = sent
        self._bots = list(dict.fromkeys(point.bot for point in points))[:MAX_CHARTED]
        self._points = [point for point in points if point.bot in self._bots]
        times = {_end(point): point.at for point in self._points}
        order = sorted(times, key=lambda end: (end[1] or 0, times[end], end[0]))
        self._places = {end: place for place, end in enumerate(order)}
        self._times = [times[end] for end in order]
        ends = [point.mu + side * (point.margin_95 or 0.0) for point in self._points for side in (-1, 1)]
        marked = ticks(min(ends, default=0.0), max(ends, default=1.0), _STEPS, 4)
        self._low, self._high = marked[0], marked[-1]
        self.ticks = [f"{tick:g}" for tick in reversed(marked)]

    @property
    def first(self) -> RatingPoint:
        """The earliest point."""
        return min(self._points, key=lambda point: self._places[_end(point)])

    @property
    def last(self) -> RatingPoint:
        """The latest point."""
        return max(self._points, key=lambda point: self._places[_end(point)])

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
            "{grid}{marks}{groups}</svg>"
        ).format(label=self._label(), grid=self.grid, marks=self._marks, groups=groups)

    @property
    def marks(self) -> dict[str, RatingPoint]:
        """The first point after each bot was sent, by its name; those that were sent before the first are left out."""
        found = {}
        for bot, at in self._sent.items():
            place = bisect_left(self._times, at)
            if 0 < place < len(self._times):
                found[bot] = next(point for point in self._points if self._places[_end(point)] == place)
        return found

    @property
    def _marks(self) -> Markup:
        return Markup().join(
            Markup('<path class="sent" stroke-dasharray="3 3" d="M{x:.2f} 0V100"><title>{title}</title></path>').format(
                x=self._x(point), title=printable(f"{bot} was submitted ({minute_text(self._sent[bot])})")
            )
            for bot, point in self.marks.items()
        )

    def _group(self, number: int, bot: str) -> Markup:
        own = sorted((point for point in self._points if point.bot == bot), key=lambda p: self._places[_end(p)])
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

    def _x(self, point: RatingPoint) -> float:
        last = len(self._places) - 1
        return 2 + 96 * self._places[_end(point)] / last if last else 50.0

    def _at(self, point: RatingPoint, side: int = 0) -> str:
        value = point.mu + side * (point.margin_95 or 0.0)
        return f"{self._x(point):.2f} {100 * (self._high - value) / (self._high - self._low):.2f}"

    def _label(self) -> str:
        latest = {point.bot: point for point in sorted(self._points, key=lambda p: self._places[_end(p)])}
        return "Ratings: " + "; ".join(_title(latest[bot]) for bot in self._bots)


def _end(point: RatingPoint) -> tuple[str, int | None]:
    return point.tournament, point.round


def _title(point: RatingPoint) -> str:
    margin = "" if point.margin_95 is None else f" ± {point.margin_95:.1f}"
    after = point.tournament if point.round is None else f"round {point.round}"
    when = f"after {after} ({minute_text(point.at)})"
    return printable(f"{point.bot} {point.mu:.1f}{margin}, rank {point.rank} of {point.bots}, {when}")
