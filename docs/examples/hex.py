"""Hex: join your two sides of a board of hexagons with a chain of stones; after the first stone, seats may be swapped.

The game is Piet Hein's (1942) and, independently, John Nash's (1948). For two players.

1. The board is a rhombus of ``size`` by ``size`` hexagons (suggested: 11; 2 to 19 are accepted). The hexagon ``[x, y]``
   touches ``[x - 1, y]``, ``[x + 1, y]``, ``[x, y - 1]``, ``[x, y + 1]``, ``[x - 1, y - 1]`` and ``[x + 1, y + 1]``.
2. The seats take turns, seat 0 first, each putting a stone of its own on an empty hexagon.
3. With ``swap = "yes"`` seat 1 may answer the first stone with ``"swap"`` (the pie rule): the stone on ``[x, y]`` is
   taken away, and seat 1 has one on ``[size + 1 - y, size + 1 - x]``, its mirror image in the long diagonal, where it
   is worth as much to seat 1 as the other was to seat 0.
4. The match is over when stones of one seat that touch each other join its sides: the bottom and the top for seat 0,
   the left and the right for seat 1. It scores 1 and the other one 0. On a full board exactly one seat has such a
   chain.

Actions are hexagons ``[x, y]``, listed by column from the left, then by row from the bottom; then ``"swap"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from arena.games import (
    ChoiceOption,
    Drawing,
    Game,
    IllegalActionError,
    IntOption,
    Option,
    Space,
    all_squares,
    board_space,
    format_square,
    hexagon,
    parse_square,
    refuse_when_over,
    seat_letter,
    square_of,
)

SWAP = "swap"
NEIGHBOURS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1))
ROW_HEIGHT = 0.866  # of hexagons that are 1 wide: the square root of 3/4

Hexagon = tuple[int, int]


class HexState(NamedTuple):
    """The stones, each as (x, y, seat), sorted; the seat to act; and whether the other one has joined its sides."""

    stones: tuple[tuple[int, int, int], ...]
    seat: int
    is_won: bool


class Hex(Game[HexState]):
    """The rules above."""

    name: ClassVar[str] = "hex"
    summary: ClassVar[str] = "Join your two sides of a rhombus of hexagons with a chain of stones."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("size", 11, 2, 19, "rows and columns of the board"),
        ChoiceOption("swap", "yes", ("yes", "no"), "whether seat 1 may swap after the first stone (rule 3)"),
    )
    action_format: ClassVar[str] = 'a hexagon [x, y] or "swap"; in text c4 for [3, 4], or swap'
    mine: ClassVar[str] = (
        "the stones [x, y, seat] with your seat. Seat 0 joins the bottom and the top, seat 1 the left and the right."
    )

    size: int

    def prepare(self) -> None:
        """Take the size from the options."""
        self.size = self.options["size"]

    def initial_state(self) -> HexState:
        """Return the empty board (rule 1)."""
        return HexState((), 0, is_won=False)

    def seat_to_act(self, state: HexState) -> int | None:
        """Take turns (rule 2) until two sides are joined (rule 4)."""
        return None if state.is_won else state.seat

    def _may_swap(self, state: HexState) -> bool:
        """Return whether there is only the first stone (rule 3)."""
        return self.options["swap"] == "yes" and len(state.stones) == 1 and state.seat == 1

    def legal_actions(self, state: HexState) -> Sequence[Any]:
        """Return the empty hexagons (rule 2), and "swap" (rule 3)."""
        if state.is_won:
            return []
        taken = {(x, y) for x, y, _ in state.stones}
        empty = [square for square in all_squares(self.size, self.size) if square not in taken]
        return [*empty, SWAP] if self._may_swap(state) else empty

    def apply(self, state: HexState, action: Any) -> HexState:
        """Put a stone (rule 2) or swap (rule 3)."""
        if state.is_won:
            raise refuse_when_over(action)
        if type(action) is str and action == SWAP:
            return self._swap(state)
        square = square_of(action, self.size, self.size)
        if any(stone[:2] == square for stone in state.stones):
            raise IllegalActionError(action, "there is a stone on this hexagon (rule 2)")
        stones = tuple(sorted([*state.stones, (*square, state.seat)]))
        return HexState(stones, 1 - state.seat, self._joins(stones, square, state.seat))

    def _swap(self, state: HexState) -> HexState:
        if not self._may_swap(state):
            raise IllegalActionError(SWAP, "only seat 1 may swap, right after the first stone (rule 3)")
        ((x, y, _),) = state.stones
        return HexState(((self.size + 1 - y, self.size + 1 - x, 1),), 0, is_won=False)

    def _joins(self, stones: Sequence[tuple[int, int, int]], start: Hexagon, seat: int) -> bool:
        """Return whether the chain of a stone touches both sides of its seat (rule 4)."""
        left = {(x, y) for x, y, owner in stones if owner == seat} - {start}
        chain = [start]
        for x, y in chain:
            beside = {(x + right, y + up) for right, up in NEIGHBOURS} & left
            chain += beside
            left -= beside
        places = [square[1 - seat] for square in chain]
        return min(places) == 1 and max(places) == self.size

    def scores(self, state: HexState) -> tuple[int, ...]:
        """Return 1 for the winner once there is one (rule 4)."""
        return tuple(int(state.is_won and seat != state.seat) for seat in (0, 1))

    def observation(self, state: HexState) -> dict[str, Any]:
        """Return ``{"stones": [[x, y, seat], …], "seat": whose turn it is, "is_won": whether the match is over}``."""
        return {"stones": [list(stone) for stone in state.stones], "seat": state.seat, "is_won": state.is_won}

    def state_from_observation(self, observation: Mapping[str, Any]) -> HexState:
        """Rebuild the state."""
        stones = tuple((x, y, seat) for x, y, seat in observation["stones"])
        return HexState(stones, observation["seat"], observation["is_won"])

    def space(self) -> Space:
        """Return the hexagons and the swap as actions, and as numbers whose stone is on which hexagon."""

        def owners(state: HexState) -> dict[Hexagon, int]:
            return {(x, y): seat for x, y, seat in state.stones}

        squares = self.size * self.size
        return board_space(self.size, self.size, 2, owners, other_actions=(SWAP,), max_plies=squares + 1)

    def parse_action(self, text: str) -> Any:
        """Read a hexagon such as ``c4``, or ``swap``."""
        return SWAP if text.strip().lower() == SWAP else parse_square(text)

    def format_action(self, action: Any) -> str:
        """Return the text of a hexagon, or of the swap."""
        return SWAP if action == SWAP else format_square((action[0], action[1]))

    def render(self, state: HexState) -> str:
        """Draw the board, each row half a hexagon further to the right than the one above it."""
        return self._text(state, None)

    def render_after(self, state: HexState, actions: Sequence[tuple[int, Any]]) -> str:
        """Draw the board with brackets around the last stone."""
        last = actions[-1][1] if actions else None
        return self._text(state, state.stones[0][:2] if last == SWAP else last)

    def _text(self, state: HexState, last: Any) -> str:
        letters = {(x, y): seat_letter(seat) for x, y, seat in state.stones}
        columns = range(1, self.size + 1)
        rows = []
        for y in reversed(columns):
            cells = "".join(f" {letters.get((x, y), '.')}" for x in columns) + " "
            if last is not None and last[1] == y:
                place = 2 * last[0] - 1
                cells = f"{cells[: place - 1]}[{cells[place]}]{cells[place + 2 :]}"
            rows.append(f"{y:>2}".rjust(2 + self.size - y) + cells)
        names = " ".join(format_square((x, 1))[:-1] for x in columns)
        rows.append(" " * (self.size + 3) + names)
        rows.append("A joins the bottom and the top, B the left and the right")
        return "\n".join(row.rstrip() for row in rows)

    def drawing(self, state: HexState) -> Drawing:
        """Draw the hexagons, the sides in the colours of their seats, and the stones."""
        squares = all_squares(self.size, self.size)
        shapes = [*self._sides(), *(hexagon(*self._centre(x, y), "board") for x, y in squares)]
        columns = range(1, self.size + 1)
        for x in columns:
            right, up = self._centre(x, 1)
            shapes.append(("text", right + 0.5, up - 1.2, 0.34, format_square((x, 1))[:-1], "label"))
        for y in columns:
            right, up = self._centre(1, y)
            shapes.append(("text", right - 1.1, up, 0.34, str(y), "label"))
        shapes += [("disc", *self._centre(x, y), 0.32, f"seat{seat}") for x, y, seat in state.stones]
        return Drawing(1.5 * self.size, ROW_HEIGHT * self.size + 0.3, tuple(shapes))

    def _centre(self, x: int, y: int) -> tuple[float, float]:
        """Return the place of a hexagon in the drawing."""
        return x + (self.size - y) / 2, round(0.6 + ROW_HEIGHT * (y - 1), 3)

    def _sides(self) -> list[Any]:
        """Return a band along each side of the board."""
        numbers = range(1, self.size + 1)
        low, high = (-0.5, -0.289), (-0.5, 0.289)
        bottom = [(x, 1, *corner) for x in numbers for corner in (low, (0.0, -0.577))]
        left = [(1, y, *corner) for y in numbers for corner in (low, high)]
        sides = []
        for corners, (right, up), seat in ((bottom, (0, -0.3), 0), (left, (-0.3, 0), 1)):
            inner = [(self._centre(x, y)[0] + dx, self._centre(x, y)[1] + dy) for x, y, dx, dy in corners]
            outer = [(x + right, y + up) for x, y in reversed(inner)]
            width, height = 1.5 * self.size + 0.5, 1.2 + ROW_HEIGHT * (self.size - 1)
            for turned in (False, True):  # the other side is this one, turned around the middle of the board
                points = [(width - x, height - y) if turned else (x, y) for x, y in (*inner, *outer)]
                sides.append(("polygon", *(round(value, 3) for point in points for value in point), f"seat{seat}"))
        return sides
