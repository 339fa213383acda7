"""Plots, with matplotlib, from plain values. Needs the extra ``plots``; imported only where a plot is made.

Colours work on light and on dark paper: text and axes take the colour of the page where it sets one (SVG), and the
marks come from a palette that can be told apart with all common kinds of colour vision (Okabe and Ito, 2008).
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from arena.errors import UsageError
from arena.report.tables import printable

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:  # pragma: no cover - the sentence is tested where the package is missing
    raise UsageError("plots need the package matplotlib; try: pip install 'grid-arena[plots]'") from None

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C00", "#7F7F7F")
INK = "#010203"
"""A placeholder for the colour of the page's text in an SVG."""

MAX_LABELS = 60
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "arena",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.family": "sans-serif",
    "text.parse_math": False,
}


def ratings_plot(bots: Sequence[str], means: Sequence[float], margins: Sequence[float | None]) -> Any:
    """Return mu of each bot with its 95 % interval, the best on top."""
    figure, axes = _figure(height=0.32 * len(bots) + 1.2)
    rows = range(len(bots))
    axes.errorbar(means, rows, xerr=[margin or 0.0 for margin in margins], fmt="o", color=PALETTE[0], capsize=3)
    _name_rows(axes, bots)
    axes.set_xlabel("mu, with 95 % interval")
    axes.grid(axis="x", alpha=0.25)
    return figure


def history_plot(histories: Mapping[str, Sequence[tuple[float, float]]], x_label: str = "matches") -> Any:
    """Return each bot's mu over matches, from (x, mu) pairs."""
    figure, axes = _figure(height=4.2)
    for number, (bot, points) in enumerate(histories.items()):
        style = ("-", "--", ":", "-.")[number // len(PALETTE) % 4]
        axes.plot(
            [x for x, _ in points],
            [mu for _, mu in points],
            style,
            marker="o",
            markersize=3,
            color=PALETTE[number % len(PALETTE)],
            label=printable(bot),
        )
    axes.set_xlabel(x_label)
    axes.set_ylabel("mu")
    axes.grid(alpha=0.25)
    if histories:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def heat_map(bots: Sequence[str], scores: Sequence[Sequence[float | None]]) -> Any:
    """Return who scored what against whom, in percent; rows against columns."""
    size = 0.45 * len(bots)
    figure, axes = _figure(width=size + 3.5, height=size + 1.5)
    values = [[float("nan") if share is None else 100 * share for share in row] for row in scores]
    image = axes.imshow(values, cmap="PuOr_r", vmin=0, vmax=100)
    if len(bots) <= 20:
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                if value == value:
                    colour = "black" if 20 < value < 80 else "white"
                    axes.text(x, y, f"{value:.0f}", ha="center", va="center", fontsize=8, color=colour)
    _name_rows(axes, bots)
    axes.set_xticks(range(len(bots)), [str(k + 1) for k in range(len(bots))])
    figure.colorbar(image, ax=axes, label="score % of the row", shrink=0.8)
    return figure


def seats_plot(bots: Sequence[str], shares: Sequence[Sequence[float | None]]) -> Any:
    """Return the score of each bot in each seat, in percent."""
    figure, axes = _figure(height=0.4 * len(bots) + 1.4)
    seats = max((len(row) for row in shares), default=0)
    for seat in range(seats):
        marks = [(k, 100 * row[seat]) for k, row in enumerate(shares) if seat < len(row) and row[seat] is not None]  # type: ignore[operator]
        offset = 0.6 * ((seat + 0.5) / seats - 0.5)
        axes.plot(
            [x for _, x in marks],
            [k + offset for k, _ in marks],
            "os^Dv<>p"[seat % 8],
            color=PALETTE[seat % len(PALETTE)],
            label=f"seat {seat}",
        )
    _name_rows(axes, bots)
    axes.set_xlabel("score %")
    axes.set_xlim(-2, 102)
    axes.axvline(50, color=INK, alpha=0.3, linewidth=1)
    axes.grid(axis="x", alpha=0.25)
    if seats:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def times_plot(bots: Sequence[str], means: Sequence[float | None], p99s: Sequence[float | None]) -> Any:
    """Return the mean and the 99th percentile of the seconds an action took, on a logarithmic axis."""
    figure, axes = _figure(height=0.32 * len(bots) + 1.4)
    for values, marker, label in ((means, "o", "mean"), (p99s, "|", "99 of 100 are faster")):
        marks = [(k, 1000 * value) for k, value in enumerate(values) if value]
        colour = PALETTE[0 if marker == "o" else 5]
        axes.plot([x for _, x in marks], [k for k, _ in marks], marker, color=colour, label=label, markersize=9)
    _name_rows(axes, bots)
    if any(means):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("milliseconds for an action")
    axes.grid(axis="x", alpha=0.25)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def _figure(width: float = 7.0, height: float = 4.0) -> tuple[Any, Any]:
    with pyplot.rc_context(_STYLE):
        return pyplot.subplots(figsize=(width, min(height, 40.0)))


def _name_rows(axes: Any, bots: Sequence[str]) -> None:
    step = max(1, len(bots) // MAX_LABELS)
    shown = range(0, len(bots), step)
    axes.set_yticks(list(shown), [f"{printable(bots[k])}  {k + 1}" for k in shown])
    axes.set_ylim(len(bots) - 0.5, -0.5)


def rendered(figure: Any, image_format: str, for_page: bool = False) -> bytes:
    """Return a figure as the bytes of a file, and close it.

    Args:
        figure: from one of the functions above.
        image_format: "svg" or "png".
        for_page: for an SVG in a page: text and axes take the page's colour, and the background is transparent.
    """
    out = io.BytesIO()
    with pyplot.rc_context(_STYLE):
        metadata = {"Date": None} if image_format == "svg" else None
        figure.savefig(out, format=image_format, bbox_inches="tight", transparent=for_page, dpi=150, metadata=metadata)
    pyplot.close(figure)
    data = out.getvalue()
    if image_format == "svg" and for_page:
        text = re.sub("<metadata>.*?</metadata>", "", data.decode(), flags=re.DOTALL).replace(INK, "currentColor")
        data = text[text.index("<svg") :].encode()
    return data
