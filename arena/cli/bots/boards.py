"""Boards on a terminal: cut to its size around the last action, coloured, with the running score and notes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import click

from arena.analysis.text.tables import printable
from arena.analysis.text.text_layout import cell_count, shortened
from arena.base.errors import GameError
from arena.cli.terminal.streams import has_colours, terminal_width
from arena.games.squares import as_square, column_number, seat_letter

MIN_ROWS = 5
GAP = "   "
MIN_NOTES_WIDTH = 24
MIN_NAME_WIDTH = 4
SCORES = "scores: "

SEAT_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_LABELS = re.compile(r" +[a-z]+( +[a-z]+)+")
_SENTENCE = re.compile("[a-z]{2}")
_MARK = re.compile(r"(?<!\w)\[?\d*([A-Z]{1,2})\]?(?!\w)|\[[^\]\s]+\]")
_SCORED_SEAT = re.compile(r"(?:(?<=^scores: )|(?<=^ {8})|(?<=, ))[A-Z]{1,2}(?= )")


def board(game: Any, state: Any, width: int, actions: Sequence[Any] = (), height: int | None = None) -> list[str]:
    """Return a position as lines of at most ``width`` characters, in which the last action has brackets.

    A board that is too wide or too high is cut to whole columns and rows around the last action; ``…`` stands where
    something was left out.
    """
    try:
        lines = [printable(line) for line in game.render_after(state, actions).splitlines()]
    except GameError as error:  # nothing but the board is missing
        return textwrap.wrap(printable(f"(no board: {error})"), width)
    labels = next((number for number, line in enumerate(lines) if _LABELS.fullmatch(line)), None)
    if labels is None:
        end = max((number for number, line in enumerate(lines, 1) if not _SENTENCE.search(line)), default=len(lines))
        drawn, foot = [_shortened(line, width) for line in lines[:end]], []
    else:
        end = labels + 1
        *drawn, columns = _cut_columns(lines[:end], width, _column_of(actions))
        foot = [columns]
    foot += [part for line in lines[end:] for part in textwrap.wrap(line, width)]
    return [*(drawn if height is None else _cut_rows(drawn, max(MIN_ROWS, height - len(foot)))), *foot]


def _cut_columns(grid: Sequence[str], width: int, column: int) -> list[str]:
    if max(map(len, grid)) <= width:
        return list(grid)
    ends = [label.end() for label in re.finditer(r"[a-z]+", grid[-1])]
    cell = ends[1] - ends[0]
    margin = ends[0] - cell
    count = max(1, (width - margin - 2) // cell)
    first = min(max(0, column - 1 - count // 2), len(ends) - count)
    low, high = margin + first * cell, margin + (first + count) * cell
    left, right = ("…" if first else " "), ("…" if first + count < len(ends) else "")
    lines = []
    for line in grid:
        bracket = line[high : high + 1].replace("[", "").strip()  # of the last column that is shown
        lines.append(f"{line[:margin]}{left}{line[low:high].ljust(high - low)}{bracket or right}".rstrip())
    return lines


def _cut_rows(lines: Sequence[str], count: int) -> list[str]:
    if len(lines) <= count:
        return list(lines)
    row = next((number for number, line in enumerate(lines) if "[" in line), 0)
    first = min(max(0, row - count // 2), len(lines) - count)
    shown = list(lines[first : first + count])
    if first > 0:
        shown[0] = "…"
    if first + count < len(lines):
        shown[-1] = "…"
    return shown


def _column_of(actions: Sequence[Any]) -> int:
    square = as_square(actions[-1][1]) if actions else None
    return square[0] if square is not None else 1


def painted(lines: Sequence[str]) -> list[str]:
    """Return the lines of a board with each mark in the colour of its seat, if the terminal has colours."""
    return [_MARK.sub(_paint, line) for line in lines] if has_colours() else list(lines)


def _paint(mark: re.Match[str]) -> str:
    is_last = mark[0].startswith("[")
    return click.style(mark[0], fg=_colour(mark[1]) if mark[1] else None, bold=is_last or None, reverse=is_last or None)


def _colour(letters: str) -> str:
    return SEAT_COLOURS[(column_number(letters) - 1) % len(SEAT_COLOURS)]


def score_lines(game: Any, state: Any, labels: Sequence[str], width: int) -> list[str]:
    """Return the score so far in lines of at most ``width`` cells, with the letters of the seats on boards."""
    out = game.seats_out(state)
    ends = [f" (seat {seat}) {score:g}{' out' if seat in out else ''}" for seat, score in enumerate(game.scores(state))]
    room = width - len(SCORES) - max(map(len, ends)) - len("AA ,")
    names = shortened([printable(label) for label in labels], max(MIN_NAME_WIDTH, room))
    seats = [f"{seat_letter(seat)} {name}{end}" for seat, (name, end) in enumerate(zip(names, ends, strict=True))]
    lines = [SCORES + seats[0]]
    for text in seats[1:]:
        if cell_count(f"{lines[-1]}, {text},") <= width:
            lines[-1] += f", {text}"
        else:
            lines[-1] += ","
            lines.append(" " * len(SCORES) + text)
    if not has_colours():
        return lines
    return [_SCORED_SEAT.sub(lambda letter: click.style(letter[0], fg=_colour(letter[0])), line) for line in lines]


def position_lines(
    game: Any, state: Any, actions: Sequence[Any], labels: Sequence[str], width: int | None = None
) -> list[str]:
    width = terminal_width() if width is None else width
    return [*painted(board(game, state, width, actions)), *score_lines(game, state, labels, width)]


def _shortened(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def room_beside(board_lines: Sequence[str], width: int) -> int:
    """Return how many characters fit to the right of a board; 0 if there is no room for notes."""
    room = width - max(map(len, board_lines)) - len(GAP)
    return room if room >= MIN_NOTES_WIDTH else 0


def beside(board_lines: Sequence[str], notes: Sequence[str], width: int) -> list[str]:
    """Return a painted board with notes on its right; below it where there is no room."""
    board_width = max(map(len, board_lines))
    room = room_beside(board_lines, width)
    shown = painted(board_lines)
    if not room:
        return [*shown, "", *(_shortened(note, width) for note in notes)]
    left = [text + " " * (board_width - len(line)) for text, line in zip(shown, board_lines, strict=True)]
    right = [_shortened(note, room) for note in notes]
    return [f"{a or ' ' * board_width}{GAP}{b}".rstrip() for a, b in zip_longest(left, right, fillvalue="")]


def note_text(note: Any) -> str:
    """Return a bot's note in a line: a map as ``name value, …``."""
    if isinstance(note, dict):
        return printable(", ".join(f"{name} {value}" for name, value in note.items()))
    return printable(str(note))


RULES_WIDTH = 80


def rulebook_text(game: Any) -> str:
    """Return the rules of a game as paragraphs for a terminal, without the marks of the docstring."""
    paragraphs = re.split(r"\n\n|\n(?=\d+\. )", game.rulebook().replace("`", "").replace("**", ""))
    lines = []
    for paragraph in paragraphs:
        text = " ".join(paragraph.split())
        hanging = "   " if re.match(r"\d+\. ", text) else ""
        if not hanging:
            lines.append("")
        lines.append(textwrap.fill(text, RULES_WIDTH, subsequent_indent=hanging))
    return "\n".join(lines).strip()


def listed(game: Any, actions: Sequence[Any], width: int) -> str:
    """Return actions as text, those of one column or direction on a line together: ``a: 1 3 5``."""
    groups: dict[str, list[str]] = {}
    for action in actions:
        text = printable(game.format_action(action))
        square = re.fullmatch(r"([a-z]+)([0-9]+)", text)
        groups.setdefault(square[1] if square else "", []).append(square[2] if square else text)
    lines = []
    for name, members in groups.items():
        text = f"{name}: {' '.join(members)}" if name else " ".join(members)
        lines.append(textwrap.fill(text, width, subsequent_indent=" " * (len(name) + 2)))
    return "\n".join(lines)
