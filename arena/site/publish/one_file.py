"""The report of a tournament, its puzzles, and the quality of a game, each in one self-contained file."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from arena.base.bot_text import EVERYBODY, Audience
from arena.lab.matches.annotation import annotation_of
from arena.lab.measures.answers import Comparison, Difference, answers_of, answers_of_comparison
from arena.lab.measures.measure import Measure, Row, estimate_text, interval_text, number_text
from arena.lab.measures.report import QualityReport
from arena.site.links import Links
from arena.site.matches.game import build_puzzle
from arena.site.matches.games_model import PuzzleParameters, PuzzlesPage, PuzzlesParameters
from arena.site.matches.match_model import ViewedMatch
from arena.site.matches.viewed_match import viewed_match
from arena.site.pages.report import BotCard, ReportBuilder
from arena.site.pages.results import listed_result
from arena.site.pages.results_model import ListedResult
from arena.site.pages.tournament_model import TournamentParameters
from arena.site.publish.estimate_charts import EstimatePlot, key_mark, plots_of, stroke
from arena.site.render import Setting, asset, render_template
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

# The report of a tournament: parts of its page and of other pages of the site in one self-contained file.
#
# Style and scripts are in it, allowed by their hashes; the page's policy forbids everything else. Matches are packed in
# chunks, and a chunk is unpacked when one of its matches is opened.

CHUNK = 50
"""Matches packed together."""

MAX_BYTES = 1_200_000
"""Of the matches in a file, packed and listed, unless ``max_matches`` is given."""

LINE_BYTES = 350
"""About the size of a match in the list."""

DECIMALS = 4
"""Of numbers in packed matches; nothing shows more."""

WIDER = ".wide { max-width: 80rem; }\n"
"""Its tables have more columns than those of other pages."""

SCRIPTS = ("tables.js", "filter.js", "viewer.js")


class OneFileLinks(Links):
    """Addresses in a file: of bots and matches that are in it."""

    def __init__(self, cards: Sequence[BotCard], matches: Collection[int]) -> None:
        self._bots = {card.line.label: f"#bot-{number}" for number, card in enumerate(cards, 1)}
        self._matches = frozenset(matches)

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return where something is in the file; None if it is not there."""
        if suffix:
            return None
        if name == "match":
            return f"#match-{values['match']}" if values["match"] in self._matches else None
        if name in ("bot", "why"):
            return self._bots.get(values["bot"])
        return None


class _MatchInFile(NamedTuple):
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
    matches_in_file = _fitting_matches(home, tournament, builder.choice.ordered(), max_matches, audience)
    numbers = [match.shown.match for match in matches_in_file]
    preferred = builder.first_to_open
    opened = preferred if preferred in numbers else next(iter(numbers[::-1]), None)
    report = builder.report()
    style, script = f"{asset('site.css').decode()}{WIDER}", "\n".join(asset(name).decode() for name in SCRIPTS)
    chunks = [
        packed([match.shown for match in matches_in_file[start : start + CHUNK]])
        for start in range(0, len(matches_in_file), CHUNK)
    ]
    return render_template(
        "report",
        Setting(links=OneFileLinks(report.cards, numbers), is_served=False),
        room="",
        twin=None,
        parameters=TournamentParameters(tournament=tournament.name),
        model=report.page,
        report=report,
        labels={line.bot: line.label for line in report.page.standings},
        lines_shown=max(len(report.page.standings), 1),
        listed=[match.listed for match in matches_in_file],
        opened=next((match.shown for match in matches_in_file if match.shown.match == opened), None),
        chunks=chunks,
        index=Markup(json.dumps({"matches": numbers, "chunk": CHUNK, "first": opened})),
        style=Markup(style),
        style_hash=policy_hash(style),
        script=Markup(script),
        script_hash=policy_hash(script),
    )


def _fitting_matches(
    home: ArenaHome, tournament: StoredTournament, numbers: Sequence[int], max_matches: int | None, audience: Audience
) -> list[_MatchInFile]:
    """Return the matches that fit into a file, in the order of the schedule.

    Args:
        numbers: of all matches, the most interesting first.
        max_matches: how many to take; None for as many as ``MAX_BYTES`` allow.
    """
    names = tournament.definition.shown_names
    matches: list[_MatchInFile] = []
    size_bytes = 0
    for number in numbers[:max_matches]:
        record = home.store.record_of(tournament, number)
        annotation = annotation_of(home.store, tournament, record)
        annotation_shown = annotation.without_choices() if annotation else None
        shown = viewed_match(record, names, annotation=annotation_shown, audience=audience)
        matches.append(_MatchInFile(listed_result(tournament.name, record, names), shown))
        if len(matches) % CHUNK == 0:
            size_bytes += len(packed([match.shown for match in matches[-CHUNK:]])) + LINE_BYTES * CHUNK
            if max_matches is None and size_bytes > MAX_BYTES:
                break
    return sorted(matches, key=lambda match: match.shown.match)


def packed(matches: Sequence[ViewedMatch]) -> Markup:
    """Return matches as the viewer unpacks them."""
    texts = (match.model_dump_json(exclude_defaults=True) for match in matches)
    values = [json.loads(one, parse_float=lambda digits: round(float(digits), DECIMALS)) for one in texts]
    text = json.dumps(values, separators=(",", ":"))
    return Markup(base64.b64encode(zlib.compress(text.encode(), 9)).decode())


def policy_hash(inline: str) -> Markup:
    """Return the source expression that allows one inline style or script (Content Security Policy, level 3)."""
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'")


def puzzles_file(home: ArenaHome, page: PuzzlesPage) -> str:
    """Return a list of puzzles as HTML."""
    style = asset("site.css").decode()
    name = page.tournament
    return render_template(
        "puzzles_file",
        Setting(links=Links(), is_served=False),
        room="",
        twin=None,
        parameters=PuzzlesParameters(tournament=name),
        model=page,
        puzzles=[
            build_puzzle(home, PuzzleParameters(tournament=name, puzzle=listed.puzzle, answer=True))
            for listed in page.puzzles
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


class Section(NamedTuple):
    """A measure on the page; its lines are differences between variations, or the rows of one game."""

    measure: Measure
    notes: Sequence[str]
    plots: Sequence[EstimatePlot]
    lines: Sequence[Difference | Row]


def quality_page(quality: QualityReport | Comparison) -> str:
    """Return the quality of a game, or of two variations, as HTML."""
    style = f"{asset('site.css').decode()}{QUALITY_STYLE}"
    first = quality.reports[0] if isinstance(quality, Comparison) else quality
    varied = quality.option if isinstance(quality, Comparison) else None
    return render_template(
        "quality",
        Setting(links=Links(), is_served=False),
        room="",
        twin=None,
        game=first.game,
        options={name: value for name, value in first.options.items() if name != varied},
        names=_names(quality),
        plan=first.plan,
        answers=answers_of_comparison(quality) if isinstance(quality, Comparison) else answers_of(quality),
        sections=list(_sections(quality)),
        is_pair=isinstance(quality, Comparison),
        key_mark=key_mark,
        stroke=stroke,
        number=number_text,
        interval=interval_text,
        change=lambda pair: "" if pair.change is None else estimate_text(pair.change, pair.row.unit),
        style=Markup(style),
        style_hash=policy_hash(style),
    )


def _names(quality: QualityReport | Comparison) -> list[str]:
    return [f"{quality.option} = {value}" for value in quality.values] if isinstance(quality, Comparison) else []


def _sections(quality: QualityReport | Comparison) -> Iterator[Section]:
    reports = quality.reports if isinstance(quality, Comparison) else (quality,)
    differences = quality.differences() if isinstance(quality, Comparison) else None
    names = _names(quality)
    prefixes = [f"{name}: " for name in names] or [""]
    for measures in zip(*(report.measures for report in reports), strict=True):
        first = measures[0]
        notes = [f"{prefix}{one.note}" for prefix, one in zip(prefixes, measures, strict=True) if one.note]
        lines = first.rows if differences is None else [pair for pair in differences if pair.key == first.key]
        yield Section(first, notes, plots_of(measures, names), lines)
