"""Whether a kernel plays the same encounters of bots that slip as the rules in Python."""

from __future__ import annotations

import ctypes

from arena.errors import KernelError
from arena.lab.kernels.option_sets import small_games
from arena.lab.kernels.slips import MOST_STATES, SlipKernel, encounters_by_rules

_SEED, _COUNT, _SLIPS_PERMILLE = 1, 20, (50, 300)


def compare_slips(name: str, library: ctypes.CDLL) -> int:
    """Play encounters of the small games for two with both; return in how many games.

    Raises:
        KernelError: with the first difference.
    """
    games = [game for game in small_games(name) if game.players == 2]
    for game in games:
        for line in ([], [game.legal_actions(game.initial_state())[-1]]):
            expected = encounters_by_rules(game, line, _SEED, _COUNT, _SLIPS_PERMILLE)
            found = SlipKernel(library, game).encounters(line, _SEED, _COUNT, _SLIPS_PERMILLE, MOST_STATES)
            if found != expected:
                raise KernelError(f"the kernel of {name} plays slips of {game.options} otherwise than the rules")
    return len(games)
