"""Estimates with their intervals as SVG: strokes in a table, and points over strengths, plies or sizes.

As in ``charts``, all texts are escaped here, and colours belong to the style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.lab.measures.measure import Estimate, Kind, Measure, Row, Unit
from arena.site.pages.charts import HALF, MARGIN_PERCENT, interval_svg, ticks

MIN_POINTS = 3
"""Fewer need no plot."""

_WIDTH, _HEIGHT = 640, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 10, 36
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_APART = 5
"""Points of two series at the same place are drawn this far from each other."""


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one series in a plot; the name is empty if there is only one."""

    name: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class EstimatePlot:
    """A plot of one number over strengths, plies or sizes, of one game or of two variations."""

    title: str
    series: Sequence[Series]

    @property
    def caption(self) -> str:
        """What the number is, its unit, and on how many observations it rests."""
        rows = [row for series in self.series for row in series.rows]
        unit = {Unit.SHARE: "", Unit.SCORE: ", in points", Unit.COUNT: ""}[rows[0].unit]
        sampled = sorted({row.estimate.n for row in rows if row.estimate.kind is Kind.SAMPLED})
        if not sampled:
            return f"{self.title}{unit} (exact)"
        n = f"{sampled[0]}" if len(sampled) == 1 else f"{sampled[0]} to {sampled[-1]}"
        return f"{self.title}{unit} (strokes are 95 % intervals, n {n})"

    def drawing(self) -> Markup:
        """Return the plot: a dot for each number, and its interval as a stroke."""
        places = list(dict.fromkeys(row.at for series in self.series for row in series.rows))
        scale = _Scale([row for series in self.series for row in series.rows], len(places))
        drawn = Markup("").join(
            scale.dots(series.rows, places, number, len(self.series)) for number, series in enumerate(self.series)
        )
        return (
            Markup('<svg class="history estimates" viewBox="0 0 {} {}" role="img">').format(_WIDTH, _HEIGHT)
            + Markup("<title>{}</title>").format(f"{self.title}; the numbers are in the table below")
            + scale.axes(places)
            + drawn
            + Markup("</svg>")
        )


def plots_of(measures: Sequence[Measure], names: Sequence[str]) -> list[EstimatePlot]:
    """Return the plots of a measure, of one game (without names) or of two variations."""
    if len(measures) == 1 and measures[0].key == "openings":
        return _openings_plot(measures[0])
    titles = dict.fromkeys(row.name for measure in measures for row in measure.rows)
    plotted = [
        [row for row in one.rows if row.at and " against " not in row.at and row.estimate.value is not None]
        for one in measures
    ]
    plots = []
    for title in titles:
        found = [[row for row in rows if row.name == title] for rows in plotted]
        if max(map(len, found)) >= MIN_POINTS and len({row.estimate.value for rows in found for row in rows}) > 1:
            series = [Series(name, rows) for name, rows in zip(names or [""], found, strict=True)]
            plots.append(EstimatePlot(title, series))
    return plots


def _openings_plot(measure: Measure) -> list[EstimatePlot]:
    names = list(dict.fromkeys(row.name for row in measure.rows))
    series = [Series(name, [row for row in measure.rows if row.name == name]) for name in names]
    return [EstimatePlot("openings, by what they are worth with best play", series)] if series else []


def mark(number: int, x: float, y: float) -> Markup:
    """Return the mark of a series: a disc, a square or a diamond, so that colour is not all that tells them apart."""
    if number == 0:
        return Markup(f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
    corners = (
        ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)) if number == 1 else ((0, -5), (5, 0), (0, 5), (-5, 0))
    )
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return Markup(f'<polygon class="mark" points="{points}"/>')


def key_mark(number: int) -> Markup:
    """Return the mark of a series for the key of a plot."""
    return Markup(f'<svg class="sample" viewBox="0 0 32 10" aria-hidden="true">{mark(number, 16, 5)}</svg>')


def stroke(row: Row) -> Markup:
    """Return a share as a stroke and its interval as a bar, on a scale from 0 to 100 %; nothing for other units."""
    estimate = row.estimate
    if row.unit is not Unit.SHARE or estimate.value is None:
        return Markup()
    within = 100 - 2 * MARGIN_PERCENT
    low, middle, high = (MARGIN_PERCENT + within * min(max(share, 0.0), 1.0) for share in _ends(estimate))
    return interval_svg(low, middle, high, HALF)


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    value = estimate.value or 0.0
    low = value if estimate.low is None else estimate.low
    high = value if estimate.high is None else estimate.high
    return low, value, high


class _Scale:
    def __init__(self, rows: Sequence[Row], places: int) -> None:
        ends = [end for row in rows for end in _ends(row.estimate)]
        self._is_share = rows[0].unit is Unit.SHARE
        self._places = places
        self._ticks = (
            [0.0, 0.25, 0.5, 0.75, 1.0] if self._is_share else ticks(min(0.0, *ends), max(0.0, *ends), _STEPS, 5)
        )
        self._low, self._high = self._ticks[0], self._ticks[-1]

    def _x(self, place: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place + 0.5) / self._places

    def _y(self, value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (self._high - value) / (self._high - self._low)

    def dots(self, rows: Sequence[Row], places: Sequence[str], number: int, count: int) -> Markup:
        shift = _APART * (2 * number - count + 1)
        drawn = []
        for row in rows:
            x = self._x(places.index(row.at)) + shift
            low, value, high = (self._y(end) for end in _ends(row.estimate))
            drawn.append(f'<path class="span" d="M{x:.1f} {low:.1f}V{high:.1f}"/>')
            drawn.append(mark(number, x, value))
        return Markup(f'<g class="seat{number}">{"".join(drawn)}</g>')

    def axes(self, places: Sequence[str]) -> Markup:
        grid = "".join(
            f'<path class="grid" d="M{_LEFT} {self._y(tick):.1f}H{_WIDTH - _RIGHT}"/>'
            f'<text class="end" x="{_LEFT - 6}" y="{self._y(tick) + 4:.1f}">{self._tick_text(tick)}</text>'
            for tick in self._ticks
        )
        unit, labels = _labels(places)
        base = _HEIGHT - _BOTTOM + 16
        text = Markup('<text class="middle" x="{}" y="{}">{}</text>')
        under = [text.format(f"{self._x(k):.1f}", base, label) for k, label in enumerate(labels)]
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        return Markup(grid) + Markup("").join(under) + (text.format(middle, base + 16, unit) if unit else Markup())

    def _tick_text(self, tick: float) -> str:
        return f"{100 * tick:.0f} %" if self._is_share else f"{tick:.3g}"


def _labels(places: Sequence[str]) -> tuple[str, list[str]]:
    """Return what the places are, and what differs between them; nothing and the places as they are otherwise.

    >>> _labels(["ply 1", "ply 2"]), _labels(["random", "search 8"])
    (('ply', ['1', '2']), ('strength; a search with its playouts before each action', ['random', 'search 8']))
    >>> _labels(["after 1 random action", "after 2 random actions"])
    ('random actions', ['1', '2'])
    """
    if "random" in places:
        return "strength; a search with its playouts before each action", list(places)
    if all(place.startswith("after ") and " random action" in place for place in places):
        return "random actions", [place.split()[1] for place in places]
    words = {place.partition(" ")[0] for place in places}
    if len(words) == 1 and all(place.partition(" ")[2].isdigit() for place in places):
        return words.pop(), [place.partition(" ")[2] for place in places]
    return "", list(places)
