"""Boards on a terminal: cut to its width around the last action, and with notes beside them."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Any

from arena.report.tables import printable

MIN_WIDTH = 40
USUAL_WIDTH = 80
GAP = "   "
MIN_NOTES_WIDTH = 24
_LABELS = re.compile(r" +[a-z]+( +[a-z]+)+")


def terminal_width() -> int:
    """Return the width of the terminal; 80 without one."""
    return max(MIN_WIDTH, shutil.get_terminal_size((USUAL_WIDTH, 24)).columns)


def board(game: Any, state: Any, width: int, last_action: Any = None) -> list[str]:
    """Return a position as lines of at most ``width`` characters.

    A board that is too wide is cut to whole columns around the column of the last action; ``…`` stands where something
    was left out.
    """
    lines: list[str] = game.render(state).splitlines()
    if max(map(len, lines)) <= width:
        return lines
    labels = next((number for number, line in enumerate(lines) if _LABELS.fullmatch(line)), None)
    if labels is None:
        return [_shortened(line, width) for line in lines]
    notes = [part for line in lines[labels + 1 :] for part in textwrap.wrap(line, width)]
    return [*_cut(lines[: labels + 1], width, _column_of(last_action)), *notes]


def _cut(grid: Sequence[str], width: int, column: int) -> list[str]:
    """Cut the lines of a grid, the last of which holds the names of its columns."""
    ends = [label.end() for label in re.finditer(r"[a-z]+", grid[-1])]
    cell = ends[1] - ends[0]
    margin = ends[0] - cell
    shown = max(1, (width - margin - 2) // cell)
    first = min(max(0, column - 1 - shown // 2), len(ends) - shown)
    low, high = margin + first * cell, margin + (first + shown) * cell
    left, right = ("…" if first else ""), ("…" if first + shown < len(ends) else "")
    return [f"{line[:margin]}{left or ' '}{line[low:high].ljust(high - low)}{right}".rstrip() for line in grid]


def _column_of(action: Any) -> int:
    """Return the column of an action that is a square; else the first."""
    if isinstance(action, list | tuple) and len(action) == 2 and type(action[0]) is int:
        return int(action[0])
    return 1


def _shortened(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def room_beside(board_lines: Sequence[str], width: int) -> int:
    """Return how many characters fit beside a board; 0 if that is too little for notes."""
    room = width - max(map(len, board_lines)) - len(GAP)
    return room if room >= MIN_NOTES_WIDTH else 0


def beside(board_lines: Sequence[str], notes: Sequence[str], width: int) -> list[str]:
    """Return a board with notes on its right; below it where there is no room."""
    board_width = max(map(len, board_lines))
    room = room_beside(board_lines, width)
    if not room:
        return [*board_lines, "", *(_shortened(note, width) for note in notes)]
    count = max(len(board_lines), len(notes))
    left = [*board_lines, *[""] * (count - len(board_lines))]
    right = [*(_shortened(note, room) for note in notes), *[""] * (count - len(notes))]
    return [f"{a.ljust(board_width)}{GAP}{b}".rstrip() for a, b in zip(left, right, strict=True)]


def note_text(note: Any) -> str:
    """Return a bot's note in a line: a map as ``name value, …``."""
    if isinstance(note, dict):
        return printable(", ".join(f"{name} {value}" for name, value in note.items()))
    return printable(str(note))


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
