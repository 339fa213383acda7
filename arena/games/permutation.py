"""The base of the permutation games (plusminus, differences, multiplication).

An n-by-n grid has at most one mark in each row and column. The marks are represented as ``heights``: a tuple with, for
each column from the left, the row of its mark, or 0 if the column is still empty. From left to right the heights are
the permutation P; from the bottom row up the columns are Q, the inverse of P.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import comb, factorial
from typing import Any

from arena.base.errors import IllegalActionError
from arena.games.drawing import Drawing, Shape, board
from arena.games.game import Game, IntOption, StateT
from arena.games.squares import (
    Square,
    as_square,
    draw_grid,
    format_square,
    parse_square,
    seat_letter,
    square_of,
)

Heights = tuple[int, ...]

MAX_SIZE = 100
"""The list of legal actions of a 100-by-100 board takes 30 kB on the wire; larger boards would only cost memory."""


def size_option(default: int, meaning: str = "rows and columns of the grid") -> IntOption:
    """Return the ``size`` option of a permutation game."""
    return IntOption("size", default, 2, MAX_SIZE, meaning)


def no_marks(size: int) -> Heights:
    """Return the empty grid."""
    return (0,) * size


def place(heights: Heights, action: Any, rule: int) -> Heights:
    """Put a mark on a square ``[x, y]``; ``rule`` is the number of the rule of one mark for each row and column.

    Raises:
        IllegalActionError: if the square is off the board, or its row or column has a mark.
    """
    size = len(heights)
    x, y = square_of(action, size, size)
    if heights[x - 1]:
        raise IllegalActionError(
            action, f"column {format_square((x, y))[: -len(str(y))]} already has a mark (rule {rule})"
        )
    if y in heights:
        raise IllegalActionError(action, f"row {y} already has a mark (rule {rule})")
    return (*heights[: x - 1], y, *heights[x:])


def free_squares(heights: Heights) -> list[Square]:
    """Return the squares in empty columns and rows, by column from the left, then by row from the bottom."""
    rows = [y for y in range(1, len(heights) + 1) if y not in heights]
    return [(x, y) for x, height in enumerate(heights, 1) if not height for y in rows]


def inverse(heights: Heights) -> Heights:
    """Return Q for P: for each row from the bottom the column of its mark, 0 in an empty row."""
    columns = [0] * len(heights)
    for x, y in enumerate(heights, 1):
        if y:
            columns[y - 1] = x
    return tuple(columns)


def known_steps(heights: Heights) -> Iterator[tuple[int, int]]:
    """Yield ``(k, step)`` for each k (from 0) whose two neighbouring columns both have a mark."""
    for k in range(len(heights) - 1):
        if heights[k] and heights[k + 1]:
            yield k, heights[k + 1] - heights[k]


def partial_permutations(size: int) -> int:
    """Return the number of ways to put marks on a grid, none of two in a row or column (OEIS A002720).

    >>> [partial_permutations(size) for size in range(5)]
    [1, 2, 7, 34, 209]
    """
    return sum(comb(size, marks) ** 2 * factorial(marks) for marks in range(size + 1))


def draw_marks(heights: Heights, labels: Mapping[Square, str] | None = None, last: Square | None = None) -> str:
    """Draw the grid: ``.`` empty, ``x`` a mark, or its label; the square of the last action has brackets."""
    labels = labels or {}
    size = len(heights)
    cells = [["."] * size for _ in range(size)]
    for x, y in enumerate(heights, 1):
        if y:
            cells[y - 1][x - 1] = labels.get((x, y), "x")
    return draw_grid(cells, last)


def mark_letters(actions: Iterable[tuple[int, Any]]) -> dict[Square, str]:
    """Return the letters of the seats that acted last on each square."""
    squares = ((seat, as_square(action)) for seat, action in actions)
    return {square: seat_letter(seat) for seat, square in squares if square is not None}


def last_square(actions: Sequence[tuple[int, Any]]) -> Square | None:
    """Return the square of the last action; None if that is no square."""
    return as_square(actions[-1][1]) if actions else None


def marks_drawing(heights: Heights, extra: Iterable[Shape] = (), notes: tuple[str, ...] = ()) -> Drawing:
    """Return the grid with its marks as shapes."""
    size = len(heights)
    marks: list[Shape] = [("disc", x - 0.5, y - 0.5, 0.34, "mark") for x, y in enumerate(heights, 1) if y]
    return Drawing(size, size, (*board(size, size), *marks, *extra), notes)


def marks_encoded(heights: Heights) -> list[float]:
    """Return 1 for each square with a mark and 0 for the others, in the order of ``all_squares``."""
    rows = range(1, len(heights) + 1)
    return [float(height == y) for height in heights for y in rows]


class PermutationGame(Game[StateT]):
    """A game in which seats put marks on a grid, one in each row and column."""

    size: int

    def prepare(self) -> None:
        self.size = self.options["size"]

    def parse_action(self, text: str) -> Any:
        return parse_square(text)

    def format_action(self, action: Any) -> str:
        x, y = action
        return format_square((x, y))

    @abstractmethod
    def scores(self, state: StateT) -> tuple[int, ...]:
        """Return the score of each seat."""
