import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise, product

import pytest

pytest.importorskip("matplotlib", reason="needs matplotlib")

from arena.analysis.text import plots

LONG = "x" * 40 + "$y^2$" + "<b>" * 6


def texts(figure):
    root = ElementTree.fromstring(plots.rendered(figure, "svg"))
    return [element.text for element in root.iter() if element.tag.endswith("text") and element.text]


def histories(bots):
    return {f"bot{k}": [(10.0, 20.0 + k), (20.0, 25.0 + k / 50)] for k in range(bots)}


def names(bots):
    return [f"bot{k}" for k in range(bots)]


FIGURES = {
    "ratings": lambda n: plots.ratings_plot("T: <b>$x$", names(n), [25.0] * n, [1.0] * n),
    "course": lambda n: plots.history_plot("T: <b>$x$", histories(n), "matches", "rating (mu)"),
    "crosstable": lambda n: plots.heat_map("T: <b>$x$", names(n), [[0.5] * n] * n),
    "seats": lambda n: plots.seats_plot("T: <b>$x$", names(n), [[0.4, None]] * n),
    "times": lambda n: plots.times_plot("T: <b>$x$", names(n), [1.0] * n, [12.3] * n),
    "notes": lambda n: plots.numbers_plot("T: <b>$x$", {"depth": histories(n)}, names(n)),
}
UNITS = {
    "ratings": {"rating (mu); the bar is its 95 % interval"},
    "course": {"matches", "rating (mu)"},
    "crosstable": {"score of the row in %", "rival, by its number"},
    "seats": {"score in the seat in %", "seat 0"},
    "times": {"time for an action in ms", "mean", "99 of 100 are faster"},
    "notes": {"ply", "depth"},
}


@pytest.mark.slow(only=("course-24", "crosstable-24"))
@pytest.mark.parametrize(("kind", "bots"), [*product(FIGURES, [2, 24])][:-1])  # notes name eight bots
def test_a_plot_has_its_title_its_units_and_every_name(kind, bots):
    shown = texts(FIGURES[kind](bots))
    assert "T: <b>$x$" in shown
    assert UNITS[kind] <= set(shown)
    for bot in names(bots):
        assert any(re.fullmatch(rf"(\d+  )?{bot}(  \d+)?", text) for text in shown), bot


@pytest.mark.parametrize("kind", FIGURES)
def test_the_same_values_give_the_same_picture(kind):
    assert plots.rendered(FIGURES[kind](5), "svg") == plots.rendered(FIGURES[kind](5), "svg")


def test_few_lines_differ_in_colour_and_in_dashes_or_marker_and_their_names_do_not_cover_each_other():
    figure = FIGURES["course"](plots.MAX_LINES)
    (axes,) = figure.axes
    lines = [line for line in axes.lines if len(line.get_xdata()) > 1]
    assert len({line.get_color() for line in lines}) == len(lines) == plots.MAX_LINES
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == plots.MAX_LINES

    texts(figure)  # draws it
    boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.y0)
    assert len(boxes) == plots.MAX_LINES
    assert all(lower.y1 <= upper.y0 for lower, upper in pairwise(boxes))


@pytest.mark.slow(sample=True)
def test_many_lines_become_a_plot_for_each_with_the_others_in_grey():
    shown = [axes for axes in FIGURES["course"](24).axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [f"{k + 1}  bot{k}" for k in range(24)]
    for k, axes in enumerate(shown):
        own = axes.lines[-1]
        assert [line.get_color() for line in axes.lines].count(own.get_color()) == 1
        assert list(own.get_ydata()) == [20.0 + k, 25.0 + k / 50]
        assert len(axes.lines) == 24 + 1


def test_each_number_that_bots_report_has_a_panel_where_the_best_bots_have_a_colour_and_a_name():
    lines = {bot: [(3, 1e300), (5, 2.0), (7, 1e-90)] for bot in names(24)}
    figure = plots.numbers_plot("T", {"nodes": lines, "depth": {"bot23": [(4, -0.5)]}}, names(24))
    shown = set(texts(figure))
    assert {"T (best 8 of 24 bots; others grey)", "nodes", "depth", "ply", "bot0", "bot7"} <= shown
    assert "bot8" not in shown
    nodes, depth = figure.axes
    assert (nodes.get_yscale(), depth.get_yscale()) == ("log", "linear")
    assert len({line.get_color() for line in nodes.lines}) == plots.MAX_LINES + 1


WRITTEN = {
    "a long name": ({f"{'x' * 19}…{LONG[-10:]}  1"}, lambda: plots.ratings_plot("T", [LONG], [25.0], [None])),
    "a logarithmic axis": ({"20", "100,000"}, lambda: plots.times_plot("T", ["a"], [10.0], [200_000.0])),
    "no times": ({"bot0  1"}, lambda: plots.times_plot("T", ["bot0"], [None], [None])),
    "no seats": ({"bot0  1"}, lambda: plots.seats_plot("T", ["bot0"], [[]])),
    "no course": ({"T"}, lambda: plots.history_plot("T", {"bot0": []}, "x", "y")),
    "a shared rank and half of the points": (
        *({"a  1", "b  1", "c  3", "50"},),
        lambda: plots.seats_plot("T", ["a", "b", "c"], [[0.5], [0.5], [0.2]], ranks=[1, 1, 3]),
    ),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_what_is_long_missing_or_shared_is_written_plainly(case):
    expected, figure = WRITTEN[case]
    assert expected <= set(texts(figure()))
