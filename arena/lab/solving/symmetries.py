"""Which first actions are the same but for a symmetry of the board, which leaves every seat its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arena.games.game import Game

ActionMap = Callable[[Any], Any]


def symmetries_of(game: Game[Any], path: str) -> tuple[ActionMap, ...]:
    """Return the symmetries of a game's first state, as maps of actions, without the one that changes nothing.

    In differences, both reflections keep the lengths of all steps. In multiplication only the one that keeps the
    leftmost mark where it is: number 1. In coprimality the reflection at the diagonal through the 1. Plusminus has
    none, as its lists grow in one direction, and plaid none, as half a turn gives rectangles to other seats. A game
    from outside has none that the arena knows.

    Args:
        game: the rules.
        path: the game's name or dotted path.
    """
    beyond = game.options.get("size", 0) + 1
    if path == "differences":
        return (
            lambda square: (beyond - square[0], square[1]),
            lambda square: (square[0], beyond - square[1]),
            lambda square: (beyond - square[0], beyond - square[1]),
        )
    if path == "multiplication":
        return (lambda square: (square[0], beyond - square[1]),)
    if path == "coprimality":
        return (lambda square: (beyond - square[1], beyond - square[0]),)
    return ()


def up_to_symmetry(game: Game[Any], path: str, actions: Sequence[Any]) -> list[Any]:
    """Return the first of all actions that are the same but for a symmetry of the first state."""
    return list(dict.fromkeys(representatives(game, path, actions).values()))


def representatives(game: Game[Any], path: str, actions: Sequence[Any]) -> dict[Any, Any]:
    """Return for each action the first one that is the same but for a symmetry of the first state."""
    maps = symmetries_of(game, path)
    firsts: dict[Any, Any] = {}
    for action in actions:
        for same in (action, *(one(action) for one in maps)):
            firsts.setdefault(same, action)
    return {action: firsts[action] for action in actions}
