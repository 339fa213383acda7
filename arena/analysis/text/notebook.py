"""How notebooks show values, and which data frames they become: the presenter of ``arena.base.display``.

Every style is inline, because some notebooks remove style sheets. Text has the colour of the notebook's text, and what
lies behind text is translucent: a fragment is readable on light and on dark paper without knowing which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeVar

from arena.analysis.measures.game_statistics import Crosstable
from arena.analysis.measures.standings import Standing, Standings
from arena.analysis.text.board import Canvas, mark
from arena.analysis.text.match_view import match_view
from arena.analysis.text.standings_columns import StatColumn, standings_columns
from arena.analysis.text.standings_table import crosstable_table, standings_table, to_pandas, to_polars
from arena.analysis.text.tables import Column, lines_of_text, name, printable, render_table, shown, text
from arena.analysis.text.verdict import standings_footer, verdict
from arena.base.errors import ArenaError
from arena.base.records import MatchRecord
from arena.base.text import counted
from arena.store.results.match_records import Records

# Tables.

GOOD, BAD = "#25866d", "#c2572d"
"""Colours that are as visible on white as on black."""

SOFT = "opacity:.7"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlCell:
    """A cell of a table; a pointer shows its title, and ``style`` adds declarations."""

    html: str
    is_number: bool = False
    style: str = ""
    title: str = ""


def table(headings: Sequence[HtmlCell], rows: Sequence[Sequence[HtmlCell]], label: str) -> str:
    """Return a table that scrolls by itself; one cell spans a row with fewer cells. Screen readers read the label."""
    head = "".join(_element("th", cell, f"{SOFT};font-weight:400;vertical-align:bottom") for cell in headings)
    body = "\n".join(_row(cells, len(headings)) for cells in rows)
    return (
        f'<div style="overflow-x:auto" role="region" aria-label="{text(label)}, table">'
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0">'
        f"<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def _row(cells: Sequence[HtmlCell], columns: int) -> str:
    if len(cells) < columns:
        return f'<tr><td colspan="{columns}" style="text-align:left;padding:.3em .5em;{SOFT}">{cells[0].html}</td></tr>'
    return f"<tr>{''.join(_element('td', cell) for cell in cells)}</tr>"


def _element(tag: str, cell: HtmlCell, style: str = "") -> str:
    align = "right" if cell.is_number else "left"
    declarations = ";".join(
        filter(None, (f"text-align:{align};padding:.3em .5em;white-space:nowrap", style, cell.style))
    )
    title = f' title="{text(cell.title)}"' if cell.title else ""
    return f'<{tag} style="{declarations}"{title}>{cell.html}</{tag}>'


def paragraph(sentence: str, style: str = "") -> str:
    """Return a paragraph of plain text; nothing if it is empty."""
    return f'<p style="margin:.4em 0;max-width:60em;{style}">{text(sentence)}</p>' if sentence else ""


def ends(items: Sequence[Item], first: int, last: int) -> tuple[Sequence[Item], int, Sequence[Item]]:
    """Return the first items, how many are left out (none if it were a single one), and the last ones."""
    if len(items) <= first + last + 1:
        return items, 0, items[:0]
    return items[:first], len(items) - first - last, items[len(items) - last :]


def shade(share: float) -> str:
    """Return the background of a share from 0 (bad) to 1 (good), none in the middle."""
    red, green, blue = (int((GOOD if share > 0.5 else BAD)[start : start + 2], 16) for start in (1, 3, 5))
    return f"background:rgba({red},{green},{blue},{round(abs(share - 0.5), 2)})"


class IntervalScale:
    """Draws the intervals of all lines of a table on one scale."""

    def __init__(self, lines: Sequence[Standing]) -> None:
        limits = [line.rating.mu + side * (line.margin or 0.0) for line in lines for side in (-1, 1)]
        self._low = min(limits, default=0.0)
        self._span = max(max(limits, default=1.0) - self._low, 1e-9)

    def svg(self, line: Standing) -> str:
        """Return the interval of a line; screen readers have the numbers beside it."""
        margin = line.margin or 0.0
        left, middle, right = (self._at(line.rating.mu + side * margin) for side in (-1, 0, 1))
        return (
            '<svg class="interval" width="150" height="14" viewBox="0 0 200 14" preserveAspectRatio="none"'
            f' fill="{GOOD}" aria-hidden="true">'
            '<rect class="scale" x="0" y="6.5" width="200" height="1" fill="#888" fill-opacity=".4"/>'
            f'<rect class="range" x="{left:.1f}" y="4" width="{right - left:.1f}" height="6" fill-opacity=".45"/>'
            f'<rect class="mean" x="{middle - 1:.1f}" y="1" width="2" height="12"/></svg>'
        )

    def _at(self, value: float) -> float:
        return 2 + 196 * (value - self._low) / self._span


# A match as notebooks show it: who scored what, the board at the end, and the board after each action.

FRAME_PIXELS = 150

MAX_FRAMES_CHARACTERS = 400_000
"""Of the boards after each action; of a longer match only the first and the last are shown."""


def match_html(record: MatchRecord) -> str:
    """Return a match as a fragment of HTML."""
    facts = (_address_text(record), _game_text(record), counted(len(record.actions), "action"), ending_text(record))
    about = " · ".join(filter(None, facts))
    head = f"{paragraph(about)}{_seats_table(record)}"
    try:
        view = match_view(record)
    except ArenaError as error:
        return f"<div>{head}{paragraph(f'It can not be drawn here: {error}')}</div>"
    canvas = Canvas(box=view["box"], height=view["height"], is_text=view["mono"])
    boards = view["boards"]
    notes = lines_of_text("\n".join(view["notes"][-1]))
    below = f'<pre style="white-space:pre-wrap">{notes}</pre>' if notes else ""
    return f"<div>{head}{canvas.svg(boards[-1], 'board at the end')}{below}{_frames(view, canvas, boards)}</div>"


def _address_text(record: MatchRecord) -> str:
    return f"{record.tournament}/{record.match}" if record.tournament else ""


def _game_text(record: MatchRecord) -> str:
    options = ", ".join(f"{key} {value}" for key, value in record.options.items())
    return f"{record.game} ({options})" if options else record.game


def ending_text(record: MatchRecord) -> str:
    """Return how a match ended, and the faults in it."""
    faults = [f"{record.bots[fault.seat]}: {fault.kind}" for fault in record.faults]
    return "; ".join([str(record.termination), *faults])


def result_text(record: MatchRecord) -> str:
    """Return a match in a line of text."""
    address = f"{_address_text(record)}: " if record.tournament else ""
    seats = ", ".join(f"{bot} {score:g}" for bot, score in zip(record.bots, record.scores, strict=True))
    actions = counted(len(record.actions), "action")
    return printable(f"{address}{record.game}, {seats}, {actions}, {ending_text(record)}")


def result_html(record: MatchRecord) -> str:
    """Return bot and score of each seat; a single winner is strong."""
    return ", ".join(_seat_html(record, seat) for seat in range(len(record.bots)))


def _seat_html(record: MatchRecord, seat: int) -> str:
    shown = f"{name(record.bots[seat])} {record.scores[seat]:g}"
    return f"<b>{shown}</b>" if record.ranks[seat] == 1 and record.ranks.count(1) == 1 else shown


def _seats_table(record: MatchRecord) -> str:
    headings = [HtmlCell(html=""), HtmlCell(html="bot")]
    headings += [HtmlCell(html=title, is_number=True) for title in ("rank", "score", "seconds")]
    rows = [
        [
            HtmlCell(html=_key(seat)),
            HtmlCell(html=name(record.bots[seat])),
            HtmlCell(html=str(record.ranks[seat]), is_number=True),
            HtmlCell(html=f"{record.scores[seat]:.6g}", is_number=True),
            HtmlCell(html=f"{record.seats[seat].wall_seconds:.3g}", is_number=True),
        ]
        for seat in range(len(record.bots))
    ]
    return table(headings, rows, "seats")


def _key(seat: int) -> str:
    return f'<svg width="14" height="14" viewBox="-1.2 -1.2 2.4 2.4" aria-hidden="true">{mark(0, 0, 1, seat)}</svg>'


def _frames(view: Mapping[str, Any], canvas: Canvas, boards: Sequence[Sequence[Sequence[Any]]]) -> str:
    plies = range(1, len(boards))
    at_each_end = max(2, MAX_FRAMES_CHARACTERS // len(canvas.svg(boards[-1], "", FRAME_PIXELS))) // 2
    if len(plies) > 2 * at_each_end:
        plies_shown = [*plies[:at_each_end], *plies[len(plies) - at_each_end :]]
        about = f"The board after the first and the last {at_each_end} of {counted(len(plies), 'action')}"
    else:
        plies_shown, about = list(plies), "The board after each action"
    figures = "".join(_frame(view, canvas, boards[ply], ply) for ply in plies_shown)
    return (
        f'<details><summary style="cursor:pointer">{text(about)}</summary>'
        f'<div style="display:flex;flex-wrap:wrap;gap:1em;margin:.6em 0">{figures}</div></details>'
    )


def _frame(view: Mapping[str, Any], canvas: Canvas, shapes: Sequence[Sequence[Any]], ply: int) -> str:
    seat, action = view["actions"][ply - 1]
    scores = " : ".join(view["scores"][ply])
    return (
        f'<div style="width:{FRAME_PIXELS}px">{canvas.svg(shapes, f"board after action {ply}", FRAME_PIXELS)}'
        f'<div style="font-size:.85em">{_key(seat)} {ply}. {text(action)}'
        f' <span style="{SOFT}">{text(scores)}</span></div></div>'
    )


# How notebooks show each kind of value.

__all__ = ["html", "plain_text", "to_pandas", "to_polars"]

CHART = Column("chart", "rating with 95 % interval", is_number=False)

MAX_BOTS = 60
"""The most bots in a crosstable."""

MAX_LINES = 40
LAST_LINES = 3

SHOWN_RECORDS = 5
"""The records to show at each end of many."""


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
    body = table(headings, _rows(*ends(value.lines, MAX_LINES, LAST_LINES), row), "standings")
    return f"<div>{paragraph(verdict(value))}{body}{paragraph(standings_footer(value), SOFT)}</div>"


def _stat_cell(column: StatColumn, line: Standing) -> HtmlCell:
    if column.key == "bot":
        return HtmlCell(html=f"<b>{name(line.bot)}</b>")
    if column.key == "mu":
        margin = "" if line.margin is None else f' <span style="{SOFT}">± {line.margin:.1f}</span>'
        return HtmlCell(html=f"{line.rating.mu:.1f}{margin}", is_number=True)
    value = column.formatted(column.value(line))
    return HtmlCell(html="" if value is None else text(shown(value, column.column)), is_number=column.is_number)


def _rows(
    first: Sequence[Item], left_out: int, last: Sequence[Item], row: Callable[[Item], list[HtmlCell]]
) -> list[list[HtmlCell]]:
    between = [[HtmlCell(html=f"… {left_out:,} more")]] if left_out else []
    return [*map(row, first), *between, *map(row, last)]


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
    return f"<div>{paragraph(about, SOFT)}{table(headings, rows, 'crosstable')}{paragraph(_left_out(value))}</div>"


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
    rows = _rows(*_record_ends(value), _record_row)
    about = f"{counted(len(value), 'record')}; to_pandas() and to_polars() make a table of them."
    return f"<div>{table(headings, rows, 'records')}{paragraph(about, SOFT)}</div>"


def _record_ends(value: Records) -> tuple[list[MatchRecord], int, list[MatchRecord]]:
    count = len(value)
    if count <= 2 * SHOWN_RECORDS:
        return value.first(2 * SHOWN_RECORDS), 0, []
    return value.first(SHOWN_RECORDS), count - 2 * SHOWN_RECORDS, value.last(SHOWN_RECORDS)


def _record_row(record: MatchRecord) -> list[HtmlCell]:
    return [
        HtmlCell(html=text(_address_text(record) or str(record.match))),
        HtmlCell(html=text(record.game)),
        HtmlCell(html=result_html(record)),
        HtmlCell(html=str(len(record.actions)), is_number=True),
        HtmlCell(html=text(ending_text(record))),
    ]


@plain_text.register
def _records_text(value: Records) -> str:
    first, left_out, last = _record_ends(value)
    lines = [*map(result_text, first), *([f"… {left_out:,} more"] if left_out else []), *map(result_text, last)]
    return "\n".join([counted(len(value), "record"), *lines])


html.register(MatchRecord, match_html)
plain_text.register(MatchRecord, result_text)
