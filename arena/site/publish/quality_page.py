"""The quality of a game, or of two variations, as one HTML file, which asks for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.lab.measures.answers import Comparison, Difference, answers_of, answers_of_comparison
from arena.lab.measures.measure import Measure, Row, estimate_text, interval_text, number_text
from arena.lab.measures.report import QualityReport
from arena.site.pages.estimate_charts import EstimatePlot, key_mark, plots_of, stroke
from arena.site.publish.one_file import policy_hash
from arena.site.render import Setting, asset, render_template

STYLE = """.wide { max-width: 64rem; }
.estimates { min-width: 34rem; max-width: 44rem; } .estimates text { font-size: 12px; }
.estimates .span { stroke: var(--seat); stroke-width: 2; } .mark { fill: var(--seat); }
.answers dt { color: var(--ink); font-weight: 600; margin-top: .9rem; } .answers dd { max-width: 54rem; }
.answers dd + dd { margin-top: .35rem; }
.chart { width: 22%; } tbody th.who { font-weight: 400; }
tr.clear > th, tr.clear > td { font-weight: 600; }
"""


class NoLinks:
    """Addresses in a file that stands alone: there are none."""

    account = play = None

    def page(self, name: str, suffix: str = "", **values: object) -> None:
        """Return None: no other page is to be had."""

    def asset(self, name: str) -> str:
        """Return an address where nothing is: what is needed is in the file."""
        return ""


@dataclass(frozen=True, slots=True)
class Line:
    """A number in the table of a measure.

    Attributes:
        at: what it is of.
        numbers: as text, of each variation.
        intervals: as text, of each variation; for two, the number with it.
        strokes: drawings of each variation.
        change: how much larger the second one is, with its interval; empty for one game.
        is_clear: whether that is more than chance.
        meaning: what it means to a player.
    """

    name: str
    at: str
    numbers: tuple[str, ...]
    intervals: tuple[str, ...]
    strokes: tuple[Markup, ...]
    change: str = ""
    is_clear: bool = False
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A measure on the page."""

    measure: Measure
    notes: tuple[str, ...]
    plots: Sequence[EstimatePlot]
    lines: Sequence[Line]


def quality_page(found: QualityReport | Comparison) -> str:
    """Return the quality of a game, or of two variations, as HTML."""
    style = f"{asset('site.css').decode()}{STYLE}"
    reports = found.reports if isinstance(found, Comparison) else (found,)
    one = reports[0]
    is_pair = isinstance(found, Comparison)
    options = {
        name: value
        for name, value in one.options.items()
        if not (isinstance(found, Comparison) and name == found.option)
    }
    return render_template(
        "quality.html.jinja",
        Setting(links=NoLinks(), is_served=False),
        room="",
        twin=None,
        game=one.game,
        options=options,
        names=_names(found),
        plan=one.plan,
        answers=answers_of_comparison(found) if isinstance(found, Comparison) else answers_of(found),
        sections=_compared_sections(found) if isinstance(found, Comparison) else _sections(found),
        is_pair=is_pair,
        key_mark=key_mark,
        style=Markup(style),
        style_hash=policy_hash(style),
    )


def _names(found: QualityReport | Comparison) -> list[str]:
    return [f"{found.option} = {value}" for value in found.values] if isinstance(found, Comparison) else []


def _sections(report: QualityReport) -> list[Section]:
    return [
        Section(one, (one.note,) if one.note else (), plots_of([one], []), [_line(row) for row in one.rows])
        for one in report.measures
    ]


def _line(row: Row) -> Line:
    return Line(row.name, row.at, (number_text(row),), (interval_text(row),), (stroke(row),))


def _compared_sections(found: Comparison) -> list[Section]:
    sections, names, differences = [], _names(found), found.differences()
    for one, other in zip(*(report.measures for report in found.reports), strict=True):
        notes = [f"{name}: {measure.note}" for name, measure in zip(names, (one, other), strict=True) if measure.note]
        lines = [_difference_line(pair) for pair in differences if pair.key == one.key]
        sections.append(Section(one, tuple(notes), plots_of([one, other], names), lines))
    return sections


def _difference_line(pair: Difference) -> Line:
    both = (pair.row, pair.other)
    change = "" if pair.change is None else estimate_text(pair.change, pair.row.unit)
    return Line(
        pair.row.name,
        pair.row.at,
        tuple(number_text(row) for row in both),
        tuple(interval_text(row) for row in both),
        tuple(stroke(row) for row in both),
        change,
        pair.is_clear,
        pair.meaning(),
    )
