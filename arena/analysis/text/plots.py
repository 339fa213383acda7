"""Plots, with matplotlib, from plain values. Needs the extra ``plots``; imported only where a plot is made.

Up to eight lines have a colour, a dash pattern and a marker each, and their names at their ends; the colours are
distinct for all common kinds of colour vision (Okabe and Ito, 2008). No palette has more, so more lines become small
multiples: each in a plot of its own, with all others in grey behind it.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import ceil
from typing import Any, NamedTuple, ParamSpec

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
except ImportError:  # pragma: no cover - the sentence is tested where the package is missing
    raise UsageError("plots need the package matplotlib; try: pip install 'grid-arena[plots]'") from None

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # the list names fonts that a machine may lack

_Arguments = ParamSpec("_Arguments")

Points = Sequence[tuple[float, float]]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A6A00", "#5F6368")
DASHES = ("-", "--", "-.", ":", "-", "--", "-.", ":")
MARKERS = "osD^v<>P"
MAX_LINES = len(PALETTE)
"""The most lines in one plot; more become small multiples."""

MAX_MULTIPLES = 60
MAX_PANELS = 12
"""The most numbers in one plot of what bots report."""

MAX_LABELS = 60
MAX_CHARACTERS = 30
"""Of a name beside an axis; longer names are shortened in the middle."""

MAX_NUMBERED_CELLS = 30
MAX_DRAWN = 1e100
"""Larger means are drawn as this one: the margins of axes near the largest float overflow."""
MAX_LINEAR_RATIO = 100
"""Means that differ by a larger factor have a logarithmic axis."""
_COLUMNS = 4
_GREEN, _RUST, _SOFT, _GRID = "#1F6F5C", "#AD4F28", "#63676E", "#E4E1DA"
_HEAT = LinearSegmentedColormap.from_list("arena", ["#C07A5C", "#FFFFFF", "#5C9A8A"])
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "arena",
    "text.color": "#1D1F21",
    "axes.labelcolor": _SOFT,
    "axes.edgecolor": _GRID,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 12,
    "axes.titlepad": 14,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.color": _GRID,
    "xtick.color": _SOFT,
    "xtick.labelcolor": _SOFT,
    "ytick.left": False,
    "ytick.labelcolor": "#1D1F21",
    "legend.frameon": False,
    "font.family": ["DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans Hebrew", "sans-serif"],
    "text.parse_math": False,
}


def _styled(draw: Callable[_Arguments, Any]) -> Callable[_Arguments, Any]:
    """Return a function that draws in our style; matplotlib styles texts when it makes them."""

    @wraps(draw)
    def draw_in_style(*arguments: _Arguments.args, **keywords: _Arguments.kwargs) -> Any:
        with pyplot.rc_context(_STYLE):
            return draw(*arguments, **keywords)

    return draw_in_style


@_styled
def ratings_plot(
    title: str,
    bots: Sequence[str],
    means: Sequence[float],
    margins: Sequence[float | None],
    ranks: Sequence[int] = (),
) -> Any:
    """Return mu of each bot with its 95 % interval, the best on top."""
    figure, axes = _rows(title, bots, ranks, "rating (mu); the bar is its 95 % interval", 1.4)
    rows = range(len(bots))
    spans = [margin or 0.0 for margin in margins]
    axes.errorbar(means, rows, xerr=spans, fmt="none", ecolor=_GREEN, elinewidth=6, alpha=0.4)
    axes.plot(means, rows, "|", color=_GREEN, markersize=11, markeredgewidth=2.2)
    return figure


@_styled
def history_plot(title: str, histories: Mapping[str, Points], x_label: str, y_label: str) -> Any:
    """Return a line for each name: in one plot if there are few, else in small multiples.

    ``histories`` are pairs of x and y by name; of more than ``MAX_MULTIPLES`` the last ones are left out.
    """
    if len(histories) > MAX_LINES:
        return _multiples(title, dict(list(histories.items())[:MAX_MULTIPLES]), x_label, y_label)
    figure, axes = _figure(title, height=4.4)
    axes.set(xlabel=x_label, ylabel=y_label)
    for number, points in enumerate(histories.values()):
        style = {"linestyle": DASHES[number], "marker": MARKERS[number], "color": PALETTE[number]}
        axes.plot(*_columns(points), markersize=4, **style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid()
    _name_ends(figure, axes, histories)
    return figure


@_styled
def numbers_plot(title: str, panels: Mapping[str, Mapping[str, Points]], bots: Sequence[str]) -> Any:
    """Return a panel for each number that bots report, with a line for each bot by ply.

    ``panels`` are pairs of ply and mean by number and bot; bots after the first ``MAX_LINES`` of ``bots`` are grey.
    """
    columns = min(len(panels), 2)
    if len(bots) > MAX_LINES:
        title = f"{title} (best {MAX_LINES} of {len(bots)} bots; others grey)"
    figure, grid = _grid(title, len(panels), columns, lambda rows: (5.5 * columns, 2.8 * rows + 1.4), sharey=False)
    for axes in grid.flat[len(panels) - columns : len(panels)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("ply")
    for axes, (number, lines) in zip(grid.flat, panels.items(), strict=False):
        for place, bot in reversed(list(enumerate(bots))):
            style = {"color": "#C9C7C1", "linewidth": 0.7}
            if place < MAX_LINES:
                style = {"color": PALETTE[place], "linestyle": DASHES[place], "marker": MARKERS[place]}
            points = [(ply, max(-MAX_DRAWN, min(mean, MAX_DRAWN))) for ply, mean in lines.get(bot, ())]
            axes.plot(*_columns(points), markersize=4, label=_short(bot), **style)
        values = [value for points in lines.values() for _, value in points]
        if min(values) > 1 / MAX_DRAWN and max(values) > MAX_LINEAR_RATIO * min(values):
            axes.set_yscale("log")
            _number_ticks(axes.yaxis)
        else:
            axes.yaxis.set_major_formatter(_plain_number)
        axes.set_title(_short(number), fontsize=10.5, pad=6)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid()
    handles = grid.flat[0].get_lines()[::-1][:MAX_LINES]
    figure.legend(handles=handles, loc="outside lower left", ncols=2 * columns, fontsize=9)
    return figure


def _plain_number(value: float, _: object) -> str:
    return f"{value:,.12g}"


def _number_ticks(axis: Any) -> None:
    """Write plain numbers along a logarithmic axis, whose own are powers of ten in mathematical notation."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(_plain_number)
    axis.set_minor_formatter(NullFormatter())


def _name_ends(figure: Any, axes: Any, histories: Mapping[str, Points]) -> None:
    """Write each name at the end of its line, moved up or down until it is clear of the others."""
    figure.canvas.draw()
    lines = enumerate(histories.items())
    ends = [(axes.transData.transform(points[-1])[1], number, name) for number, (name, points) in lines if points]
    right, below = axes.get_window_extent().x1 + 8, -1e9
    for height, number, name in sorted(ends):
        below = max(height, below + 19)
        x, y = axes.transAxes.inverted().transform((right, below))
        style = {"marker": MARKERS[number], "color": PALETTE[number], "transform": axes.transAxes}
        axes.plot([x], [y], markersize=5, clip_on=False, **style)
        axes.text(x + 0.015, y, _short(name), transform=axes.transAxes, va="center")


def _multiples(title: str, histories: Mapping[str, Points], x_label: str, y_label: str) -> Any:
    figure, grid = _grid(title, len(histories), _COLUMNS, lambda rows: (11, 1.65 * rows + 1.1), sharey=True)
    figure.supxlabel(x_label, fontsize=10, color=_SOFT)
    figure.supylabel(y_label, fontsize=10, color=_SOFT)
    for number, (axes, name) in enumerate(zip(grid.flat, histories, strict=False), 1):
        for points in histories.values():
            axes.plot(*_columns(points), color="#C9C7C1", linewidth=0.7)
        axes.plot(*_columns(histories[name]), color=_GREEN, linewidth=2.2)
        axes.set_title(f"{number}  {_short(name)}", fontsize=9.5, pad=4)
        axes.tick_params(labelsize=8, labelbottom=number > len(histories) - _COLUMNS)
        axes.grid()
    return figure


def _columns(points: Points) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


@_styled
def heat_map(
    title: str, bots: Sequence[str], scores: Sequence[Sequence[float | None]], ranks: Sequence[int] = ()
) -> Any:
    """Return who scored what against whom, in percent; rows against columns."""
    size = 0.4 * len(bots)
    figure, axes = _figure(title, width=size + 3, height=size + 1.5)
    values = [[float("nan") if share is None else 100 * share for share in row] for row in scores]
    image = axes.imshow(values, cmap=_HEAT, vmin=0, vmax=100, aspect="equal")
    if len(bots) <= MAX_NUMBERED_CELLS:
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                if value == value:
                    axes.text(x, y, f"{value:.0f}", ha="center", va="center", fontsize=8)
    _name_rows(axes, bots, ranks)
    numbers = map(str, ranks or range(1, len(bots) + 1))
    axes.set_xticks(range(len(bots)), list(numbers), fontsize=8 if len(bots) > 12 else 10)
    axes.set_xlabel("rival, by its rank" if ranks else "rival, by its number")
    bar = figure.colorbar(image, ax=axes, shrink=min(0.9, 2.5 / max(size, 1)), pad=0.03, ticks=[0, 50, 100])
    bar.set_label("score of the row in %")
    bar.outline.set_visible(False)
    return figure


@_styled
def seats_plot(
    title: str, bots: Sequence[str], shares: Sequence[Sequence[float | None]], ranks: Sequence[int] = ()
) -> Any:
    """Return the score of each bot in each seat, in percent; a line joins the seats of a bot."""
    figure, axes = _rows(title, bots, ranks, "score in the seat in %")
    seats = max((len(row) for row in shares), default=0)
    for k, row in enumerate(shares):
        known = [100 * share for share in row if share is not None]
        if known:
            axes.plot([min(known), max(known)], [k, k], color="#C9C7C1", linewidth=2)
    for seat in range(seats):
        marks = [
            (100 * share, k) for k, row in enumerate(shares) if seat < len(row) and (share := row[seat]) is not None
        ]
        style = {"marker": MARKERS[seat % 8], "color": PALETTE[seat % 8], "linestyle": "none"}
        axes.plot(*_columns(marks), markersize=7, label=f"seat {seat}", **style)
    axes.set(xlim=(-2, 102), xticks=(0, 25, 50, 75, 100))
    axes.axvline(50, color=_SOFT, linewidth=1, zorder=0)
    _legend(axes)
    return figure


@_styled
def times_plot(
    title: str,
    bots: Sequence[str],
    means: Sequence[float | None],
    p99s: Sequence[float | None],
    ranks: Sequence[int] = (),
) -> Any:
    """Return the mean and the 99th percentile of the milliseconds an action took, on a logarithmic axis."""
    figure, axes = _rows(title, bots, ranks, "time for an action in ms")
    for k, (mean, p99) in enumerate(zip(means, p99s, strict=True)):
        if mean and p99:
            axes.plot([mean, p99], [k, k], color="#C9C7C1", linewidth=2)
    for values, marker, colour, label in ((means, "o", _GREEN, "mean"), (p99s, "D", _RUST, "99 of 100 are faster")):
        marks = [(value, k) for k, value in enumerate(values) if value]
        axes.plot(*_columns(marks), marker, color=colour, label=label, markersize=6)
    if any(means):
        axes.set_xscale("log")
        _number_ticks(axes.xaxis)
    _legend(axes)
    return figure


class ParameterPanel(NamedTuple):
    """What a plot shows of a parameter.

    Attributes:
        means: value, mean score, and half of its 95 % interval, of the trials near this value.
        model: value and score by the model, the other parameters being those of the result.
        start: the value before.
        result: the value that was found.
        is_logarithmic: whether equal steps are equal factors.
    """

    name: str
    means: Sequence[tuple[float, float, float]]
    model: Points
    start: float
    result: float
    is_logarithmic: bool


@_styled
def parameters_plot(title: str, panels: Sequence[ParameterPanel]) -> Any:
    """Return a plot of the scores of trials over the values of each parameter."""
    figure, all_axes = pyplot.subplots(1, len(panels), figsize=(2 + 4 * len(panels), 4), sharey=True, squeeze=False)
    for axes, panel in zip(all_axes[0], panels, strict=True):
        values, scores, reaches = zip(*panel.means, strict=True) if panel.means else ((), (), ())
        axes.errorbar(values, scores, yerr=reaches, fmt="o", color=_GREEN, markersize=4, elinewidth=1.2, label="trials")
        axes.plot(*_columns(panel.model), color=_SOFT, linestyle="--", label="model")
        axes.axhline(0.5, color=_SOFT, linewidth=0.8)
        axes.axvline(panel.start, color=_SOFT, linestyle=":", label="start")
        axes.axvline(panel.result, color=_RUST, label="result")
        axes.set(xlabel=printable(panel.name), xscale="log" if panel.is_logarithmic else "linear", ylim=(0, 1))
        if panel.is_logarithmic:
            _number_ticks(axes.xaxis)
        axes.grid(axis="y")
    first = all_axes[0][0]
    first.set_title(printable(title))
    first.set_ylabel("score against the start; the bar is the 95 % interval")
    _legend(first)
    return figure


def _figure(title: str, width: float = 8.0, height: float = 4.0) -> tuple[Any, Any]:
    figure, axes = pyplot.subplots(figsize=(width, min(height, 40.0)))
    axes.set_title(printable(title))
    return figure, axes


def _rows(title: str, bots: Sequence[str], ranks: Sequence[int], x_label: str, room: float = 1.7) -> tuple[Any, Any]:
    """Return a figure with a row for each bot, the first on top."""
    figure, axes = _figure(title, height=0.3 * len(bots) + room)
    _name_rows(axes, bots, ranks)
    axes.set_xlabel(x_label)
    axes.grid(axis="x")
    return figure, axes


def _grid(title: str, count: int, columns: int, size: Callable[[int], tuple[float, float]], sharey: bool) -> Any:
    """Return a figure with a plot for each of ``count``, and the plots; ``size`` is its size by the number of rows."""
    rows = ceil(count / columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=size(rows), sharex=True, sharey=sharey, squeeze=False, layout="constrained"
    )
    figure.suptitle(printable(title), x=0.01, ha="left", weight="bold", fontsize=13)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    return figure, grid


def _legend(axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=8, handletextpad=0.2)
        axes.set_title(axes.get_title(loc="left"), loc="left", pad=34)


def _name_rows(axes: Any, bots: Sequence[str], ranks: Sequence[int] = ()) -> None:
    """Name the rows, each with its rank in the table; without one, with its number."""
    step = max(1, ceil(len(bots) / MAX_LABELS))
    shown = range(0, len(bots), step)
    axes.set_yticks(list(shown), [f"{_short(bots[k])}  {ranks[k] if ranks else k + 1}" for k in shown])
    axes.set_ylim(len(bots) - 0.5, -0.5)


def _short(bot: str) -> str:
    shown = printable(bot)
    if len(shown) <= MAX_CHARACTERS:
        return shown
    return f"{shown[: MAX_CHARACTERS - 11]}…{shown[-10:]}"


def rendered(figure: Any, image_format: str) -> bytes:
    """Return a figure as the bytes of an "svg" or "png" file, and close it."""
    file = io.BytesIO()
    metadata = {"Date": None} if image_format == "svg" else None
    with pyplot.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a box is drawn instead
        figure.savefig(file, format=image_format, bbox_inches="tight", pad_inches=0.15, dpi=150, metadata=metadata)
    pyplot.close(figure)
    return file.getvalue()
