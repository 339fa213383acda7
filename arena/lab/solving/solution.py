"""What is known of a game with its options, and what finding it out would take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from arena.base.errors import KernelError
from arena.base.text import counted, short_size_text
from arena.games.game import Game
from arena.games.kernels.loading import has_solver, solver_of
from arena.games.kernels.slips import least_states
from arena.games.plusminus import Plusminus
from arena.lab.solving.kernel_tables import FEW_STATES, MAX_TABLE_BYTES
from arena.lab.solving.limits import bytes_per_state, count_states, memory_text, states_text
from arena.lab.solving.proofs import proof_of
from arena.lab.solving.state_graph import TIE_RULE, Shares
from arena.lab.solving.worth import Known, Worth

# What is known of a game with its options: the answer of ``arena lab solve``.


class By(StrEnum):
    """A way to solve a game."""

    PROOF = "proof"
    KERNEL = "kernel"
    TABLE = "table"
    SEARCH = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What is known of the first state of a game with its options.

    Attributes:
        worth: of a game for two; others have shares (of rivals beaten, when every seat plays for its own).
        paranoid: the share that each seat can hold against all others together.
        best: the first actions that keep the value, up to symmetry; all of them if ``has_all_best``.
        edges: how many actions were visited; 0 where they were not counted.
        depth: how many actions a search looked ahead completely.
        proofs: the strategies that prove it, or its bounds.
        is_interrupted: whether somebody ended the solver before it knew more.
    """

    game: str
    options: Mapping[str, Any]
    worth: Worth | None = None
    shares: Shares | None = None
    paranoid: Shares | None = None
    shares_known: Known = Known.TABLE
    best: tuple[Any, ...] = ()
    has_all_best: bool = False
    states: int = 0
    edges: int = 0
    seconds: float = 0.0
    memory_bytes: int = 0
    depth: int | None = None
    proofs: tuple[str, ...] = ()
    is_interrupted: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        about: dict[str, Any] = {"game": self.game, "options": dict(self.options)}
        if self.worth is not None:
            about |= self.worth.to_json()
        else:
            about |= {
                "shares": self.shares,
                "paranoid": self.paranoid,
                "known": self.shares_known,
                "tie_rule": TIE_RULE,
            }
        return about | {
            "best": list(self.best),
            "has_all_best": self.has_all_best,
            "states": self.states,
            "edges": self.edges,
            "seconds": round(self.seconds, 3),
            "memory_bytes": self.memory_bytes,
            "depth": self.depth,
            "proofs": list(self.proofs),
        }


# What solving a game would take, before it begins.


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What solving would take, where that is known before, and by which way."""

    states: int | None
    memory_bytes: int | None
    by: By = By.TABLE

    def text(self) -> str:
        """Return it as a sentence."""
        if self.states is None or self.memory_bytes is None:
            return "how many states there are is not known beforehand"
        if self.by is By.KERNEL:
            return f"its kernel solves {states_text(self.states)} and takes {memory_text(self.memory_bytes)}"
        return f"a table has {states_text(self.states)} and takes {memory_text(self.memory_bytes)}"


def plan_of(game: Game[Any], path: str) -> Plan:
    """Return what a table of a game would take."""
    states = count_states(game, path)
    return Plan(states=states, memory_bytes=None if states is None else states * bytes_per_state(game))


# Whether the first lines of a board can be solved at all, from numbers of states alone, before anything is solved.

MOST_STATES = 10**9
"""With more, no search comes to its end in a time for which anybody waits."""


def beyond_reach_reason(game: Game[Any], path: str, plies: int, memory_bytes: int) -> str:
    """Return why nothing can be solved from ``plies`` actions on; empty if something may be.

    The kernel of a game with more than a few states is built if something may be: what solves the lines uses it.
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
    try:
        kernel = solver_of(game)
    except KernelError:
        return 0
    kernel.set_state(state)
    plan = kernel.table_plan()
    return plan.memory_bytes if plan is not None else 0
