"""How many states are to be solved after an opening before bots that slip can play from it, without looking at them."""

from __future__ import annotations

from math import comb, factorial
from typing import Any

from arena.games import Game
from arena.games.differences import Differences
from arena.games.kernels.slips import ACTIONS_PER_STATE, MOST_STATES
from arena.games.multiplication import Multiplication
from arena.games.plaid import Plaid
from arena.games.plusminus import Plusminus


def least_states(game: Game[Any], plies: int) -> int | None:
    """Return how many states in which a seat is to act there are from an opening on; of plaid, at least how many.

    Args:
        game: a game for two.
        plies: of the opening, which does not end the match.

    Returns:
        The number; None if it is not known before (coprimality, games from outside).
    """
    size: int = game.options.get("size", 0)
    if isinstance(game, Differences):
        return _unfinished_grids(size - plies)
    if isinstance(game, Plusminus):
        signs = 2 * (size - 1) - plies
        if signs <= 0:
            return _unfinished_grids(size + signs)
        lists = 1 << signs
        return lists - 1 + lists * _unfinished_grids(size)
    if isinstance(game, Multiplication):
        free = size - plies
        if free < 0:
            return 1 + _numberings(-free + 1, size)
        return _unfinished_grids(free) + factorial(free) * (1 + _numberings(1, size))
    if isinstance(game, Plaid):
        return _sheets(game, plies)[0]
    return None


def may_be_solved(game: Game[Any], plies: int) -> bool:
    """Return whether states and actions after an opening may be few enough; True where nobody knows."""
    states = least_states(game, plies)
    if states is None:
        return True
    actions = _sheets(game, plies)[1] if isinstance(game, Plaid) else 0  # others have few in each state
    return states <= MOST_STATES and actions <= ACTIONS_PER_STATE * MOST_STATES


def _sheets(game: Plaid, plies: int) -> tuple[int, int]:
    """Return how many sheets with fewer lines than end a match follow, and how many actions there are in them."""
    places: int = max(0, game.options["width"] + game.options["height"] - 2 - plies)
    lines: int = game.options["lines"]
    states = actions = 0
    chosen = (
        1  # ways to draw that many more lines; each is computed from the one before, as large sheets have thousands
    )
    for more in range(max(1, lines - plies)):
        states += chosen
        actions += chosen * (places - more)
        chosen = chosen * (places - more) // (more + 1)
    return states, actions


def _unfinished_grids(free: int) -> int:
    """Return the number of ways to put marks on ``free`` columns and rows, none of two in one, but for full grids."""
    return sum(comb(free, marks) ** 2 * factorial(marks) for marks in range(free))


def _numberings(numbered: int, size: int) -> int:
    """Return how many sets of marks, with the last one, follow ``numbered`` of them before all are numbered."""
    free = size - numbered
    return sum(comb(free, more) * more for more in range(1, free))
