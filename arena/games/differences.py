"""Differences: fill a permutation so that your own list of steps shows many different lengths.

For two players.

1. The board is a grid of ``size`` by ``size`` squares (suggested: 8 or more; 2 to 100 are accepted).
2. The seats take turns, seat 0 first. An action puts a mark on an empty square.
3. No two marks may share a row or a column. The match is over when every row and column has its mark.
4. Seat 0 looks at the heights of the marks from left to right and writes down by how much each differs from the next.
   Seat 1 does the same with the columns of the marks from the bottom row up.
5. With ``scoring = "distinct"`` a seat scores one for each different number in its list.
   With ``scoring = "once"`` it scores one for each number that appears in its list exactly once.
6. The higher score wins; equal scores are a tie.

Before the end, scores count the differences between neighbouring columns (rows) that both have a mark.
Actions are squares ``[x, y]``, listed by column from the left, then by row from the bottom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

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


class DifferencesState(NamedTuple):
    """The marks, as the height in each column (0 if empty)."""

    heights: Heights


class Differences(PermutationGame[DifferencesState]):
    """The rules above."""

    name: ClassVar[str] = "differences"
    summary: ClassVar[str] = "Place marks in a permutation; score the different step lengths of your list."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        size_option(8),
        ChoiceOption(
            "scoring",
            "distinct",
            ("distinct", "once"),
            "which differences score: each different one, or each that appears once (rule 5)",
        ),
        PIE,
    )
    action_format: ClassVar[str] = "a square [x, y]; in text c4 for [3, 4]"
    mine: ClassVar[str] = (
        "the marks are shared, the lists are not. In seat 0 your list is by how much the heights in neighbouring"
        " columns differ; in seat 1 by how much the columns of the marks in neighbouring rows differ. The different"
        " numbers in it score."
    )

    def initial_state(self) -> DifferencesState:
        return DifferencesState(no_marks(self.size))

    def seat_to_act(self, state: DifferencesState) -> int | None:
        """Alternate, seat 0 first (rule 2), until the grid is full (rule 3)."""
        empty = state.heights.count(0)
        return (self.size - empty) % 2 if empty else None

    def legal_actions(self, state: DifferencesState) -> Sequence[Any]:
        """Return the squares in free columns and rows (rule 3)."""
        return free_squares(state.heights)

    def apply(self, state: DifferencesState, action: Any) -> DifferencesState:
        """Put a mark (rules 2 and 3)."""
        if 0 not in state.heights:
            raise refuse_when_over(action)
        return DifferencesState(place(state.heights, action, rule=3))

    def scores(self, state: DifferencesState) -> tuple[int, ...]:
        """Score P for seat 0 and Q for seat 1 (rules 4 and 5)."""
        return self._score(state.heights), self._score(inverse(state.heights))

    def _score(self, line: Heights) -> int:
        differences = [abs(step) for _, step in known_steps(line)]
        if self.options["scoring"] == "once":
            return sum(count == 1 for count in Counter(differences).values())
        return len(set(differences))

    def score_bounds(self, state: DifferencesState) -> Sequence[tuple[int, int]]:
        """Let each unknown difference add one; by ``"once"`` it can take one away, too (rule 5)."""
        bounds = []
        for line in (state.heights, inverse(state.heights)):
            score, unknown = self._score(line), self.size - 1 - len(list(known_steps(line)))
            least = max(score - unknown, 0) if self.options["scoring"] == "once" else score
            bounds.append((least, min(score + unknown, self.size - 1)))
        return bounds

    def observation(self, state: DifferencesState) -> dict[str, Any]:
        """Return ``{"heights": [row of the mark in each column, 0 if empty]}``."""
        return {"heights": list(state.heights)}

    def state_from_observation(self, observation: Mapping[str, Any]) -> DifferencesState:
        return DifferencesState(tuple(observation["heights"]))

    def space(self) -> Space:
        return Space(
            actions=all_squares(self.size, self.size),
            max_plies=self.size,
            encode=lambda state: marks_encoded(state.heights),
        )

    def render(self, state: DifferencesState) -> str:
        return draw_marks(state.heights)

    def render_after(self, state: DifferencesState, actions: Sequence[tuple[int, Any]]) -> str:
        return draw_marks(state.heights, mark_letters(actions), last_square(actions))

    def drawing(self, state: DifferencesState) -> Drawing:
        return marks_drawing(state.heights)
