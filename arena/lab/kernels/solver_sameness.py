"""Whether a kernel finds the same worth of small games as best play by the rules in Python."""

from __future__ import annotations

import ctypes
from typing import Any

from arena.errors import KernelError
from arena.games import Game
from arena.lab.kernels.option_sets import small_games
from arena.lab.kernels.solver import FirstState, Solver, parts_of

Value = tuple[int, float]
"""The outcome for seat 0, and the margin, which decides between equal outcomes."""

_ERROR = 2e-9
"""Of a margin in plaid, which the kernel rounds to nine decimals."""


def compare_solutions(name: str, library: ctypes.CDLL) -> int:
    """Solve the small games for two with both; return how many were compared.

    Raises:
        KernelError: with the first difference.
    """
    games = [game for game in small_games(name) if game.players == 2]
    for game in games:
        kernel = Solver(library, game)
        if kernel.needs() is None:
            raise KernelError(f"the kernel of {name} does not solve {game.options}")
        _compare(game, kernel.solve(), parts_of(game))
    return len(games)


def _compare(game: Game[Any], found: FirstState | None, parts: int) -> None:
    first = game.initial_state()
    values: dict[Any, Value] = {}
    expected = _value(game, first, values)
    best = tuple(action for action in game.legal_actions(first) if _near(values[game.apply(first, action)], expected))
    if found is None or not _near((found.outcome, found.margin / parts), expected) or found.best != best:
        options = ", ".join(f"{name} = {value}" for name, value in game.options.items())
        raise KernelError(
            f"the kernel of {game.name} ({options}) solves it otherwise than the rules: {found}, not {expected} {best}"
        )


def _near(one: Value, other: Value) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) < _ERROR


def _value(game: Game[Any], state: Any, values: dict[Any, Value]) -> Value:
    """Return the value of a state, and keep it and those of all that follow; matches of small games are short."""
    known = values.get(state)
    if known is not None:
        return known
    seat = game.seat_to_act(state)
    if seat is None:
        scores, ranks = game.scores(state), game.ranks(state)
        value = (ranks[0] < ranks[1]) - (ranks[1] < ranks[0]), float(scores[0] - scores[1])
    else:
        after = [_value(game, game.apply(state, action), values) for action in game.legal_actions(state)]
        value = max(after) if seat == 0 else min(after)
    values[state] = value
    return value
