"""A game as numbers, for learning and search libraries: every action has an index, every state is a vector.

A game has a space if it has a method ``space``; ``arena.interop`` brings such games to PettingZoo and OpenSpiel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.games.squares import Square


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A game as numbers.

    Attributes:
        actions: all actions that can be legal in some state; an action's index is its position.
        max_plies: the largest number of actions in a match.
        encode: turns a state into numbers from -1 to 1, always the same count. The adapters add whose turn it is.
    """

    actions: tuple[Any, ...]
    max_plies: int
    encode: Callable[[Any], Sequence[float]]


def all_squares(width: int, height: int) -> tuple[Square, ...]:
    """Return the squares of a board, by column from the left, then by row from the bottom."""
    return tuple((x, y) for x in range(1, width + 1) for y in range(1, height + 1))


def one_hot(values: Iterable[object], choices: Sequence[object]) -> list[float]:
    """Return, for each choice, a number for each value: 1 if it equals the choice, else 0.

    >>> one_hot(["red", "blue", None], choices=["red", "blue"])
    [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """
    listed = list(values)
    return [float(value == choice) for choice in choices for value in listed]


def board_space(
    width: int,
    height: int,
    players: int,
    owners: Callable[[Any], Mapping[Square, int]],
    *,
    other_actions: tuple[Any, ...] = (),
    max_plies: int | None = None,
) -> Space:
    """Return the space of a game on a board whose squares belong to seats: its actions are squares.

    The vector of a state has, for each seat, 1 for its squares and 0 for the others.

    Args:
        width: columns of the board.
        height: rows of the board.
        players: seats of the game.
        owners: returns the seat of each square that belongs to one. If states with the same owners and the same seat to
            act can differ, make a ``Space``.
        other_actions: actions that are not squares, such as "pass".
        max_plies: the largest number of actions in a match; by default one for each square.
    """
    squares = all_squares(width, height)

    def encode(state: Any) -> list[float]:
        owner = owners(state)
        return one_hot(map(owner.get, squares), range(players))

    return Space(
        actions=(*squares, *other_actions),
        max_plies=len(squares) if max_plies is None else max_plies,
        encode=encode,
    )
