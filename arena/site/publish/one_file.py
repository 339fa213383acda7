"""The report and the puzzles of a tournament, each in one file that asks for nothing."""

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
from arena.site.matches.game import build_puzzle
from arena.site.matches.games_model import PuzzleParameters, PuzzlesPage, PuzzlesParameters
from arena.site.matches.match_model import ViewedMatch
from arena.site.matches.viewed_match import viewed_match
from arena.site.pages.charts import Point
from arena.site.pages.report import Report, ReportBuilder
from arena.site.pages.results import listed_result
from arena.site.pages.results_model import ListedResult
from arena.site.pages.tournament_model import TournamentParameters
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


# The puzzles of a tournament as one file that loads nothing; solutions unfold.


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
