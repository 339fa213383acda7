"""How far apart the final scores of the five games can still be, from a state: bounds for a search that stops early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arena.games.differences import Differences
from arena.games.game import Game
from arena.games.multiplication import Multiplication
from arena.games.permutation import Heights, inverse, known_steps
from arena.games.plusminus import Plusminus
from arena.lab.solving.worth import HIGHEST, LOWEST, value_of_margin

Range = tuple[int, int]
"""The lowest and the highest value."""


def range_of(game: Game[Any]) -> Callable[[Any], Range]:
    """Return a function from a state, in which a seat is to act, to the range of its value.

    A game from outside has no bounds: it may do anything.
    """
    if isinstance(game, Differences):
        return lambda state: _differences(game, state)
    if isinstance(game, Plusminus):
        return lambda state: _plusminus(game, state)
    if isinstance(game, Multiplication):
        return lambda state: _multiplication(game, state)
    return lambda _state: (LOWEST, HIGHEST)


def _between(low: tuple[int, int], high: tuple[int, int]) -> Range:
    """Return the range of values, where each seat's final score lies between two numbers."""
    return value_of_margin(low[0] - high[1]), value_of_margin(high[0] - low[1])


def _missing(line: Heights) -> int:
    return len(line) - 1 - sum(1 for _ in known_steps(line))


def _differences(game: Differences, state: Any) -> Range:
    """Each missing step adds a difference at most; with "once" it may also take one away."""
    lines = state.heights, inverse(state.heights)
    scores = game.scores(state)
    missing = [_missing(line) for line in lines]
    may_lose = 1 if game.options["scoring"] == "once" else 0
    low = [max(0, score - may_lose * more) for score, more in zip(scores, missing, strict=True)]
    high = [min(game.size - 1, score + more) for score, more in zip(scores, missing, strict=True)]
    return _between((low[0], low[1]), (high[0], high[1]))


def _plusminus(game: Plusminus, state: Any) -> Range:
    """Each missing step is foretold or not."""
    scores = game.scores(state)
    missing = [_missing(line) for line in (state.heights, inverse(state.heights))]
    return _between((scores[0], scores[1]), (scores[0] + missing[0], scores[1] + missing[1]))


def _multiplication(game: Multiplication, state: Any) -> Range:
    """Each jump that is left covers from 1 to (size - 1)² squares."""
    scores = game.scores(state)
    each = (game.size - 1) // game.players
    done = max(0, len(state.numbered) - 1)
    left = [each - len(range(seat, done, game.players)) for seat in range(2)]
    largest = (game.size - 1) ** 2
    return _between(
        (scores[0] + left[0], scores[1] + left[1]), (scores[0] + largest * left[0], scores[1] + largest * left[1])
    )
