"""Squares and their text: ``(3, 4)`` is ``c4``.

A square is ``(x, y)``, counted from 1, x from the left and y from the bottom. Columns are lettered ``a`` to ``z``,
then ``aa``, ``ab``, … as in a spreadsheet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from arena.base.errors import IllegalActionError

Square = tuple[int, int]

_LABELS = re.compile(r" +a( +[a-z]+)*")
_SQUARE = re.compile(r"([a-z]{1,3})([1-9][0-9]{0,4})", re.IGNORECASE)


def column_letters(x: int) -> str:
    """Return the letters of column ``x`` (from 1)."""
    letters = ""
    while x > 0:
        x, digit = divmod(x - 1, 26)
        letters = chr(ord("a") + digit) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the column (from 1) named by ``letters``."""
    number = 0
    for letter in letters.lower():
        number = number * 26 + ord(letter) - ord("a") + 1
    return number


def format_square(square: Square) -> str:
    """Return the text of a square: ``(3, 4)`` is ``c4``."""
    return f"{column_letters(square[0])}{square[1]}"


def parse_square(text: str) -> Square:
    """Read a square such as ``c4``; IllegalActionError for any other text."""
    match = _SQUARE.fullmatch(text.strip())
    if match is None:
        raise IllegalActionError(text, "a square is written like c4: the column's letters, then the row")
    return column_number(match[1]), int(match[2])


def as_square(action: Any) -> Square | None:
    """Return an action as a square, on or off a board; None for any other action."""
    if type(action) not in (tuple, list) or len(action) != 2 or any(type(value) is not int for value in action):
        return None
    return action[0], action[1]


def square_of(action: Any, width: int, height: int) -> Square:
    """Return ``action`` as a square of a ``width`` by ``height`` board.

    Raises:
        IllegalActionError: if it is not a pair of integers on the board. ``True`` and ``1.0`` are not integers.
    """
    if type(action) not in (tuple, list) or len(action) != 2:
        raise IllegalActionError(action, "a square is a pair [x, y]")
    x, y = action
    if type(x) is not int or type(y) is not int:
        raise IllegalActionError(action, "a square is a pair of integers [x, y]")
    if not (1 <= x <= width and 1 <= y <= height):
        raise IllegalActionError(action, f"off the board: x is 1 to {width} and y is 1 to {height}")
    return x, y


def seat_letter(seat: int) -> str:
    """Return the letter of a seat on drawn boards: ``A`` for seat 0."""
    return column_letters(seat + 1).upper()


def draw_grid(cells: Sequence[Sequence[str]], last: Square | None = None) -> str:
    """Draw a board of texts ``cells[y - 1][x - 1]`` with its coordinates, top row first; ``last`` gets brackets."""
    height, width = len(cells), len(cells[0])
    columns = [column_letters(x) for x in range(1, width + 1)]
    cell_width = max(1, *(len(cell) for row in cells for cell in row), *(len(name) for name in columns))
    margin = len(str(height))
    rows = [f"{y:>{margin}} {' '.join(cell.rjust(cell_width) for cell in cells[y - 1])} " for y in range(height, 0, -1)]
    if last is not None:
        x, y = last
        end = margin + x * (cell_width + 1)
        rows[height - y] = _bracketed(rows[height - y], end - len(cells[y - 1][x - 1]), end)
    rows.append(" " * margin + " " + " ".join(name.rjust(cell_width) for name in columns))
    return "\n".join(row.rstrip() for row in rows)


def _bracketed(text: str, start: int, end: int) -> str:
    return f"{text[: start - 1]}[{text[start:end]}]{text[end + 1 :]}"


def mark_last(board: str, square: Square) -> str:
    """Return a board by ``draw_grid`` with brackets around a square; any other text as it is."""
    lines = board.split("\n")
    labels = next((line for line in lines if _LABELS.fullmatch(line)), "")
    x, y = square
    ends = [label.end() for label in re.finditer("[a-z]+", labels)]
    row = next((k for k, line in enumerate(lines) if re.match(rf" *{y} ", line)), None)
    if row is None or not 1 <= x <= len(ends):
        return board
    end = ends[x - 1]
    text = lines[row].ljust(end + 1)
    start = text.rfind(" ", 0, end) + 1
    if start < end and text[end] == " ":
        lines[row] = _bracketed(text, start, end).rstrip()
    return "\n".join(lines)
