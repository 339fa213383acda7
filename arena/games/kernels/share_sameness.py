"""Whether a kernel finds the same shares in small games for three and more as best play by the rules in Python."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

from arena.base.errors import KernelError
from arena.base.ranking import points_of
from arena.games import Game
from arena.games.kernels.best_play import value_states
from arena.games.kernels.option_sets import small_games
from arena.games.kernels.share_solver import Points, ShareSolver

Both = tuple[Points, Points]
"""The points of each seat: shared, and held against all others."""


def compare_shares(name: str, library: ctypes.CDLL) -> int:
    """Ask a kernel about all states of the small games for three and more; return in how many it knew the shares.

    Raises:
        KernelError: with the first difference.
    """
    return sum(compare_game(ShareSolver(library, game)) for game in small_games(name) if game.players > 2)


def compare_game(kernel: ShareSolver) -> int:
    """Ask a kernel about all states of its game; return in how many it knew the shares.

    Raises:
        KernelError: with the first difference.
    """
    game = kernel.game
    values = value_states(game, partial(_at_end, game), partial(_after_best, game.players))
    known = 0
    for state in values:
        kernel.set_state(state)
        needs = kernel.share_needs()
        if needs is None:
            continue
        known += 1
        expected = [values[game.apply(state, action)] for action in game.legal_actions(state)]
        found = kernel.after_actions()
        if found is None or list(zip(found.shared, found.held, strict=True)) != expected:
            raise KernelError(f"the kernel of {game.name} says of {state}: {found}, not {expected}")
    return known


def _at_end(game: Game[Any], state: Any) -> Both:
    points = points_of(game.ranks(state))
    return points, points


def _after_best(players: int, seat: int, after: list[Both]) -> Both:
    held = tuple((max if mine == seat else min)(held[mine] for _, held in after) for mine in range(players))
    return max((shared for shared, _ in after), key=lambda shared: shared[seat]), held
