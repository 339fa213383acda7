"""Games as numbers, for learning and search libraries: every action is an index, every state a vector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError
from arena.games import Game
from arena.games.coprimality import Coprimality
from arena.games.differences import Differences
from arena.games.multiplication import Multiplication
from arena.games.plaid import Plaid
from arena.games.plusminus import SIGNS, Plusminus

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True)
class GameSpace:
    """A game as numbers.

    Attributes:
        actions: all actions that can be legal in some state, in the order of their indices.
        max_plies: the largest number of actions in a match.
        encode: turns a state into a vector of numbers from -1 to 1, always of the same length. It begins with the seat
            to act, one number for each seat.
    """

    actions: tuple[Any, ...]
    max_plies: int
    encode: Callable[[Any], Vector]

    def index_of(self) -> dict[Any, int]:
        """Return the index of each action."""
        return {action: index for index, action in enumerate(self.actions)}


def space_of(game: Game[Any]) -> GameSpace:
    """Return the space of one of the five games.

    Raises:
        UsageError: for another game; pass a ``GameSpace`` of your own.
    """
    for kind, make in _SPACES.items():
        if isinstance(game, kind):
            return make(game)
    raise UsageError(f"game {game.name!r}: only the five games have a GameSpace; pass one of your own")


def legal_mask(game: Game[Any], state: Any, index_of: dict[Any, int]) -> npt.NDArray[np.int8]:
    """Return 1 for every legal action and 0 for the others, by index."""
    mask = np.zeros(len(index_of), dtype=np.int8)
    if not game.is_over(state):
        mask[[index_of[action] for action in game.legal_actions(state)]] = 1
    return mask


def rewards(game: Game[Any], state: Any) -> list[float]:
    """Return, for each seat, the share of others it has beaten minus the share that has beaten it; the sum is zero."""
    ranks = game.ranks(state)
    return [sum((other > mine) - (other < mine) for other in ranks) / (len(ranks) - 1) for mine in ranks]


def _squares(size: int) -> tuple[Any, ...]:
    return tuple((x, y) for x in range(1, size + 1) for y in range(1, size + 1))


def _acting(game: Game[Any], state: Any) -> list[float]:
    seat = game.seat_to_act(state)
    return [float(seat == other) for other in range(game.players)]


def _marks(heights: tuple[int, ...]) -> list[float]:
    size = len(heights)
    return [float(heights[x] == y) for x in range(size) for y in range(1, size + 1)]


def _vector(*parts: list[float]) -> Vector:
    return np.array([number for part in parts for number in part], dtype=np.float32)


def _differences(game: Differences) -> GameSpace:
    return GameSpace(_squares(game.size), game.size, lambda state: _vector(_acting(game, state), _marks(state.heights)))


def _plusminus(game: Plusminus) -> GameSpace:
    signs = {"+": 1.0, "-": -1.0}

    def encode(state: Any) -> Vector:
        lists = [[signs[sign] for sign in prediction] for prediction in state.predictions]
        padded = [number for row in lists for number in (*row, *[0.0] * (game.size - 1 - len(row)))]
        return _vector(_acting(game, state), padded, _marks(state.heights))

    return GameSpace((*SIGNS, *_squares(game.size)), 3 * game.size - 2, encode)


def _multiplication(game: Multiplication) -> GameSpace:
    def encode(state: Any) -> Vector:
        numbers = [0.0] * game.size
        for number, x in enumerate(state.numbered, 1):
            numbers[x - 1] = number / game.size
        return _vector(_acting(game, state), _marks(state.heights), numbers)

    return GameSpace(_squares(game.size), 2 * game.size - 1, encode)


def _plaid(game: Plaid) -> GameSpace:
    upright, level = range(1, game.width), range(1, game.height)

    def encode(state: Any) -> Vector:
        return _vector(
            _acting(game, state),
            [float(x in state.vertical) for x in upright],
            [float(y in state.horizontal) for y in level],
        )

    actions = (*(("v", x) for x in upright), *(("h", y) for y in level))
    return GameSpace(actions, len(actions), encode)


def _coprimality(game: Coprimality) -> GameSpace:
    size, grids = game.size, game.options["max_grids"]

    def encode(state: Any) -> Vector:
        numbers = [number / (size * size) for number in state.numbers]
        head = [float(index == state.here) for index in range(size * size)]
        out = [float(seat in state.eliminated) for seat in range(game.players)]
        rest = [state.turn / (size * size), state.grids_used / grids]
        return _vector(_acting(game, state), numbers, head, out, rest)

    return GameSpace(_squares(size), grids * (size * size - 1), encode)


_SPACES: dict[type[Game[Any]], Callable[[Any], GameSpace]] = {
    Plusminus: _plusminus,
    Plaid: _plaid,
    Coprimality: _coprimality,
    Differences: _differences,
    Multiplication: _multiplication,
}
