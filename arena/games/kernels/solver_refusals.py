"""Whether a kernel refuses what it can't solve, says nothing of what a table does not have, and stops when it is to."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.kernels.option_sets import largest_game, solved_games, unsolved_games
from arena.games.kernels.share_solver import ShareSolver
from arena.games.kernels.solver import KernelSolver

_PAST = 0.0
"""A deadline that is over before the call."""


def check_refusals(name: str, library: ctypes.CDLL) -> None:
    """Check what is refused, and that all else ends at a deadline.

    Raises:
        KernelError: with the first thing that is not so.
    """
    for game in unsolved_games(name):
        kernel = KernelSolver(library, game)
        if kernel.needs() is not None or kernel.table_plan() is not None or kernel.look_up(None, None) is not None:
            raise KernelError(f"the kernel of {name} says that it solves {game.options}")
        if game.players == 2 and ShareSolver(library, game).share_needs() is not None:
            raise KernelError(f"the kernel of {name} says that it shares {game.options}")
    for game in solved_games(name):
        _check_stops(KernelSolver(library, game))
    _check_largest(name, library)


def _check_largest(name: str, library: ctypes.CDLL) -> None:
    """What lasts for hours needs much memory, too; where there is less, that is all that is found."""
    kernel = KernelSolver(library, largest_game(name))
    has_tables = KernelSolver(library, next(iter(solved_games(name)))).table_plan() is not None
    if kernel.needs() is None or (kernel.table_plan() is not None) != has_tables:
        raise KernelError(f"the kernel of {kernel.game.name} does not solve {kernel.game.options}")
    found = None
    with suppress(KernelError):
        found = kernel.solve(_PAST)
    _check(kernel.game, found)


def _check_stops(kernel: KernelSolver) -> None:
    plan = kernel.table_plan()
    _check(kernel.game, kernel.solve(_PAST))
    if plan is None:
        _check(kernel.game, kernel.look_up(None, None, _PAST))
        return
    values = (ctypes.c_int64 * (plan.table_bytes // 8 + 1))()
    _check(kernel.game, kernel.fill(values, _PAST) or None)


def _check(game: Game[Any], found: object) -> None:
    if found is not None:
        raise KernelError(f"the kernel of {game.name} does not stop at a deadline with {game.options}")
