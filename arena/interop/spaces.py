"""The spaces of games as arrays, and rewards: what both adapters share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.base.errors import GameError, UsageError
from arena.games import Game, Space
from arena.games.pie import Pie

Vector = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]


class GameSpace:
    """A game with its actions as indices and its states as vectors.

    A vector begins with the seat to act, one number for each seat; the rest is from ``Game.space``. Copies and pickles
    share one object for each game with its options.

    Attributes:
        actions: all actions, in the order of their indices.
        max_plies: the largest number of actions in a match.
        length: of a vector.
    """

    def __init__(self, game: Game[Any]) -> None:
        space = game.space()
        if space is None:
            raise UsageError(
                f"game {game.name!r} has no method space(), which PettingZoo and OpenSpiel need: it returns an"
                " arena.games.Space with the game's actions, its longest match, and its states as numbers"
            )
        if not isinstance(space, Space):
            raise GameError(game.name, "space", f"returned {space!r:.80}, expected an arena.games.Space or None")
        self.game = game
        self.actions = tuple(space.actions)
        self.index_of: dict[Any, int] = {}
        for index, action in enumerate(self.actions):
            if self.index_of.setdefault(action, index) != index:
                raise GameError(game.name, "space", f"has the action {action!r:.80} twice")
        self.max_plies = space.max_plies
        self._encode = space.encode
        self.length = game.players + len(self._encode(game.initial_state()))

    def __reduce__(self) -> tuple[Any, ...]:
        kind, options = kind_and_options(self.game)
        return _shared_space, (kind, tuple(options.items()))

    def encode(self, state: Any) -> Vector:
        """Return a state as numbers from -1 to 1, always of the same length."""
        acting = self.game.seat_to_act(state)
        seats = [float(seat == acting) for seat in range(self.game.players)]
        vector = np.array([*seats, *self._encode(state)], dtype=np.float32)
        if len(vector) != self.length or not np.abs(vector).max() <= 1.0:
            expected = self.length - len(seats)
            raise GameError(
                self.game.name,
                "encode",
                f"of its space returned {len(vector) - len(seats)} numbers with an absolute value of at most"
                f" {np.abs(vector).max():.6g}, expected {expected} numbers from -1 to 1",
            )
        return vector

    def legal_indices(self, state: Any) -> list[int]:
        """Return the indices of the legal actions, ascending."""
        legal = self.game.legal_actions(state)
        try:
            return sorted([self.index_of[action] for action in legal])
        except (KeyError, TypeError):
            missing = next(action for action in legal if action not in self.actions)
            raise GameError(
                self.game.name,
                "space",
                f"lacks the legal action {missing!r:.80} among its {len(self.actions)} actions",
            ) from None

    def legal_mask(self, state: Any) -> Mask:
        """Return 1 for every legal action and 0 for the others, by index; all 0 when the match is over."""
        mask = np.zeros(len(self.actions), dtype=np.int8)
        if not self.game.is_over(state):
            mask[self.legal_indices(state)] = 1
        return mask


def space_of(game: Game[Any]) -> GameSpace:
    """Return the space of a game, the same object for the same game with the same options.

    Raises:
        UsageError: if the game has no method ``space``, or a wrong one.
    """
    kind, options = kind_and_options(game)
    return _shared_space(kind, tuple(options.items()))


def kind_and_options(game: Game[Any]) -> tuple[type[Game[Any]], dict[str, Any]]:
    """Return the class and the options by which a game is made again."""
    return game.kind if isinstance(game, Pie) else type(game), game.options


@lru_cache(maxsize=64)
def _shared_space(kind: type[Game[Any]], options: tuple[tuple[str, Any], ...]) -> GameSpace:
    return GameSpace(kind(**dict(options)))


def rewards(game: Game[Any], state: Any) -> list[float]:
    """Return, for each seat, the share of others it has beaten minus the share that has beaten it; the sum is zero."""
    ranks = game.ranks(state)
    return [sum((other > mine) - (other < mine) for other in ranks) / (len(ranks) - 1) for mine in ranks]
