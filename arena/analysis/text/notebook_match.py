"""A match as notebooks show it: who scored what, the board at the end, and the board after each action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.analysis.text.board import Canvas, mark
from arena.analysis.text.inline_html import HtmlCell, paragraph, table
from arena.analysis.text.markup import lines_of_text, name, text
from arena.analysis.text.match_view import match_view
from arena.analysis.text.tables import printable
from arena.base.errors import ArenaError
from arena.base.records import MatchRecord
from arena.base.text import counted

FRAME_PIXELS = 150

MAX_FRAMES_CHARACTERS = 400_000
"""Of the boards after each action; of a longer match only the first and the last are shown."""


def match_html(record: MatchRecord) -> str:
    """Return a match as a fragment of HTML."""
    about = " · ".join(
        filter(
            None, (_place_text(record), _game_text(record), counted(len(record.actions), "action"), ending_text(record))
        )
    )
    head = f"{paragraph(about)}{_seats_table(record)}"
    try:
        view = match_view(record)
    except ArenaError as error:
        return f"<div>{head}{paragraph(f'It can not be drawn here: {error}')}</div>"
    canvas = Canvas(box=view["box"], height=view["height"], is_text=view["mono"])
    boards = list(_boards(view))
    notes = lines_of_text("\n".join(view["notes"][-1]))
    below = f'<pre style="white-space:pre-wrap">{notes}</pre>' if notes else ""
    return f"<div>{head}{canvas.svg(boards[-1], 'board at the end')}{below}{_frames(view, canvas, boards)}</div>"


def _place_text(record: MatchRecord) -> str:
    return f"{record.tournament}/{record.match}" if record.tournament else ""


def _game_text(record: MatchRecord) -> str:
    options = ", ".join(f"{key} {value}" for key, value in record.options.items())
    return f"{record.game} ({options})" if options else record.game


def ending_text(record: MatchRecord) -> str:
    """Return how a match ended, with the faults."""
    faults = [f"{record.bots[fault.seat]}: {fault.kind}" for fault in record.faults]
    return "; ".join([str(record.termination), *faults])


def result_text(record: MatchRecord) -> str:
    """Return a match in a line of text."""
    place = f"{_place_text(record)}: " if record.tournament else ""
    seats = ", ".join(f"{bot} {score:g}" for bot, score in zip(record.bots, record.scores, strict=True))
    return printable(f"{place}{record.game}, {seats}, {counted(len(record.actions), 'action')}, {ending_text(record)}")


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
    """Return the mark of a seat, as on the board."""
    return f'<svg width="14" height="14" viewBox="-1.2 -1.2 2.4 2.4" aria-hidden="true">{mark(0, 0, 1, seat)}</svg>'


def _boards(view: Mapping[str, Any]) -> Iterator[list[Sequence[Any]]]:
    """Yield the shapes of the board before the first action and after each one."""
    there: dict[int, None] = {}
    for come, gone in view["frames"]:
        there = {number: None for number in (*there, *come) if number not in gone}
        yield [view["shapes"][number] for number in there]


def _frames(view: Mapping[str, Any], canvas: Canvas, boards: Sequence[Sequence[Sequence[Any]]]) -> str:
    """Return the board after each action, folded up."""
    plies = range(1, len(boards))
    room = max(2, MAX_FRAMES_CHARACTERS // len(canvas.svg(boards[-1], "", FRAME_PIXELS)))
    if len(plies) > room:
        plies_shown = [*plies[: room // 2], *plies[len(plies) - room // 2 :]]
        about = f"The board after the first and the last {room // 2} of {counted(len(plies), 'action')}"
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
        f' <span style="opacity:.7">{text(scores)}</span></div></div>'
    )
