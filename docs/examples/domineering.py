"""Domineering: two seats lay dominoes on a board, one upright, the other level; who can't any more has lost.

The game is Göran Andersson's. For two players.

1. The board has ``width`` by ``height`` squares (suggested: 8 by 8; 2 to 40 are accepted for each).
2. The seats take turns, seat 0 first. Seat 0 lays a domino over two empty squares one above the other, seat 1 over two
   empty squares side by side. An action is the lower or left one of the two.
3. The match is over when the seat to act has no place left. It scores 0 and the other one 1.

Actions are squares ``[x, y]``, listed by column from the left, then by row from the bottom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from arena.games import (
    Game,
    IllegalActionError,
    IntOption,
    Option,
    Space,
    board_space,
    draw_grid,
    format_square,
    parse_square,
    refuse_when_over,
    square_of,
)


class DomineeringState(NamedTuple):
    """The squares covered, each as (x, y, seat), sorted; and whose turn it is."""

    covered: tuple[tuple[int, int, int], ...]
    seat: int


class Domineering(Game[DomineeringState]):
    """The rules above."""

    name: ClassVar[str] = "domineering"
    summary: ClassVar[str] = "Lay dominoes, one seat upright and the other level, until somebody can't."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("width", 8, 2, 40, "columns of the board"),
        IntOption("height", 8, 2, 40, "rows of the board"),
    )
    action_format: ClassVar[str] = "the lower or left square [x, y] of a domino; in text c4 for [3, 4]"

    def initial_state(self) -> DomineeringState:
        """Return the empty board (rule 1)."""
        return DomineeringState((), 0)

    def _places(self, state: DomineeringState) -> list[tuple[int, int]]:
        """Return where the seat whose turn it is can lay a domino (rule 2)."""
        taken = {(x, y) for x, y, _ in state.covered}
        right, up = (0, 1) if state.seat == 0 else (1, 0)
        return [
            (x, y)
            for x in range(1, self.options["width"] + 1 - right)
            for y in range(1, self.options["height"] + 1 - up)
            if (x, y) not in taken and (x + right, y + up) not in taken
        ]

    def seat_to_act(self, state: DomineeringState) -> int | None:
        """Take turns as long as there is a place (rules 2 and 3)."""
        return state.seat if self._places(state) else None

    def legal_actions(self, state: DomineeringState) -> Sequence[Any]:
        """Return the places for a domino (rule 2)."""
        return self._places(state)

    def apply(self, state: DomineeringState, action: Any) -> DomineeringState:
        """Lay a domino (rule 2)."""
        places = self._places(state)
        if not places:
            raise refuse_when_over(action)
        x, y = square_of(action, self.options["width"], self.options["height"])
        if (x, y) not in places:
            which = "upright" if state.seat == 0 else "level"
            raise IllegalActionError(action, f"there is no room for an {which} domino (rule 2)".replace("an l", "a l"))
        other = (x, y + 1) if state.seat == 0 else (x + 1, y)
        covered = sorted([*state.covered, (x, y, state.seat), (*other, state.seat)])
        return DomineeringState(tuple(covered), 1 - state.seat)

    def scores(self, state: DomineeringState) -> tuple[int, ...]:
        """Return 1 for the winner once there is one (rule 3)."""
        if self._places(state):
            return (0, 0)
        return (0, 1) if state.seat == 0 else (1, 0)

    def observation(self, state: DomineeringState) -> dict[str, Any]:
        """Return ``{"covered": [[x, y, seat], …], "seat": whose turn it is}``."""
        return {"covered": [list(square) for square in state.covered], "seat": state.seat}

    def state_from_observation(self, observation: Mapping[str, Any]) -> DomineeringState:
        """Rebuild the state."""
        return DomineeringState(tuple((x, y, seat) for x, y, seat in observation["covered"]), observation["seat"])

    def space(self) -> Space:
        """Return the squares as actions, and as numbers which seat covers which square."""
        width, height = self.options["width"], self.options["height"]
        return board_space(width, height, self.players, lambda state: {(x, y): seat for x, y, seat in state.covered})

    def parse_action(self, text: str) -> Any:
        """Read a square such as ``c4``."""
        return parse_square(text)

    def format_action(self, action: Any) -> str:
        """Return the text of a square."""
        x, y = action
        return format_square((x, y))

    def render(self, state: DomineeringState) -> str:
        """Draw the board: ``|`` and ``-`` for the dominoes of seat 0 and of seat 1."""
        cells = [["."] * self.options["width"] for _ in range(self.options["height"])]
        for x, y, seat in state.covered:
            cells[y - 1][x - 1] = "|-"[seat]
        return draw_grid(cells)
