"""Multiplication: mark a permutation together, then number the marks for the largest jumps.

For two or more players.

1. The board is a grid of ``size`` by ``size`` squares, where ``size`` = k * ``players`` + 1 with k of 3 or more (up to
   100). Every seat then makes the same number of jumps.
2. Marking. The seats take turns, seat 0 first, each putting a mark on an empty square, until there are ``size`` marks.
   Seat 0 places the last one too.
3. No two marks may share a row or a column.
4. Numbering. The mark in the leftmost column is number 1 from the start. The seats take turns again, **seat 0** first:
   the j-th action gives number j + 1 to a mark without a number. With ``second_starts = 1``, a variation of this arena
   which is fairer for two, seat 1 is first in the numbering.
5. The seat that writes j + 1 scores the number of columns times the number of rows between the marks j and j + 1.
6. The match is over when every mark is numbered. The highest score wins; equal scores are a tie.

Actions are squares ``[x, y]``, listed by column from the left, then by row from the bottom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, ClassVar, NamedTuple

from arena.base.errors import IllegalActionError, OptionError
from arena.games.drawing import Drawing, Shape
from arena.games.game import IntOption, Option, Space, all_squares, refuse_when_over
from arena.games.permutation import (
    MAX_SIZE,
    Heights,
    PermutationGame,
    draw_marks,
    free_squares,
    last_square,
    mark_letters,
    marks_drawing,
    marks_encoded,
    no_marks,
    place,
    size_option,
)
from arena.games.pie import PIE
from arena.games.squares import square_of

SMALLEST_K = 3


class MultiplicationState(NamedTuple):
    """The marks (the height in each column, 0 if empty) and the columns of the numbered marks, number 1 first."""

    heights: Heights
    numbered: tuple[int, ...]


class Multiplication(PermutationGame[MultiplicationState]):
    """The rules above."""

    name: ClassVar[str] = "multiplication"
    summary: ClassVar[str] = "Place the marks of a permutation, then number them; a jump scores width times height."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("players", 2, 2, (MAX_SIZE - 1) // SMALLEST_K, "number of seats"),
        size_option(9, "rows and columns of the grid: k * players + 1 with k >= 3"),
        IntOption("second_starts", 0, 0, 1, "the seat that starts the numbering", is_variation=True),
        PIE,
    )
    action_format: ClassVar[str] = "a square [x, y]; in text c4 for [3, 4]"
    mine: ClassVar[str] = (
        "the marks are shared, the jumps are not: the seat that writes j + 1 scores columns times rows between the"
        " marks j and j + 1. With p players yours are the jumps from number j = seat + 1, seat + 1 + p,"
        " seat + 1 + 2p, … in `numbered`; with second_starts = 1, those of the seat before you."
    )

    def prepare(self) -> None:
        """Check that every seat makes the same number of jumps (rule 1)."""
        super().prepare()
        self.starter: int = self.options.get("second_starts", 0)
        k, rest = divmod(self.size - 1, self.players)
        if rest or k < SMALLEST_K:
            sizes = range(SMALLEST_K * self.players + 1, MAX_SIZE + 1, self.players)
            smaller = [size for size in sizes if size < self.size][-1:]
            larger = [size for size in sizes if size > self.size][:1]
            nearest = " or ".join(str(size) for size in smaller + larger)
            raise OptionError(
                "size",
                self.size,
                f"multiplication for {self.players} players needs {self.players}k + 1 with k >= 3; nearest: {nearest}",
            )

    def initial_state(self) -> MultiplicationState:
        return MultiplicationState(no_marks(self.size), ())

    def seat_to_act(self, state: MultiplicationState) -> int | None:
        """Take turns from seat 0 in the marking (rule 2), and from seat 0 or 1 in the numbering (rule 4)."""
        if not state.numbered:
            return (self.size - state.heights.count(0)) % self.players
        if len(state.numbered) == self.size:
            return None
        return self.seat_of_jump(len(state.numbered) - 1)

    def seat_of_jump(self, jump: int) -> int:
        """Return the seat that makes a jump; number 0 is the first."""
        return (jump + self.starter) % self.players

    def legal_actions(self, state: MultiplicationState) -> Sequence[Any]:
        """Return the free squares (rule 3), or the marks without a number (rule 4)."""
        if not state.numbered:
            return free_squares(state.heights)
        return [(x, y) for x, y in enumerate(state.heights, 1) if x not in state.numbered]

    def apply(self, state: MultiplicationState, action: Any) -> MultiplicationState:
        """Put a mark (rules 2 and 3) or number one (rule 4)."""
        if state.numbered:
            return self._number(state, action)
        heights = place(state.heights, action, rule=3)
        return MultiplicationState(heights, () if 0 in heights else (1,))

    def _number(self, state: MultiplicationState, action: Any) -> MultiplicationState:
        if len(state.numbered) == self.size:
            raise refuse_when_over(action)
        x, y = square_of(action, self.size, self.size)
        if state.heights[x - 1] != y:
            raise IllegalActionError(action, "there is no mark on this square (rule 4)")
        if x in state.numbered:
            raise IllegalActionError(action, "this mark already has a number (rule 4)")
        return MultiplicationState(state.heights, (*state.numbered, x))

    def scores(self, state: MultiplicationState) -> tuple[int, ...]:
        """Sum the jumps of each seat (rule 5)."""
        totals = [0] * self.players
        numbered, heights = state.numbered, state.heights
        for jump in range(len(numbered) - 1):
            here, there = numbered[jump], numbered[jump + 1]
            totals[self.seat_of_jump(jump)] += abs(here - there) * abs(heights[here - 1] - heights[there - 1])
        return tuple(totals)

    def score_bounds(self, state: MultiplicationState) -> Sequence[tuple[int, int]]:
        """Let each jump that is left score at most the largest one between marks that are left (rule 5)."""
        scores, done = self.scores(state), max(len(state.numbered) - 1, 0)
        largest = (self.size - 1) ** 2
        if 0 not in state.heights:
            passed = set(state.numbered[:-1])
            marks = [(x, y) for x, y in enumerate(state.heights, 1) if x not in passed]
            largest = max((abs(x - u) * abs(y - v) for (x, y), (u, v) in combinations(marks, 2)), default=0)
        left = [self.seat_of_jump(jump) for jump in range(done, self.size - 1)]
        return [(score, score + left.count(seat) * largest) for seat, score in enumerate(scores)]

    def observation(self, state: MultiplicationState) -> dict[str, Any]:
        """Return ``{"heights": [...], "numbered": [square of number 1, of number 2, …]}``."""
        return {
            "heights": list(state.heights),
            "numbered": [[x, state.heights[x - 1]] for x in state.numbered],
        }

    def state_from_observation(self, observation: Mapping[str, Any]) -> MultiplicationState:
        numbered = tuple(x for x, _ in observation["numbered"])
        return MultiplicationState(tuple(observation["heights"]), numbered)

    def space(self) -> Space:
        """Return the squares as actions; as numbers the marks, then the number of the mark in each column."""

        def encode(state: MultiplicationState) -> list[float]:
            numbers = [0.0] * self.size
            for number, x in enumerate(state.numbered, 1):
                numbers[x - 1] = number / self.size
            return [*marks_encoded(state.heights), *numbers]

        return Space(actions=all_squares(self.size, self.size), max_plies=2 * self.size - 1, encode=encode)

    def render(self, state: MultiplicationState) -> str:
        labels = {(x, state.heights[x - 1]): str(number) for number, x in enumerate(state.numbered, 1)}
        return draw_marks(state.heights, labels)

    def render_after(self, state: MultiplicationState, actions: Sequence[tuple[int, Any]]) -> str:
        """Draw the marks as the letters of their seats, and numbers with the letters of those that wrote them."""
        letters = mark_letters(actions)
        for number, x in enumerate(state.numbered, 1):
            square = x, state.heights[x - 1]
            letters[square] = f"{number}{letters.get(square, '')}" if number > 1 else "1"
        return draw_marks(state.heights, letters, last_square(actions))

    def drawing(self, state: MultiplicationState) -> Drawing:
        """Draw the marks with their numbers, and each jump in the colour of the seat that scores it."""
        heights = state.heights
        styles = [f"seat{self.shown_seats[self.seat_of_jump(jump)]}" for jump in range(len(state.numbered))]
        jumps: list[Shape] = [
            ("line", a - 0.5, heights[a - 1] - 0.5, b - 0.5, heights[b - 1] - 0.5, style)
            for style, (a, b) in zip(styles, pairwise(state.numbered), strict=False)
        ]
        numbers: list[Shape] = [
            ("text", x - 0.5, heights[x - 1] - 0.5, 0.4, str(number), "number")
            for number, x in enumerate(state.numbered, 1)
        ]
        return marks_drawing(heights, [*jumps, *numbers])
