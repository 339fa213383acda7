"""``arena replay``: step through a recorded match on the drawn board, with the bots' notes beside it."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from arena.analysis.text.tables import printable
from arena.analysis.text.text_layout import shortened
from arena.base.seat_report import fields_of
from arena.cli.bots.boards import (
    beside,
    board,
    note_text,
    position_lines,
    room_beside,
    score_lines,
)
from arena.cli.terminal.common import match_of, open_home, print_json, show_result
from arena.cli.terminal.options import json_option
from arena.cli.terminal.streams import USUAL_WIDTH, Keys, terminal_height, terminal_width
from arena.lab.solving.worth import worth_text
from arena.match.replay import states_of

if TYPE_CHECKING:
    from arena.base.records import MatchRecord
    from arena.lab.matches.annotation import Annotation

HELP = "Enter: next  b: back  5 Enter: to ply 5  g, G: start, end  p: play  q: leave"
NOTES_BELOW = 5
"""How many actions are listed below a board if there is no room for them on its right."""

PLAY_SECONDS = 0.7


@click.command("replay")
@click.argument("match")
@json_option
def replay_command(match: str, as_json: bool) -> None:
    """Step through MATCH, written TOURNAMENT/NUMBER as `arena matches` lists it.

    Enter, n or the right arrow step forward, b or the left arrow back; a number and Enter jump to that ply, g and G to
    the start and the end; p plays until a key is pressed. The actions with their times and the bots' notes are next to
    the board, on which A is seat 0, B seat 1 and so on, and the last action is in brackets. Without a terminal, it
    prints every position. In a match that arena lab annotate has annotated, actions have their marks, ? or ??, and
    positions their worth.
    """
    from arena.lab.matches.annotation import annotation_of

    tournament, number = match_of(match)
    with open_home(must_exist=True) as arena_home:
        stored = arena_home.store.tournament(tournament)
        record = arena_home.store.record_of(stored, number)
        annotation = annotation_of(arena_home.store, stored, record)
    positions = list(states_of(record))
    replayed = Replayed(record, annotation)
    if as_json:
        print_json(_as_json(replayed, positions))
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        _step_through(replayed, positions)
    else:
        for ply, (game, state) in enumerate(positions):
            click.echo("\n".join([*_plain_page(replayed, ply, game, state), ""]))
    click.echo()
    show_result(record)


class Replayed(NamedTuple):
    record: MatchRecord
    annotation: Annotation | None

    def mark(self, index: int) -> str:
        return self.annotation.mark(index) if self.annotation else ""

    def worth_lines(self, ply: int) -> list[str]:
        """Return what a position is worth, in words; nothing if it is not annotated."""
        worth = worth_text(self.annotation.worths[ply]) if self.annotation else ""
        return [f"worth: {worth}"] if worth else []


def _as_json(replayed: Replayed, positions: Sequence[Any]) -> dict[str, Any]:
    record = replayed.record
    return {
        "match": f"{record.tournament}/{record.match}",
        "game": record.game,
        "options": record.options,
        "bots": record.bots,
        "positions": [_position(replayed, ply, game, state) for ply, (game, state) in enumerate(positions)],
        "ranks": record.ranks,
        "termination": record.termination,
        "faults": [fields_of(fault) for fault in record.faults],
    }


def _position(replayed: Replayed, ply: int, game: Any, state: Any) -> dict[str, Any]:
    record, annotation = replayed
    seat, action = record.actions[ply - 1] if ply else (None, None)
    return {
        "ply": ply,
        "seat": seat,
        "action": action,
        "text": None if action is None else game.format_action(action),
        "mark": annotation.mark(ply - 1) if annotation and ply else None,
        "worth": annotation.worths[ply].to_json() if annotation else None,
        "notes": [note for noted, note in record.notes.for_operator() if noted == ply - 1],
        "observation": game.observation(state),
        "scores": game.scores(state),
    }


def _title(record: MatchRecord, ply: int) -> str:
    match = f"{record.tournament}/{record.match}  {record.game}"
    return f"{printable(match)}  ply {ply} of {len(record.actions)}"


def _plain_page(replayed: Replayed, ply: int, game: Any, state: Any) -> list[str]:
    record = replayed.record
    action = [_action_line(replayed, ply - 1, game)] if ply else []
    position = position_lines(game, state, record.actions[:ply], record.bots, USUAL_WIDTH)
    return [_title(record, ply), *action, *replayed.worth_lines(ply), "", *position]


def _note(record: MatchRecord, index: int) -> str:
    return "; ".join(note_text(note) for ply, note in record.notes.for_operator() if ply == index)


def _action_line(replayed: Replayed, index: int, game: Any) -> str:
    record, mark = replayed.record, replayed.mark(index)
    seat, action = record.actions[index]
    bot = printable(record.bots[seat])
    if action is None:
        return f"{bot} (seat {seat}) is taken out of the match"
    text = f"{bot} (seat {seat}) plays {printable(game.format_action(action))}{f' {mark}' if mark else ''}"
    if index < record.opening_plies:
        return f"{text} (opening {record.opening})"
    seconds = record.wall_seconds[index]
    text += f" in {1000 * seconds:.2f} ms" if seconds is not None else ""
    note = _note(record, index)
    return f"{text}; note: {note}" if note else text


def _page(replayed: Replayed, ply: int, game: Any, state: Any, width: int, height: int | None = None) -> list[str]:
    record = replayed.record
    scores = [*score_lines(game, state, record.bots, width), *shortened(replayed.worth_lines(ply), width)]
    rows = None if height is None else height - len(scores) - 3  # the title and two blank lines
    lines = board(game, state, width, record.actions[:ply], rows)
    room = room_beside(lines, width)
    notes = _neighbours(replayed, ply, game, max(6, len(lines) - 4) if room else NOTES_BELOW)
    note = _note(record, ply - 1) if ply else ""
    if note:
        notes += ["", *textwrap.wrap(f"note: {note}", room or width)]
    if not room and rows is not None:
        lines = board(game, state, width, record.actions[:ply], rows - len(notes) - 1)
    return [*shortened([_title(record, ply)], width), "", *beside(lines, notes, width), "", *scores]


def _neighbours(replayed: Replayed, ply: int, game: Any, count: int) -> list[str]:
    record = replayed.record
    first = max(0, min(ply - 1 - count // 2, len(record.actions) - count))
    lines = []
    for index in range(first, min(first + count, len(record.actions))):
        seat, action = record.actions[index]
        arrow = ">" if index == ply - 1 else " "
        mark = f"{replayed.mark(index):<2s} " if replayed.annotation else ""
        played = "is out" if action is None else printable(game.format_action(action))
        seconds = record.wall_seconds[index]
        time = "opening" if index < record.opening_plies else f"{seconds:.3f} s" if seconds is not None else ""
        lines.append(f"{arrow}{index + 1:3d}. {played:<5s} {mark}{time:>8s}  {printable(record.bots[seat])}")
    return lines


class _Cursor:
    def __init__(self, last: int) -> None:
        self.last = last
        self.ply = 0
        self.is_playing = False
        self.has_left = False
        self.digits = ""

    def press(self, key: str | None) -> None:
        if key is None:
            self._go(self.ply + 1)
            self.is_playing = self.ply < self.last
            return
        was_playing, self.is_playing = self.is_playing, False
        if key.isdigit() and len(self.digits) < 6:
            self.digits += key
            return
        digits, self.digits = self.digits, ""
        if key in ("q", "escape"):
            self.has_left = True
        elif digits and key in ("enter", "g"):
            self._go(int(digits))
        elif key in ("enter", "space", "n", "j", "right", "down"):
            self._go(self.ply + 1)
        elif key in ("b", "k", "left", "up", "backspace"):
            self._go(self.ply - 1)
        elif key in ("g", "home"):
            self._go(0)
        elif key in ("G", "end"):
            self._go(self.last)
        elif key == "p":
            self.is_playing = not was_playing

    def _go(self, ply: int) -> None:
        self.ply = min(max(0, ply), self.last)


def _step_through(replayed: Replayed, positions: list[Any]) -> None:
    cursor = _Cursor(len(positions) - 1)
    with Keys() as keys:
        while not cursor.has_left:
            game, state = positions[cursor.ply]
            click.clear()
            keys_help = textwrap.wrap(HELP, terminal_width())
            rows = terminal_height() - len(keys_help) - 2  # a blank line, and that of the digits
            page = _page(replayed, cursor.ply, game, state, terminal_width(), rows)
            playing = "   playing, any key stops" if cursor.is_playing else ""
            click.echo("\n".join([*page, "", *keys_help, f"{cursor.digits}{playing}"]), nl=False)
            cursor.press(keys.read(PLAY_SECONDS if cursor.is_playing else None))
    click.echo()
