"""The report of a tournament, its puzzles, and the quality of a game, each in one file that asks for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from arena.base.bot_text import EVERYBODY, Audience
from arena.lab.matches.annotation import annotation_of
from arena.lab.measures.answers import Comparison, Difference, answers_of, answers_of_comparison
from arena.lab.measures.measure import Measure, Row, estimate_text, interval_text, number_text
from arena.lab.measures.report import QualityReport
from arena.site.matches.game import build_puzzle
from arena.site.matches.games_model import PuzzleParameters, PuzzlesPage, PuzzlesParameters
from arena.site.matches.match_model import ViewedMatch
from arena.site.matches.viewed_match import viewed_match
from arena.site.pages.charts import Point
from arena.site.pages.report import Report, ReportBuilder
from arena.site.pages.results import listed_result
from arena.site.pages.results_model import ListedResult
from arena.site.pages.tournament_model import TournamentParameters
from arena.site.publish.estimate_charts import EstimatePlot, key_mark, plots_of, stroke
from arena.site.render import Setting, asset, render_template
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

# The report of a tournament: the parts of its page and of other pages of the site in one file, which asks for nothing.
#
# Style and scripts are in it, allowed by their hashes; the page's policy forbids everything else. Matches are packed in
# chunks, and a chunk is unpacked when one of its matches is opened.

CHUNK = 50
"""Matches packed together."""

MAX_BYTES = 1_200_000
"""Of the matches in a file, packed and listed, unless a number of matches is asked for."""

LINE_BYTES = 350
"""Of a match in the list, about."""

DECIMALS = 4
"""Of numbers in packed matches; nothing shows more."""

WIDER = ".wide { max-width: 80rem; }\n"
"""Its tables have more columns than those of other pages."""

SCRIPTS = ("tables.js", "filter.js", "viewer.js")


class OneFileLinks:
    """Addresses in a file: of bots and matches that are in it."""

    account = play = None

    def __init__(self, report: Report) -> None:
        """Note what is in the file."""
        self._bots = {card.line.label: f"#bot-{number}" for number, card in enumerate(report.cards, 1)}
        self._matches = {one.match for one in report.listed}

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return where something is in the file; None if it is not there."""
        if suffix:
            return None
        if name == "match":
            return f"#match-{values['match']}" if values["match"] in self._matches else None
        if name in ("bot", "why"):
            return self._bots.get(values["bot"])
        return None

    def asset(self, name: str) -> str:
        """Return an address where nothing is: what is needed is in the file."""
        return ""


@dataclass(frozen=True, slots=True)
class _Taken:
    listed: ListedResult
    shown: ViewedMatch


def report_file(
    home: ArenaHome, tournament: StoredTournament, max_matches: int | None = None, audience: Audience = EVERYBODY
) -> str:
    """Return the report of a tournament, as HTML.

    Args:
        max_matches: how many matches can be replayed in it; None for as many as a page of about 2 MB can have.
        audience: who reads the notes and output of bots.
    """
    builder = ReportBuilder(home, tournament, audience)
    taken = _taken(home, tournament, builder.choice.ordered(), max_matches, audience)
    numbers = [one.shown.match for one in taken]
    wanted = builder.first_to_open
    opened = wanted if wanted in numbers else next(iter(numbers[::-1]), None)
    report = builder.report([one.listed for one in taken], opened)
    style, script = f"{asset('site.css').decode()}{WIDER}", "\n".join(asset(name).decode() for name in SCRIPTS)
    chunks = [packed([one.shown for one in taken[start : start + CHUNK]]) for start in range(0, len(taken), CHUNK)]
    return render_template(
        "report.html.jinja",
        Setting(links=OneFileLinks(report), is_served=False),
        room="",
        twin=None,
        parameters=TournamentParameters(tournament=tournament.name),
        model=report.page,
        report=report,
        labels=_labels(report),
        lines_shown=max(len(report.page.standings), 1),
        histories=[[Point(matches, mu) for matches, mu in card.history] for card in report.cards],
        opened=next((one.shown for one in taken if one.shown.match == opened), None),
        chunks=chunks,
        index=Markup(json.dumps({"matches": numbers, "chunk": CHUNK, "first": opened})),
        style=Markup(style),
        style_hash=policy_hash(style),
        script=Markup(script),
        script_hash=policy_hash(script),
    )


def _taken(
    home: ArenaHome, tournament: StoredTournament, numbers: Sequence[int], max_matches: int | None, audience: Audience
) -> list[_Taken]:
    """Return the matches that fit into a file, in the order of the schedule.

    Args:
        numbers: of all matches, the most interesting first.
        max_matches: how many to take; None for as many as ``MAX_BYTES`` allow.
    """
    names = tournament.definition.shown_names
    taken: list[_Taken] = []
    size_bytes = 0
    for number in numbers[:max_matches]:
        record = home.store.record_of(tournament, number)
        annotation = annotation_of(home.store, tournament, record)
        known = annotation.without_choices() if annotation else None
        shown = viewed_match(record, names, annotation=known, audience=audience)
        taken.append(_Taken(listed_result(tournament.name, record, names), shown))
        if len(taken) % CHUNK == 0:
            size_bytes += len(packed([one.shown for one in taken[-CHUNK:]])) + LINE_BYTES * CHUNK
            if max_matches is None and size_bytes > MAX_BYTES:
                break
    return sorted(taken, key=lambda one: one.shown.match)


def _labels(report: Report) -> Mapping[str, str]:
    return {line.bot: line.label for line in report.page.standings}


def packed(matches: Sequence[ViewedMatch]) -> Markup:
    """Return matches as the viewer unpacks them."""
    values = [json.loads(one.model_dump_json(exclude_defaults=True), parse_float=_rounded) for one in matches]
    text = json.dumps(values, separators=(",", ":"))
    return Markup(base64.b64encode(zlib.compress(text.encode(), 9)).decode())


def _rounded(digits: str) -> float:
    return round(float(digits), DECIMALS)


def policy_hash(inline: str) -> Markup:
    """Return the source expression that allows one inline style or script (Content Security Policy, level 3)."""
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'")


class NoLinks:
    """Addresses in a file in which there is no other page."""

    account = play = None

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return None: there is no such page."""
        return None

    def asset(self, name: str) -> str:
        """Return an address where nothing is: what is needed is in the file."""
        return ""


def puzzles_file(home: ArenaHome, page: PuzzlesPage) -> str:
    """Return a list of puzzles as HTML."""
    style = asset("site.css").decode()
    name = page.tournament
    return render_template(
        "puzzles_file.html.jinja",
        Setting(links=NoLinks(), is_served=False),
        room="",
        twin=None,
        parameters=PuzzlesParameters(tournament=name),
        model=page,
        puzzles=[
            build_puzzle(home, PuzzleParameters(tournament=name, puzzle=one.puzzle, answer=True))
            for one in page.puzzles
        ],
        style=Markup(style),
        style_hash=policy_hash(style),
    )


QUALITY_STYLE = """.wide { max-width: 64rem; }
.estimates { min-width: 34rem; max-width: 44rem; } .estimates text { font-size: 12px; }
.estimates .span { stroke: var(--seat); stroke-width: 2; } .mark { fill: var(--seat); }
.answers dt { color: var(--ink); font-weight: 600; margin-top: .9rem; } .answers dd { max-width: 54rem; }
.answers dd + dd { margin-top: .35rem; }
.chart { width: 22%; } tbody th.who { font-weight: 400; }
tr.clear > th, tr.clear > td { font-weight: 600; }
"""


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
    style = f"{asset('site.css').decode()}{QUALITY_STYLE}"
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
