"""Reversi for two to four: enclose the discs of others between two of yours, and they are yours.

The game is Lewis Waterman's and John Mollett's (about 1883); the four discs at the start are from Gorō Hasegawa's
Othello (1971). The rules for three and four are made here. For two to four players.

1. The board has ``size`` by ``size`` squares (suggested: 8; the even numbers from 4 to 26 are accepted, with more than
   two players from 6). At the start there are discs in its middle. With two players, seat 0 has the lower left and the
   upper right of the four squares there, and seat 1 the other two. With more, the middle has four by four discs: the
   lower left one is of seat 0, and those to the right of a disc and above it are of the next seat, after the last seat
   of seat 0 again. With three players the upper right one is left out, so that each seat has five.
2. The seats take turns, seat 0 first. An action puts a disc on an empty square so that in at least one of the eight
   directions there is a row of discs of others next to it, of any length and without a gap, with a disc of one's own
   behind it. All discs in all such rows become the seat's own.
3. A seat that has no such square must pass: ``"pass"`` is then its only action, and at no other time.
4. A seat without a disc is eliminated, and does not act any more.
5. The match is over when no seat has a square by rule 2. Each seat scores one for each of its discs.
6. A seat whose bot forfeits is eliminated when it is to act. Its discs stay and can be won, as by rule 2.

Actions are squares ``[x, y]``, listed by column from the left, then by row from the bottom; or ``"pass"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from arena.games import (
    Drawing,
    Game,
    IllegalActionError,
    IntOption,
    Option,
    OptionError,
    Space,
    all_squares,
    board,
    board_space,
    draw_grid,
    format_square,
    parse_square,
    refuse_when_over,
    seat_letter,
    square_of,
)

PASS = "pass"
EMPTY = -1
DIRECTIONS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]

Columns = tuple[tuple[int, ...], ...]


class ReversiState(NamedTuple):
    """The seat on each square, column by column, each from the bottom; the seat to act; and the seats that are out."""

    columns: Columns
    seat: int
    out: tuple[int, ...]


def won_discs(columns: Columns, x: int, y: int, seat: int) -> list[tuple[int, int]]:
    """Return the discs that a seat wins with a disc on a square (rule 2); squares are counted from 0 here."""
    size = len(columns)
    won = []
    for right, up in DIRECTIONS:
        row = []
        at_x, at_y = x + right, y + up
        while 0 <= at_x < size and 0 <= at_y < size and columns[at_x][at_y] not in (EMPTY, seat):
            row.append((at_x, at_y))
            at_x, at_y = at_x + right, at_y + up
        if 0 <= at_x < size and 0 <= at_y < size and columns[at_x][at_y] == seat:
            won += row
    return won


@lru_cache(maxsize=4096)
def places(columns: Columns, seat: int) -> tuple[tuple[int, int], ...]:
    """Return the squares on which a seat can put a disc (rule 2)."""
    return tuple(
        (x, y)
        for x, y in all_squares(len(columns), len(columns))
        if columns[x - 1][y - 1] == EMPTY and won_discs(columns, x - 1, y - 1, seat)
    )


class Reversi(Game[ReversiState]):
    """The rules above."""

    name: ClassVar[str] = "reversi"
    summary: ClassVar[str] = "Enclose the discs of others between two of yours to win them; two to four players."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("players", 2, 2, 4, "number of seats"),
        IntOption("size", 8, 4, 26, "rows and columns of the board, an even number"),
    )
    action_format: ClassVar[str] = 'a square [x, y] or "pass"; in text c4 for [3, 4], or pass'
    mine: ClassVar[str] = "the squares with your seat in `columns`; -1 is an empty square."

    size: int

    def prepare(self) -> None:
        """Check that the board has a middle, and room around it (rule 1)."""
        self.size = self.options["size"]
        smallest = 4 if self.players == 2 else 6
        if self.size % 2 or self.size < smallest:
            needed = f"an even number from {smallest} with {self.players} players"
            raise OptionError("size", self.size, f"reversi needs {needed}")

    def initial_state(self) -> ReversiState:
        """Return the board with the discs in its middle (rule 1)."""
        columns = [[EMPTY] * self.size for _ in range(self.size)]
        side = 2 if self.players == 2 else 4
        start = (self.size - side) // 2
        for x in range(side):
            for y in range(side):
                columns[start + x][start + y] = (x + y) % self.players
        if self.players == 3:
            columns[start + 3][start + 3] = EMPTY
        return ReversiState(tuple(map(tuple, columns)), 0, ())

    def seat_to_act(self, state: ReversiState) -> int | None:
        """Take turns (rule 2) until no seat can act (rule 5)."""
        remaining = (seat for seat in range(self.players) if seat not in state.out)
        return state.seat if any(places(state.columns, seat) for seat in remaining) else None

    def legal_actions(self, state: ReversiState) -> Sequence[Any]:
        """Return the squares of rule 2, or "pass" (rule 3)."""
        if self.seat_to_act(state) is None:
            return []
        return places(state.columns, state.seat) or (PASS,)

    def apply(self, state: ReversiState, action: Any) -> ReversiState:
        """Put a disc (rule 2) or pass (rule 3)."""
        if self.seat_to_act(state) is None:
            raise refuse_when_over(action)
        if type(action) is str and action == PASS:
            if places(state.columns, state.seat):
                raise IllegalActionError(action, "a seat that can put a disc must not pass (rule 3)")
            return self._next(state.columns, state.seat, state.out)
        x, y = square_of(action, self.size, self.size)
        if state.columns[x - 1][y - 1] != EMPTY:
            raise IllegalActionError(action, "there is a disc on this square (rule 2)")
        won = won_discs(state.columns, x - 1, y - 1, state.seat)
        if not won:
            raise IllegalActionError(action, "a disc on this square encloses no others (rule 2)")
        columns = [list(column) for column in state.columns]
        for at_x, at_y in (*won, (x - 1, y - 1)):
            columns[at_x][at_y] = state.seat
        return self._next(tuple(map(tuple, columns)), state.seat, state.out)

    def _next(self, columns: Columns, seat: int, out: tuple[int, ...]) -> ReversiState:
        """Eliminate the seats without a disc (rule 4); the next seat still in the match is to act (rule 2)."""
        left = {owner for column in columns for owner in column}
        out = (*out, *(other for other in range(self.players) if other not in left and other not in out))
        order = ((seat + step) % self.players for step in range(1, self.players + 1))
        return ReversiState(columns, next((other for other in order if other not in out), seat), out)

    def withdraw(self, state: ReversiState) -> ReversiState:
        """Eliminate the seat to act; its discs stay (rule 6)."""
        return self._next(state.columns, state.seat, (*state.out, state.seat))

    def seats_out(self, state: ReversiState) -> tuple[int, ...]:
        """Return the eliminated seats, the first one out first (rules 4 and 6)."""
        return state.out

    def scores(self, state: ReversiState) -> tuple[int, ...]:
        """Count the discs of each seat (rule 5)."""
        return tuple(sum(column.count(seat) for column in state.columns) for seat in range(self.players))

    def observation(self, state: ReversiState) -> dict[str, Any]:
        """Return ``{"columns": [[seat or -1, …], …], "seat": whose turn it is, "out": [seats]}``."""
        return {"columns": [list(column) for column in state.columns], "seat": state.seat, "out": list(state.out)}

    def state_from_observation(self, observation: Mapping[str, Any]) -> ReversiState:
        """Rebuild the state."""
        return ReversiState(tuple(map(tuple, observation["columns"])), observation["seat"], tuple(observation["out"]))

    def space(self) -> Space:
        """Return the squares and the pass as actions, and as numbers whose disc is on which square."""

        def owners(state: ReversiState) -> dict[tuple[int, int], int]:
            return {(x, y): state.columns[x - 1][y - 1] for x, y in squares}

        squares = all_squares(self.size, self.size)
        return board_space(
            self.size,
            self.size,
            self.players,
            owners,
            other_actions=(PASS,),
            max_plies=len(squares) * self.players,  # before each disc all others may have passed
        )

    def parse_action(self, text: str) -> Any:
        """Read a square such as ``c4``, or ``pass``."""
        return PASS if text.strip().lower() == PASS else parse_square(text)

    def format_action(self, action: Any) -> str:
        """Return the text of a square, or of the pass."""
        return PASS if action == PASS else format_square((action[0], action[1]))

    def render(self, state: ReversiState) -> str:
        """Draw the discs as the letters of their seats."""
        letters = {seat: seat_letter(seat) for seat in range(self.players)}
        return draw_grid([[letters.get(seat, ".") for seat in row] for row in zip(*state.columns, strict=True)])

    def drawing(self, state: ReversiState) -> Drawing:
        """Draw the discs in the colours of their seats."""
        discs = [
            ("disc", x - 0.5, y - 0.5, 0.36, f"seat{seat}")
            for x, y in all_squares(self.size, self.size)
            if (seat := state.columns[x - 1][y - 1]) != EMPTY
        ]
        return Drawing(self.size, self.size, (*board(self.size, self.size), *discs))
