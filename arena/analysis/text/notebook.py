"""How notebooks show values, and which data frames they become: the presenter of ``arena.base.display``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

from arena.analysis.measures.crosstable import Crosstable
from arena.analysis.measures.standings import Standing, Standings
from arena.analysis.text.notebook_html import (
    HtmlCell,
    IntervalScale,
    ending_text,
    ends,
    match_html,
    paragraph,
    result_html,
    result_text,
    shade,
    table,
)
from arena.analysis.text.standings_columns import StatColumn, standings_columns
from arena.analysis.text.standings_table import crosstable_table, standings_table, to_pandas, to_polars
from arena.analysis.text.tables import Column, name, printable, render_table, shown, text
from arena.analysis.text.verdict import standings_footer, verdict
from arena.base.records import MatchRecord
from arena.base.text import counted
from arena.store.results.match_records import Records

__all__ = ["html", "plain_text", "to_pandas", "to_polars"]

CHART = Column("chart", "rating with 95 % interval", is_number=False)

MAX_BOTS = 60
"""In a crosstable."""

MAX_LINES = 40
LAST_LINES = 3

SHOWN_RECORDS = 5
"""At each end of many."""


@singledispatch
def html(value: Any) -> str:
    """Return a value as a fragment of HTML."""
    raise NotImplementedError(type(value).__name__)


@singledispatch
def plain_text(value: Any) -> str:
    """Return a value as text."""
    raise NotImplementedError(type(value).__name__)


@html.register
def _standings_html(value: Standings) -> str:
    has_faults = any(line.faults for line in value.lines)
    stats = [
        column
        for column in standings_columns(value.players)
        if column.is_shown and not column.is_detail and (column.key != "faults" or has_faults)
    ]
    scale = IntervalScale(value.lines)

    def row(line: Standing) -> list[HtmlCell]:
        cells = [_stat_cell(column, line) for column in stats]
        return [*cells[:2], HtmlCell(html=scale.svg(line)), *cells[2:]]

    columns = [column.column for column in stats]
    columns = [*columns[:2], CHART, *columns[2:]]
    headings = [HtmlCell(html=text(column.title), is_number=column.is_number) for column in columns]
    body = table(headings, _shortened(value.lines, row, MAX_LINES, LAST_LINES, "bot"), "standings")
    return f"<div>{paragraph(verdict(value))}{body}{paragraph(standings_footer(value), 'opacity:.7')}</div>"


def _stat_cell(column: StatColumn, line: Standing) -> HtmlCell:
    if column.key == "bot":
        return HtmlCell(html=f"<b>{name(line.bot)}</b>")
    if column.key == "mu":
        margin = "" if line.margin is None else f' <span style="opacity:.7">± {line.margin:.1f}</span>'
        return HtmlCell(html=f"{line.rating.mu:.1f}{margin}", is_number=True)
    value = column.formatted(column.value(line))
    return HtmlCell(html="" if value is None else text(shown(value, column.column)), is_number=column.is_number)


def _shortened(
    items: Sequence[Any], row: Callable[[Any], list[HtmlCell]], first: int, last: int, noun: str
) -> list[list[HtmlCell]]:
    """Return the rows of the first and the last items, and between them one that says how many are left out."""
    head, left_out, tail = ends(items, first, last)
    between = [[HtmlCell(html=f"… {left_out:,} more")]] if left_out else []
    return [*map(row, head), *between, *map(row, tail)]


@plain_text.register
def _standings_text(value: Standings) -> str:
    columns, rows = standings_table(value)
    head, left_out, tail = ends(rows, MAX_LINES, LAST_LINES)
    more = f"\n… {left_out:,} more, and the last:\n{render_table(columns, tail)}" if left_out else ""
    return f"{printable(verdict(value))}\n\n{render_table(columns, head)}{more}\n\n{standings_footer(value)}".strip()


@html.register
def _crosstable_html(value: Crosstable) -> str:
    bots = list(value.shown_names.items())[:MAX_BOTS]
    headings = [HtmlCell(html="#", is_number=True), HtmlCell(html="bot")]
    headings += [HtmlCell(html=str(n), is_number=True, title=shown_name) for n, (_, shown_name) in enumerate(bots, 1)]
    rows = [
        [HtmlCell(html=str(number), is_number=True), HtmlCell(html=f"<b>{name(shown_name)}</b>")]
        + [_score_cell(value, label, rival) for rival, _ in bots]
        for number, (label, shown_name) in enumerate(bots, 1)
    ]
    about = "Points per match in percent, of the bot in the row against the bot in the column."
    return (
        f"<div>{paragraph(about, 'opacity:.7')}{table(headings, rows, 'crosstable')}{paragraph(_left_out(value))}</div>"
    )


def _score_cell(value: Crosstable, label: str, rival: str) -> HtmlCell:
    score = value.scores.get((label, rival))
    if score is None or not score.matches:
        return HtmlCell(html="", is_number=True)
    share, exact = score.points / score.matches, f"{score.points:g} of {score.matches}"
    return HtmlCell(html=f"{100 * share:.0f}", is_number=True, style=shade(share), title=exact)


def _left_out(value: Crosstable) -> str:
    bots = len(value.shown_names)
    return f"The first {MAX_BOTS} of {counted(bots, 'bot')}; to_pandas() has all of them." if bots > MAX_BOTS else ""


@plain_text.register
def _crosstable_text(value: Crosstable) -> str:
    names = dict(list(value.shown_names.items())[:MAX_BOTS])
    columns, rows = crosstable_table(value.scores, names)
    return f"{render_table(columns, rows)}\n\n{_left_out(value)}".strip()


RECORD_HEADINGS = (("match", False), ("game", False), ("result", False), ("plies", True), ("ended", False))


@html.register
def _records_html(value: Records) -> str:
    headings = [HtmlCell(html=title, is_number=is_number) for title, is_number in RECORD_HEADINGS]
    count, first, last = _record_ends(value)
    left_out = count - len(first) - len(last)
    between = [[HtmlCell(html=f"… {left_out:,} more")]] if left_out else []
    rows = [*map(_record_row, first), *between, *map(_record_row, last)]
    return f"<div>{table(headings, rows, 'records')}{paragraph(_records_about(count), 'opacity:.7')}</div>"


def _record_ends(value: Records) -> tuple[int, list[MatchRecord], list[MatchRecord]]:
    """Return how many records there are, the first ones, and the last ones that are not among these."""
    count = len(value)
    first = value.first(2 * SHOWN_RECORDS if count <= 2 * SHOWN_RECORDS else SHOWN_RECORDS)
    return count, first, value.last(min(SHOWN_RECORDS, count - len(first))) if count > len(first) else []


def _record_row(record: MatchRecord) -> list[HtmlCell]:
    place = f"{record.tournament}/{record.match}" if record.tournament else str(record.match)
    return [
        HtmlCell(html=text(place)),
        HtmlCell(html=text(record.game)),
        HtmlCell(html=result_html(record)),
        HtmlCell(html=str(len(record.actions)), is_number=True),
        HtmlCell(html=text(ending_text(record))),
    ]


def _records_about(count: int) -> str:
    return f"{counted(count, 'record')}; to_pandas() and to_polars() make a table of them."


@plain_text.register
def _records_text(value: Records) -> str:
    count, first, last = _record_ends(value)
    left_out = count - len(first) - len(last)
    lines = [*map(result_text, first), *([f"… {left_out:,} more"] if left_out else []), *map(result_text, last)]
    return "\n".join([counted(count, "record"), *lines])


html.register(MatchRecord, match_html)
plain_text.register(MatchRecord, result_text)
