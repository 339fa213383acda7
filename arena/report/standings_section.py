"""The first screen of the report: what was played, how it stands, and the table that a class reads first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.analysis.standings import Standing, Standings
from arena.records import TimeControl
from arena.report.corrections_table import corrections_line
from arena.report.html_table import Cell, html_table
from arena.report.markup import linked, text
from arena.report.page_charts import IntervalScale
from arena.report.standings_columns import standings_columns
from arena.report.standings_table import ranking_table
from arena.report.tables import Column, Row
from arena.store.values import StoredTournament
from arena.text import counted, minute_text
from arena.tournament.formats import Placing

FIRST_KEYS = ("rank", "bot", "chart", "mu", "rank_95", "wins", "draws", "losses", "score_percent", "matches", "faults")
"""Columns of the first screen, with ``place_N`` in games of three or more; the section of numbers has all of them."""

CHART = Column("chart", "rating with 95 % interval", is_number=False)


def subtitle(tournament: StoredTournament) -> str:
    """Return what was played, as HTML."""
    definition = tournament.definition
    games = ", ".join(
        f"{choice.game} ({', '.join(f'{key} {value}' for key, value in choice.options.items())})"
        for choice in definition.games
    )
    parts = [
        games,
        f"{definition.format} of {counted(len(definition.entrants), 'bot')}",
        f"{counted(definition.encounters, 'encounter')} for each pairing",
        _time_text(definition.time_control),
        f"begun {tournament.created_at[:16].replace('T', ' ')} UTC",
    ]
    return f'<p class="subtitle">{" · ".join(text(part) for part in parts)}</p>'


def _time_text(control: TimeControl) -> str:
    limits = []
    if control.per_action_seconds is not None:
        limits.append(f"{control.per_action_seconds:g} s for an action")
    if control.bank_seconds is not None:
        limits.append(f"{control.bank_seconds:g} s for a match")
    return ", ".join(limits) or "no time limit"


def progress(tournament: StoredTournament) -> str:
    """Return how far the tournament has come, as HTML."""
    of = counted(tournament.scheduled, "match")
    corrected = corrections_line(tournament.corrections).partition(" (see")[0]
    link = f' <a href="#numbers-corrections">{text(corrected)}</a>.' if corrected else ""
    if tournament.finished_at is not None:
        ended = minute_text(tournament.finished_at)
        return f'<p class="state">Finished {text(ended)} UTC: {tournament.recorded:,} of {of}.{link}</p>'
    share = 100 * tournament.recorded / tournament.scheduled if tournament.scheduled else 0.0
    return (
        f'<div class="state open"><p>Not finished: {tournament.recorded:,} of {of} so far.{link}</p>'
        '<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="scale" width="100" height="1"/><rect class="mean" width="{share:.1f}" height="1"/></svg></div>'
    )


def standings_section(
    table: Standings, ranking: Sequence[tuple[str, Placing]] | None, anchors: Mapping[str, str]
) -> str:
    """Return the first table, as HTML.

    Args:
        table: the standings.
        ranking: the format's own ranking, by which the table is sorted then.
        anchors: the sections of bots, by the name that tables show.
    """
    stats = [column for column in standings_columns(table.players) if is_first(column.key)]
    columns = [column.column for column in stats]
    columns = [*columns[:2], CHART, *columns[2:]]
    rows: list[Row] = [
        {"chart": "", "line": line, **{column.key: column.formatted(column.value(line)) for column in stats}}
        for line in table.lines
    ]
    if ranking is not None:
        columns, rows = _with_places(columns, rows, ranking)
    scale = IntervalScale(table.lines)
    cells: dict[str, Cell] = {
        "bot": lambda row: _bot_cell(row["line"], anchors),
        "chart": lambda row: scale.svg(row["line"]),
        "mu": lambda row: _rating_cell(row["line"]),
    }

    def row_class(row: Row) -> str:
        line: Standing = row["line"]
        return "apart" if ranking is None and line.los is not None and not line.same_as_next else ""

    label = "standings"
    return html_table(columns, rows, label, anchors, cells, columns[0].key, row_class) + _legend(ranking is None)


def is_first(key: str) -> bool:
    """Return whether a column is on the first screen."""
    return key in FIRST_KEYS or key.startswith("place_")


def _with_places(
    columns: Sequence[Column], rows: Sequence[Row], ranking: Sequence[tuple[str, Placing]]
) -> tuple[list[Column], list[Row]]:
    own_columns, own_rows = ranking_table(ranking)
    own = {row["bot"]: row for row in own_rows}
    others = {column.key: None for column in own_columns} | {"place": len(own) + 1}  # of records without an entrant
    placed: list[Row] = [{**own.get(row["bot"], others), **row} for row in rows]
    placed.sort(key=lambda row: (row["place"], row["rank"]))
    kept = [column for column in columns if column.key not in ("rank", "bot")]
    return [*own_columns, *kept], placed


def _bot_cell(line: Standing, anchors: Mapping[str, str]) -> str:
    version = line.label.rpartition("@")[2]
    if line.bot != line.label:
        return f'{linked(line.bot, anchors)} <span class="version">@{text(version)}</span>'
    return linked(line.bot, anchors)


def _rating_cell(line: Standing) -> str:
    margin = "" if line.margin is None else f' <span class="soft">± {line.margin:.1f}</span>'
    return f"{line.rating.mu:.1f}{margin}"


def _legend(is_by_rating: bool) -> str:
    apart = " A thick line separates bots that can be told apart at 95 %." if is_by_rating else ""
    return (
        f'<p class="legend">The stroke is the rating, the bar its 95 % interval.{apart} Headings sort;'
        ' <a href="#columns">every column explained</a>.</p>'
    )
