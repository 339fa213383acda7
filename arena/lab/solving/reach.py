"""Whether the first lines of a board can be solved at all, from numbers of states alone, before anything is solved."""

from __future__ import annotations

from typing import Any

from arena.base.errors import KernelError
from arena.base.text import counted, short_size_text
from arena.games.game import Game
from arena.games.kernels.loading import has_solver, solver_of
from arena.games.kernels.slips import least_states
from arena.games.plusminus import Plusminus
from arena.lab.solving.kernel_values import MAX_TABLE_BYTES
from arena.lab.solving.limits import memory_text, states_text
from arena.lab.solving.proofs import proof_of
from arena.lab.solving.saved_tables import FEW_STATES
from arena.lab.solving.state_count import count_states

MOST_STATES = 10**9
"""With more, no search comes to its end in a time for which anybody waits."""


def why_beyond_reach(game: Game[Any], path: str, plies: int, memory_bytes: int) -> str:
    """Return why nothing can be solved from ``plies`` actions on; empty if something may be.

    The kernel of a game with more than a few states is built if something may be: what solves the lines uses it.

    Args:
        game: the rules, of a game for two; those from outside come from ``checked_game``.
        path: the game's name or dotted path.
        plies: how many actions there have been.
        memory_bytes: how much a table may fill.
    """
    states = count_states(game, path) if has_solver(game) else None
    if states is None or states <= FEW_STATES:
        return ""
    state = game.initial_state()
    for _ in range(plies):
        if game.is_over(state):
            return ""
        state = game.apply(state, game.legal_actions(state)[0])
    if game.is_over(state):
        return ""
    proof = proof_of(game, path, state)
    after = least_states(game, plies) or 0
    is_too_much = after > MOST_STATES and proof.low != proof.high
    room = min(MAX_TABLE_BYTES, memory_bytes)
    has_byte_a_state = not isinstance(game, Plusminus)  # whose table before the signs stand has none of the grids
    needed_bytes = after if is_too_much and has_byte_a_state else _table_bytes(game, state) or after
    if not is_too_much or needed_bytes <= room:
        return ""
    options = ", ".join(f"{name} = {value!r}" for name, value in game.options.items())
    return (
        f"{path} with {options}: {states_text(after)} follow {counted(plies, 'action')}, a table of them takes"
        f" {memory_text(needed_bytes)}, and {short_size_text(room)} may be used"
    )


def _table_bytes(game: Game[Any], state: Any) -> int:
    """Return how much memory the kernel's table from a state on takes; 0 without one."""
    try:
        kernel = solver_of(game)
    except KernelError:
        return 0
    kernel.set_state(state)
    plan = kernel.table_plan()
    return plan.memory_bytes if plan is not None else 0
