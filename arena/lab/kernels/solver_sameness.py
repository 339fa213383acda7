"""Whether a kernel finds the same worth of small games and all their states as best play by the rules in Python."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

from arena.errors import KernelError
from arena.games import Game
from arena.games.plusminus import Plusminus
from arena.lab.kernels.best_play import value_states
from arena.lab.kernels.option_sets import small_games
from arena.lab.kernels.solver import FirstState, KernelSolver, parts_of

Value = tuple[int, float]
"""The outcome for seat 0, and the margin, which decides between equal outcomes."""

_OWN_TABLE_EVERY = 5
"""States."""

_Table = tuple[KernelSolver, ctypes.Array[ctypes.c_int64]]

_ERROR = 2e-9
"""Of a margin in plaid, which the kernel rounds to nine decimals."""


def compare_solutions(name: str, library: ctypes.CDLL) -> int:
    """Solve the small games for two with both; return how many were compared.

    Raises:
        KernelError: with the first difference.
    """
    games = [game for game in small_games(name) if game.players == 2]
    for game in games:
        kernel = KernelSolver(library, game)
        if kernel.needs() is None:
            raise KernelError(f"the kernel of {name} does not solve {game.options}")
        values = _compare(game, kernel.solve(), parts_of(game))
        _compare_states(kernel, library, values)
    return len(games)


def _compare(game: Game[Any], found: FirstState | None, parts: int) -> dict[Any, Value]:
    """Compare what is found of the first state; return the values of all states by the rules."""
    first = game.initial_state()
    values = value_states(game, partial(_at_end, game), lambda seat, after: max(after) if seat == 0 else min(after))
    expected = values[first]
    best = tuple(action for action in game.legal_actions(first) if _near(values[game.apply(first, action)], expected))
    if found is None or not _near((found.outcome, found.margin / parts), expected) or found.best != best:
        options = ", ".join(f"{name} = {value}" for name, value in game.options.items())
        raise KernelError(
            f"the kernel of {game.name} ({options}) solves it otherwise than the rules: {found}, not {expected} {best}"
        )
    return values


def _compare_states(kernel: KernelSolver, library: ctypes.CDLL, values: dict[Any, Value]) -> None:
    """Compare what tables say of each state: that of the first state, and of some states one of their own."""
    game = kernel.game
    tables = {root: _table(game, library, root) for root in {_root_of(game, state) for state in values}}
    for number, state in enumerate(values):
        if game.is_over(state):
            continue
        kernel.set_state(state)
        expected = [values[game.apply(state, action)] for action in game.legal_actions(state)]
        _compare_actions(kernel, state, _looked_up(kernel, tables[_root_of(game, state)]), expected)
        own = _table(game, library, state) if number % _OWN_TABLE_EVERY == 0 else None
        if own is not None:
            _compare_actions(kernel, state, _looked_up(kernel, own), expected)


def _compare_actions(
    kernel: KernelSolver, state: Any, found: list[tuple[int, int]] | None, expected: list[Value]
) -> None:
    parts = parts_of(kernel.game)
    shown = [(outcome, margin / parts) for outcome, margin in found or ()]
    if len(shown) != len(expected) or not all(map(_near, shown, expected)):
        raise KernelError(f"the kernel of {kernel.game.name} says of {state}: {found}, not {expected}")


def _looked_up(kernel: KernelSolver, table: _Table | None) -> list[tuple[int, int]] | None:
    if table is None:
        return kernel.look_up(None, None)
    root, values = table
    return kernel.look_up(root, ctypes.addressof(values))


def _root_of(game: Game[Any], state: Any) -> Any:
    """Return the widest root whose table has a state."""
    first = game.initial_state()
    is_marking = isinstance(game, Plusminus) and not game.is_predicting(state)
    return state._replace(heights=first.heights) if is_marking else first


def _table(game: Game[Any], library: ctypes.CDLL, root: Any) -> _Table | None:
    """Return the kernel in a root, and the values of all that can follow; None if it makes no table of them."""
    kernel = KernelSolver(library, game)
    kernel.set_state(root)
    plan = kernel.table_plan()
    if plan is None:
        return None
    values = (ctypes.c_int64 * (plan.table_bytes // 8 + 1))()
    kernel.fill(values)
    return kernel, values


def _near(one: Value, other: Value) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) < _ERROR


def _at_end(game: Game[Any], state: Any) -> Value:
    scores, ranks = game.scores(state), game.ranks(state)
    return (ranks[0] < ranks[1]) - (ranks[1] < ranks[0]), float(scores[0] - scores[1])
