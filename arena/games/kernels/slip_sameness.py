"""Whether a kernel plays the same encounters of bots that slip as the rules in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.kernels.option_sets import large_games, small_games
from arena.games.kernels.slips import MOST_STATES, SlipKernel, encounters_by_rules

_SEED, _COUNT, _SLIPS_PERMILLE = 1, 20, (50, 300)
_LAST = 5
_STRIDE = 7


def compare_slips(name: str, library: ctypes.CDLL) -> int:
    """Play encounters of small games for two with both, and of large ones near their end; return in how many games.

    Raises:
        KernelError: with the first difference.
    """
    small = [game for game in small_games(name) if game.players == 2]
    large = [game for game in large_games(name) if game.players == 2]
    for game in small:
        _compare(library, game, [])
        _compare(library, game, [game.legal_actions(game.initial_state())[-1]])
    for game in large:
        _compare(library, game, _all_but_the_last(game))
    return len(small) + len(large)


def _compare(library: ctypes.CDLL, game: Game[Any], opening: Sequence[Any]) -> None:
    expected = encounters_by_rules(game, opening, _SEED, _COUNT, _SLIPS_PERMILLE)
    found = SlipKernel(library, game).encounters(opening, _SEED, _COUNT, _SLIPS_PERMILLE, MOST_STATES)
    if found != expected:
        raise KernelError(f"the kernel of {game.name} plays slips of {game.options} otherwise than the rules")


def _all_but_the_last(game: Game[Any]) -> list[Any]:
    """Return a match but for its last actions, so that few states are left on a large board."""
    state, actions = game.initial_state(), list[Any]()
    while not game.is_over(state):
        legal = game.legal_actions(state)
        actions.append(legal[_STRIDE * len(actions) % len(legal)])
        state = game.apply(state, actions[-1])
    return actions[:-_LAST]
