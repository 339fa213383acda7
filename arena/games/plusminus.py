"""Plusminus: foretell the ups and downs of a permutation, then fight over its shape.

For two players.

1. Prediction. The seats take turns, seat 0 first, each adding ``"+"`` or ``"-"`` to the end of its own list, until both
   lists have ``size`` - 1 signs. Both seats see both lists.
2. Grid. Then the seats take turns putting a mark on an empty square of a ``size`` by ``size`` grid (suggested: 8 or
   more; 2 to 100 are accepted). With ``grid_first = 1`` seat 0 starts, as if the turns simply continued; with
   ``grid_first = 2`` seat 1 starts, which the designer later thought fairer.
3. No two marks may share a row or a column. The match is over when every row and column has its mark.
4. Seat 0 compares its list with the steps of the marks' heights from left to right: ``+`` for up, ``-`` for down.
   Seat 1 compares its list with the steps of the marks' columns from the bottom row up. Each sign that agrees with its
   step scores one.
5. The higher score wins; equal scores are a tie.

Before the end, scores count the steps between neighbouring columns (rows) that both have a mark.
Actions are ``"+"`` and ``"-"``, in this order, then squares ``[x, y]``, by column from the left, then by row from the
bottom.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from arena.base.errors import IllegalActionError
from arena.games.drawing import Drawing
from arena.games.game import ChoiceOption, Option, Space, all_squares, refuse_when_over
from arena.games.permutation import (
    Heights,
    PermutationGame,
    draw_marks,
    free_squares,
    inverse,
    known_steps,
    last_square,
    mark_letters,
    marks_drawing,
    marks_encoded,
    no_marks,
    place,
    size_option,
)
from arena.games.pie import PIE
from arena.games.squares import seat_letter

SIGNS = ("+", "-")
_NUMBERS = {"+": 1.0, "-": -1.0, " ": 0.0}


class PlusminusState(NamedTuple):
    """Both prediction lists (as strings of signs) and the marks (the height in each column, 0 if empty)."""

    predictions: tuple[str, str]
    heights: Heights


class Plusminus(PermutationGame[PlusminusState]):
    """The rules above."""

    name: ClassVar[str] = "plusminus"
    summary: ClassVar[str] = "Predict the ups and downs of a permutation, then place its marks in turn."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        size_option(8),
        ChoiceOption("grid_first", 1, (1, 2), "which player starts the grid phase (rule 2)"),
        PIE,
    )
    action_format: ClassVar[str] = 'a sign "+" or "-", then a square [x, y]; in text + or -, then c4 for [3, 4]'
    mine: ClassVar[str] = (
        "`predictions[seat]` are your signs; the marks are shared. In seat 0 you score one for each sign that fits the"
        " step between the heights of the same two neighbouring columns, from the left; in seat 1 the signs go with the"
        " columns of the marks in neighbouring rows, from the bottom."
    )

    def initial_state(self) -> PlusminusState:
        return PlusminusState(("", ""), no_marks(self.size))

    def is_predicting(self, state: PlusminusState) -> bool:
        """Return whether the lists are still growing (rule 1); seat 1 completes its list last."""
        return len(state.predictions[1]) < self.size - 1

    def seat_to_act(self, state: PlusminusState) -> int | None:
        """Alternate from seat 0 (rule 1), then from the seat ``grid_first`` names (rule 2), to the end (rule 3)."""
        if self.is_predicting(state):
            return len(state.predictions[0]) - len(state.predictions[1])
        empty = state.heights.count(0)
        first: int = self.options["grid_first"] - 1
        return (first + self.size - empty) % 2 if empty else None

    def legal_actions(self, state: PlusminusState) -> Sequence[Any]:
        """Return both signs (rule 1), or the squares in free columns and rows (rule 3)."""
        return SIGNS if self.is_predicting(state) else free_squares(state.heights)

    def apply(self, state: PlusminusState, action: Any) -> PlusminusState:
        """Add a sign (rule 1) or put a mark (rules 2 and 3)."""
        if self.is_predicting(state):
            return self._predict(state, action)
        if 0 not in state.heights:
            raise refuse_when_over(action)
        if type(action) is str:
            raise IllegalActionError(action, "the lists are full; expected a square [x, y] (rule 2)")
        return PlusminusState(state.predictions, place(state.heights, action, rule=3))

    def _predict(self, state: PlusminusState, action: Any) -> PlusminusState:
        if type(action) is not str or action not in SIGNS:
            raise IllegalActionError(action, 'the lists are not full yet; expected a sign "+" or "-" (rule 1)')
        zero, one = state.predictions
        predictions = (zero + action, one) if len(zero) == len(one) else (zero, one + action)
        return PlusminusState(predictions, state.heights)

    def scores(self, state: PlusminusState) -> tuple[int, ...]:
        """Compare seat 0's list with P and seat 1's with Q (rule 4)."""
        lines = state.heights, inverse(state.heights)
        return tuple(
            sum(k < len(signs) and (step > 0) == (signs[k] == "+") for k, step in known_steps(line))
            for signs, line in zip(state.predictions, lines, strict=True)
        )

    def score_bounds(self, state: PlusminusState) -> Sequence[tuple[int, int]]:
        """Let each unknown step agree or not (rule 4)."""
        lines = state.heights, inverse(state.heights)
        unknown = (self.size - 1 - len(list(known_steps(line))) for line in lines)
        return [(score, score + left) for score, left in zip(self.scores(state), unknown, strict=True)]

    def observation(self, state: PlusminusState) -> dict[str, Any]:
        """Return ``{"predictions": [seat 0's signs, seat 1's signs], "heights": [...]}``; signs are one string."""
        return {"predictions": list(state.predictions), "heights": list(state.heights)}

    def state_from_observation(self, observation: Mapping[str, Any]) -> PlusminusState:
        zero, one = observation["predictions"]
        return PlusminusState((zero, one), tuple(observation["heights"]))

    def parse_action(self, text: str) -> Any:
        return text.strip() if text.strip() in SIGNS else super().parse_action(text)

    def format_action(self, action: Any) -> str:
        return action if isinstance(action, str) else super().format_action(action)

    def space(self) -> Space:
        """Return signs and squares as actions; as numbers both lists, 0 for a missing sign, and the marks."""

        def encode(state: PlusminusState) -> list[float]:
            lists = [signs.ljust(self.size - 1) for signs in state.predictions]
            return [*(_NUMBERS[sign] for signs in lists for sign in signs), *marks_encoded(state.heights)]

        return Space(actions=(*SIGNS, *all_squares(self.size, self.size)), max_plies=3 * self.size - 2, encode=encode)

    def render(self, state: PlusminusState) -> str:
        return "\n".join([draw_marks(state.heights), *self._lists(state)])

    def _lists(self, state: PlusminusState) -> Iterator[str]:
        for seat, signs in zip(self.shown_seats, state.predictions, strict=True):
            yield f"seat {seat} predicts {' '.join(signs) or 'nothing yet'}"

    def render_after(self, state: PlusminusState, actions: Sequence[tuple[int, Any]]) -> str:
        """Draw the marks as the letters of their seats; below them both lists, with brackets around the last sign."""
        signs = [list(given) for given in state.predictions]
        if actions and actions[-1][1] in SIGNS:
            last_list = signs[len(signs[0]) == len(signs[1])]
            last_list[-1] = f"[{last_list[-1]}]"
        lists = (
            f"{seat_letter(seat)} predicts {' '.join(given) or 'nothing yet'}"
            for seat, given in zip(self.shown_seats, signs, strict=True)
        )
        return "\n".join([draw_marks(state.heights, mark_letters(actions), last_square(actions)), *lists])

    def drawing(self, state: PlusminusState) -> Drawing:
        """Draw the marks as shapes; the lists beside them."""
        return marks_drawing(state.heights, notes=tuple(self._lists(state)))
