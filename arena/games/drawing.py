"""A state as shapes, for graphical viewers: positions and styles, without colours or pixels.

Coordinates count board squares from the lower left corner; x to the right, y upwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from arena.base.errors import repr_of
from arena.games.squares import column_letters

Shape = tuple[str, ...] | tuple[str | int | float, ...]
"""``("rect", x, y, width, height, style)``, ``("line", x1, y1, x2, y2, style)``, ``("disc", x, y, radius, style)``,
``("polygon", x1, y1, x2, y2, x3, y3, …, style)`` or ``("text", x, y, size, text, style)``.

Styles: "board", "label", "mark", "number", "path" and "seat0", "seat1", …. A disc with the style "mark" is shown as a
mark of the seat after whose action it appears, a disc with the style of a seat as a mark of that seat."""

MAX_CORNERS = 100
"""Of a polygon."""

MAX_KNOWN = 5_000
"""Shapes that are remembered as right."""

MAX_SHAPES = 20_000
"""Of a drawing."""

MAX_NUMBER = 1_000_000
"""Of a place or a size, in either direction."""

MAX_TEXT_CHARACTERS = 1000
"""Of a text on the board."""

_NUMBERS = {"rect": 4, "line": 4, "disc": 3, "text": 3}
_STYLE = re.compile(r"board|label|mark|number|path|text|seat[0-9]{1,3}")


class Drawing(NamedTuple):
    """A state as shapes, in the order they are drawn, with lines of text beside the board."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    notes: tuple[str, ...] = ()


def board(columns: int, rows: int) -> list[Shape]:
    """Return the squares of a board with their coordinates."""
    shapes: list[Shape] = [("rect", 0, 0, columns, rows, "board")]
    shapes += [("line", x, 0, x, rows, "board") for x in range(1, columns)]
    shapes += [("line", 0, y, columns, y, "board") for y in range(1, rows)]
    shapes += [("text", x + 0.5, -0.45, 0.34, column_letters(x + 1), "label") for x in range(columns)]
    shapes += [("text", -0.45, y + 0.5, 0.34, str(y + 1), "label") for y in range(rows)]
    return shapes


def hexagon(x: float, y: float, style: str) -> Shape:
    """Return a hexagon around a point, one unit wide, with a corner at the top and one at the bottom.

    Those of a row are 1 apart; rows are 0.866 apart and shifted by 0.5.
    """
    corners = ((0.0, 0.577), (0.5, 0.289), (0.5, -0.289), (0.0, -0.577), (-0.5, -0.289), (-0.5, 0.289))
    return ("polygon", *(round(value, 3) for right, up in corners for value in (x + right, y + up)), style)


def drawing_problem(drawing: Drawing) -> str | None:
    """Return what is wrong with a drawing, as a sentence; None if viewers can draw it."""
    sizes, shapes, notes = (drawing.width, drawing.height), drawing.shapes, drawing.notes
    if not all(_is_number(size) and size > 0 for size in sizes):
        return f"the size {_shown(sizes)} is not two numbers above 0 and up to {MAX_NUMBER:,}"
    if not isinstance(shapes, list | tuple) or len(shapes) > MAX_SHAPES:
        return f"the shapes {_shown(shapes)} are not a tuple of up to {MAX_SHAPES:,}"
    if not isinstance(notes, list | tuple) or not all(isinstance(note, str) for note in notes):
        return f"the notes {_shown(notes)} are not a tuple of texts"
    return next(filter(None, (shape_problem(shape) for shape in shapes if not _is_known(shape))), None)


def shape_problem(shape: object) -> str | None:
    """Return what is wrong with a shape, as a sentence; None if viewers can draw it."""
    if not isinstance(shape, tuple) or not shape or shape[0] not in (*_NUMBERS, "polygon"):
        return f"the shape {_shown(shape)} is not a tuple that begins with 'rect', 'line', 'disc', 'polygon' or 'text'"
    kind, *values, style = shape if len(shape) > 1 else (*shape, None)
    numbers, content = (values[:-1], values[-1:]) if kind == "text" else (values, [])
    if kind == "polygon":
        is_complete = len(numbers) % 2 == 0 and 3 <= len(numbers) // 2 <= MAX_CORNERS
        expected = f"x and y of 3 to {MAX_CORNERS} corners"
    else:
        is_complete = len(numbers) == _NUMBERS[kind]
        expected = f"{_NUMBERS[kind]} numbers"
    if not is_complete or not all(map(_is_number, numbers)):
        return f"the {kind} {_shown(shape)} does not have {expected} before its style"
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT_CHARACTERS for text in content):
        return f"the text {_shown(shape)} has no text of up to {MAX_TEXT_CHARACTERS:,} characters before its style"
    if not isinstance(style, str) or not _STYLE.fullmatch(style):
        return f"the {kind} {_shown(shape)} has an unknown style: expected board, label, mark, number, path or seat0, …"
    return None


def _is_known(shape: object) -> bool:
    """Remember whether a shape can be drawn: a match has most of its shapes in all positions."""
    try:
        return type(shape) is tuple and _is_right(*shape)
    except (TypeError, ValueError):
        return False


@lru_cache(maxsize=MAX_KNOWN, typed=True)
def _is_right(*shape: object) -> bool:
    """Return True if a shape can be drawn, else raise ValueError: only small ones are remembered."""
    if shape_problem(shape):
        raise ValueError
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and type(value) in (int, float) and -MAX_NUMBER <= value <= MAX_NUMBER


def _shown(value: object) -> str:
    return f"{repr_of(value):.80}"


def text_drawing(lines: Iterable[str]) -> Drawing:
    """Return a text board as a drawing."""
    rows = list(lines)
    shapes: list[Shape] = [
        ("text", 0, len(rows) - 0.5 - k, 0.8, line, "text") for k, line in enumerate(rows) if line.strip()
    ]
    return Drawing(max((0.5 * len(line) for line in rows), default=1.0), max(1, len(rows)), tuple(shapes))
