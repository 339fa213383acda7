"""A state as shapes, for graphical viewers: positions and styles, without colours or pixels.

Coordinates count board squares from the lower left corner; x to the right, y upwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arena.games.squares import column_letters

Shape = tuple[str, ...] | tuple[str | int | float, ...]
"""``("rect", x, y, width, height, style)``, ``("line", x1, y1, x2, y2, style)``, ``("disc", x, y, radius, style)`` or
``("text", x, y, size, text, style)``. Styles: "board", "label", "mark", "number", "path" and "seat0", "seat1", …."""


class Drawing(NamedTuple):
    """A state as shapes.

    Attributes:
        width: of the board.
        height: of the board.
        shapes: in the order they are drawn.
        notes: lines of text beside the board.
    """

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


def text_drawing(lines: Iterable[str]) -> Drawing:
    """Return a text board as a drawing."""
    rows = list(lines)
    shapes: list[Shape] = [
        ("text", 0, len(rows) - 0.5 - k, 0.8, line, "text") for k, line in enumerate(rows) if line.strip()
    ]
    return Drawing(max((0.5 * len(line) for line in rows), default=1.0), max(1, len(rows)), tuple(shapes))
