"""Coprimality: a path of numbers winds over the grid; a number beside one that shares a factor with it eliminates you.

For two or more players.

1. The 1 is in the upper left square before the first action. Seat 0 starts, with 2. The board has ``size`` by ``size``
   squares (suggested: 12 or more; 3 to 100 are accepted).
2. Turn k writes the whole numbers above the (k-1)th prime up to the kth prime, one action each: 2, then 3, then 4 and
   5, then 6 and 7, then 8 to 11, and so on. Turns go round the seats still in the game.
3. A number j goes on an empty square beside j - 1 (above, below, left or right of it). Away from the border, the square
   must have at least two numbers beside it: j - 1 and one more. On the border, j - 1 is enough.
4. A number set beside one that shares a factor with it is legal, but eliminates the seat that set it. The number stays.
   The seat's turn ends at once, and the next seat still in the game continues with j + 1: up to the kth prime if the
   turn was cut short, else with turn k + 1.
5. The last seat left wins, and the match is over.
6. When the seat to act has no legal square, a new grid starts with the seats still in the game, as in rule 1, and the
   lowest seat left starts. When ``max_grids`` grids have been used up in this way, the match is over and the seats left
   share the first rank.
7. A seat scores one for each seat eliminated before it; a seat still in the game scores one for each seat eliminated.
8. A seat whose bot forfeits is eliminated when it is to act, without setting a number; the next seat continues in its
   place (ruled so that a match of three or more can continue).

Actions are squares ``[x, y]``, listed by column from the left, then by row from the bottom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import gcd
from typing import Any, ClassVar, NamedTuple

from arena.base.errors import IllegalActionError
from arena.games.drawing import Drawing, Shape, board
from arena.games.game import Game, IntOption, Option, Space, all_squares, refuse_when_over
from arena.games.pie import PIE
from arena.games.squares import Square, as_square, draw_grid, format_square, parse_square, seat_letter, square_of


class CoprimalityState(NamedTuple):
    """The state of a match.

    ``numbers`` is the grid row by row from the bottom, 0 in an empty square; ``here`` the index of the last number;
    ``turn`` k of rule 2; ``seat`` the seat to act, or the last to have acted at the end; ``eliminated`` in order;
    ``grids_used`` by rule 6.
    """

    numbers: tuple[int, ...]
    here: int
    turn: int
    seat: int
    eliminated: tuple[int, ...]
    grids_used: int


@lru_cache(maxsize=32)
def _primes(limit: int) -> tuple[int, ...]:
    """Return the primes up to ``limit``, with 1 in front as the "0th prime"."""
    sieve = bytearray([1]) * (limit + 1)
    for number in range(2, int(limit**0.5) + 1):
        sieve[number * number :: number] = bytes(len(range(number * number, limit + 1, number)))
    return (1, *(number for number in range(2, limit + 1) if sieve[number]))


@lru_cache(maxsize=32)
def _neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each index, the indices beside it: left, below, above, right (so by column, then by row)."""
    table = []
    for index in range(size * size):
        y, x = divmod(index, size)
        beside = []
        if x > 0:
            beside.append(index - 1)
        if y > 0:
            beside.append(index - size)
        if y < size - 1:
            beside.append(index + size)
        if x < size - 1:
            beside.append(index + 1)
        table.append(tuple(beside))
    return tuple(table)


class Coprimality(Game[CoprimalityState]):
    """The rules above."""

    name: ClassVar[str] = "coprimality"
    summary: ClassVar[str] = "Extend a path of numbers; a number that shares a factor with a neighbour is fatal."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("players", 2, 2, 64, "number of seats"),
        IntOption("size", 12, 3, 100, "rows and columns of the grid"),
        IntOption(
            "max_grids", 10, 1, 1000, "grids that may be used up before the remaining seats share the win (rule 6)"
        ),
        PIE,
    )
    action_format: ClassVar[str] = "a square [x, y]; in text c4 for [3, 4]"
    mine: ClassVar[str] = (
        "the numbers are shared. Only elimination counts: your score is how many seats were out before you, or are out"
        " while you are not; `eliminated` lists them, and `seat` is the seat to act."
    )

    size: int

    def prepare(self) -> None:
        self.size = self.options["size"]
        self._primes = _primes(2 * self.size * self.size)
        self._beside = _neighbours(self.size)

    def initial_state(self) -> CoprimalityState:
        """Return the grid with the 1 in the upper left square (rule 1)."""
        return self._new_grid(eliminated=(), grids_used=0)

    def _new_grid(self, eliminated: tuple[int, ...], grids_used: int) -> CoprimalityState:
        """Return the state with an empty grid; the lowest remaining seat starts (rules 1 and 6)."""
        numbers = [0] * (self.size * self.size)
        upper_left = self.size * (self.size - 1)
        numbers[upper_left] = 1
        lowest = next(seat for seat in range(self.players) if seat not in eliminated)
        return CoprimalityState(tuple(numbers), upper_left, 1, lowest, eliminated, grids_used)

    def seat_to_act(self, state: CoprimalityState) -> int | None:
        """Return the seat to act until one seat is left (rule 5) or the grids are used up (rule 6)."""
        if len(state.eliminated) >= self.players - 1 or state.grids_used >= self.options["max_grids"]:
            return None
        return state.seat

    def _may_hold_next(self, numbers: tuple[int, ...], index: int) -> bool:
        """Return whether a square beside the last number may hold the next one (rule 3)."""
        if numbers[index]:
            return False
        beside = self._beside[index]
        if len(beside) < 4:
            return True
        return sum(1 for near in beside if numbers[near]) >= 2

    def _legal_indices(self, state: CoprimalityState) -> list[int]:
        return [index for index in self._beside[state.here] if self._may_hold_next(state.numbers, index)]

    def _square(self, index: int) -> Square:
        y, x = divmod(index, self.size)
        return x + 1, y + 1

    def legal_actions(self, state: CoprimalityState) -> Sequence[Any]:
        """Return the squares of rule 3; those that eliminate are among them (rule 4)."""
        if self.seat_to_act(state) is None:
            return []
        return [self._square(index) for index in self._legal_indices(state)]

    def apply(self, state: CoprimalityState, action: Any) -> CoprimalityState:
        """Set the next number (rules 2 to 4), then check whether the match continues (rules 5 and 6)."""
        if self.seat_to_act(state) is None:
            raise refuse_when_over(action)
        x, y = square_of(action, self.size, self.size)
        index = (y - 1) * self.size + x - 1
        self._check_square(state, action, index)
        number = state.numbers[state.here] + 1
        numbers = (*state.numbers[:index], number, *state.numbers[index + 1 :])
        ends_turn = number == self._primes[state.turn]
        turn = state.turn + 1 if ends_turn else state.turn
        eliminated = state.eliminated
        seat = state.seat
        if any(numbers[near] and gcd(number, numbers[near]) > 1 for near in self._beside[index]):
            eliminated = (*eliminated, seat)
            ends_turn = True
        if ends_turn:
            seat = self._next_seat(seat, eliminated)
        return self._unless_stuck(CoprimalityState(numbers, index, turn, seat, eliminated, state.grids_used))

    def _check_square(self, state: CoprimalityState, action: Any, index: int) -> None:
        """Raise IllegalActionError unless the square at ``index`` may hold the next number (rule 3)."""
        number = state.numbers[state.here] + 1
        if state.numbers[index]:
            raise IllegalActionError(action, f"the square already has the number {state.numbers[index]} (rule 3)")
        if index not in self._beside[state.here]:
            last = format_square(self._square(state.here))
            raise IllegalActionError(action, f"{number} must be beside {number - 1} on {last} (rule 3)")
        if not self._may_hold_next(state.numbers, index):
            raise IllegalActionError(
                action, f"away from the border a square needs a second number beside it, not only {number - 1} (rule 3)"
            )

    def _next_seat(self, seat: int, eliminated: tuple[int, ...]) -> int:
        """Return the next seat still in the game, in cyclic order (rule 2)."""
        for step in range(1, self.players + 1):
            candidate = (seat + step) % self.players
            if candidate not in eliminated:
                return candidate
        return seat

    def _unless_stuck(self, state: CoprimalityState) -> CoprimalityState:
        """Start a new grid when the seat to act has no legal square (rule 6)."""
        if self.seat_to_act(state) is None or self._legal_indices(state):
            return state
        used = state.grids_used + 1
        if used >= self.options["max_grids"]:
            return state._replace(grids_used=used)
        return self._new_grid(state.eliminated, used)

    def withdraw(self, state: CoprimalityState) -> CoprimalityState:
        """Eliminate the seat to act without a number (rule 8)."""
        eliminated = (*state.eliminated, state.seat)
        return state._replace(eliminated=eliminated, seat=self._next_seat(state.seat, eliminated))

    def seats_out(self, state: CoprimalityState) -> tuple[int, ...]:
        return state.eliminated

    def scores(self, state: CoprimalityState) -> tuple[int, ...]:
        """Count the seats eliminated before each seat (rule 7)."""
        out = len(state.eliminated)
        return tuple(state.eliminated.index(seat) if seat in state.eliminated else out for seat in range(self.players))

    def observation(self, state: CoprimalityState) -> dict[str, Any]:
        """Return ``{"path": [square of 1, of 2, …], "turn", "seat", "eliminated": […], "grids_used"}``."""
        return {
            "path": [list(self._square(index)) for index in self._path(state)],
            "turn": state.turn,
            "seat": state.seat,
            "eliminated": list(state.eliminated),
            "grids_used": state.grids_used,
        }

    def state_from_observation(self, observation: Mapping[str, Any]) -> CoprimalityState:
        numbers = [0] * (self.size * self.size)
        index = 0
        for number, (x, y) in enumerate(observation["path"], 1):
            index = (y - 1) * self.size + x - 1
            numbers[index] = number
        return CoprimalityState(
            tuple(numbers),
            index,
            observation["turn"],
            observation["seat"],
            tuple(observation["eliminated"]),
            observation["grids_used"],
        )

    def space(self) -> Space:
        """Return the squares as actions; as numbers the grid row by row, the end of the path, and who is out."""
        squares, grids = self.size * self.size, self.options["max_grids"]

        def encode(state: CoprimalityState) -> list[float]:
            numbers = [number / squares for number in state.numbers]
            here = [float(index == state.here) for index in range(squares)]
            out = [float(seat in state.eliminated) for seat in range(self.players)]
            return [*numbers, *here, *out, state.turn / squares, state.grids_used / grids]

        return Space(actions=all_squares(self.size, self.size), max_plies=grids * (squares - 1), encode=encode)

    def parse_action(self, text: str) -> Any:
        return parse_square(text)

    def format_action(self, action: Any) -> str:
        x, y = action
        return format_square((x, y))

    def drawing(self, state: CoprimalityState) -> Drawing:
        squares = [(index % self.size + 0.5, index // self.size + 0.5) for index in self._path(state)]
        path: list[Shape] = [("line", *a, *b, "path") for a, b in pairwise(squares)]
        marks: list[Shape] = [("disc", *square, 0.34, "mark") for square in squares]
        numbers: list[Shape] = [
            ("text", *square, 0.4, str(number), "number") for number, square in enumerate(squares, 1)
        ]
        shapes = (*board(self.size, self.size), *path, *marks, *numbers)
        return Drawing(self.size, self.size, shapes, (self._note(state),))

    def _path(self, state: CoprimalityState) -> list[int]:
        """Return the indices of 1, 2, …."""
        path = [0] * state.numbers[state.here]
        for index, number in enumerate(state.numbers):
            if number:
                path[number - 1] = index
        return path

    def render(self, state: CoprimalityState) -> str:
        rows = [
            [str(number) if number else "." for number in state.numbers[start : start + self.size]]
            for start in range(0, self.size * self.size, self.size)
        ]
        return f"{draw_grid(rows)}\n{self._note(state)}"

    def render_after(self, state: CoprimalityState, actions: Sequence[tuple[int, Any]]) -> str:
        """Draw the numbers with the letters of the seats that set them, and a line about the turn."""
        letters = {as_square(action): seat_letter(seat) for seat, action in actions}
        cells = [["."] * self.size for _ in range(self.size)]
        for index, number in enumerate(state.numbers):
            if number:
                x, y = self._square(index)
                cells[y - 1][x - 1] = f"{number}{letters.get((x, y), '')}"
        is_first = state.numbers[state.here] == 1
        return f"{draw_grid(cells, None if is_first else self._square(state.here))}\n{self._note(state)}"

    def _note(self, state: CoprimalityState) -> str:
        left = sorted(seat for part, seat in enumerate(self.shown_seats) if part not in state.eliminated)
        note = f"seats in the game: {' '.join(map(str, left))}; grids used up: {state.grids_used}"
        if self.seat_to_act(state) is not None:
            note += f"; next is {state.numbers[state.here] + 1}, turn {state.turn} ends with {self._primes[state.turn]}"
        return note
