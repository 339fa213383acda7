"""Claims: seats claim squares of a row in turn.

A small game with everything that a game may have, from which tests/games/planted.py makes games with mistakes.

1. The row has ``size`` squares. The seats take turns, seat 0 first, and claim an empty square each.
2. The match is over when the row is full, or one seat is left.
3. A seat scores the number of its squares; with ``scoring = "ends"``, only squares at the ends count.
4. A seat whose bot forfeits goes out; its squares stay.

Actions are squares ``[x, 1]``, from the left.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from arena.games import (
    ChoiceOption,
    Game,
    IllegalActionError,
    IntOption,
    Option,
    draw_grid,
    format_square,
    parse_square,
    refuse_when_over,
    square_of,
)


class ClaimsState(NamedTuple):
    """The owner of each square, -1 without one; the seat to act; the seats that are out, in order."""

    owners: tuple[int, ...]
    seat: int
    out: tuple[int, ...]


class Claims(Game[ClaimsState]):
    """The rules above."""

    name: ClassVar[str] = "claims"
    summary: ClassVar[str] = "Claim squares of a row."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("players", 2, 2, 4, "number of seats"),
        IntOption("size", 4, 2, 6, "squares of the row"),
        ChoiceOption("scoring", "all", ("all", "ends"), "which squares count (rule 3)"),
    )
    action_format: ClassVar[str] = "a square [x, 1]; in text c1 for [3, 1]"

    def initial_state(self) -> ClaimsState:
        return ClaimsState((-1,) * self.options["size"], 0, ())

    def seat_to_act(self, state: ClaimsState) -> int | None:
        is_over = -1 not in state.owners or len(state.out) >= self.players - 1
        return None if is_over else state.seat

    def legal_actions(self, state: ClaimsState) -> Sequence[Any]:
        if self.seat_to_act(state) is None:
            return []
        return [(x, 1) for x, owner in enumerate(state.owners, 1) if owner < 0]

    def apply(self, state: ClaimsState, action: Any) -> ClaimsState:
        if self.seat_to_act(state) is None:
            raise refuse_when_over(action)
        x, _ = square_of(action, len(state.owners), 1)
        if state.owners[x - 1] >= 0:
            raise IllegalActionError(action, "the square is claimed (rule 1)")
        owners = (*state.owners[: x - 1], state.seat, *state.owners[x:])
        return ClaimsState(owners, self._next_seat(state.seat, state.out), state.out)

    def _next_seat(self, seat: int, out: tuple[int, ...]) -> int:
        others = ((seat + step) % self.players for step in range(1, self.players + 1))
        return next((other for other in others if other not in out), seat)

    def withdraw(self, state: ClaimsState) -> ClaimsState | None:
        out = (*state.out, state.seat)
        return ClaimsState(state.owners, self._next_seat(state.seat, out), out)

    def seats_out(self, state: ClaimsState) -> tuple[int, ...]:
        return state.out

    def scores(self, state: ClaimsState) -> tuple[int | float, ...]:
        owners = state.owners if self.options["scoring"] == "all" else (state.owners[0], state.owners[-1])
        return tuple(owners.count(seat) for seat in range(self.players))

    def observation(self, state: ClaimsState) -> dict[str, Any]:
        return {"owners": list(state.owners), "seat": state.seat, "out": list(state.out)}

    def state_from_observation(self, observation: Mapping[str, Any]) -> ClaimsState:
        return ClaimsState(tuple(observation["owners"]), observation["seat"], tuple(observation["out"]))

    def parse_action(self, text: str) -> Any:
        return parse_square(text)

    def format_action(self, action: Any) -> str:
        x, y = action
        return format_square((x, y))

    def render(self, state: ClaimsState) -> str:
        return draw_grid([["." if owner < 0 else str(owner) for owner in state.owners]])
