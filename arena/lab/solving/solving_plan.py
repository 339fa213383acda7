"""What solving a game would take, before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.games.game import Game
from arena.lab.solving.limits import memory_text, states_text
from arena.lab.solving.solution import By
from arena.lab.solving.state_count import bytes_per_state, count_states


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What solving would take, before it begins.

    Attributes:
        states: how many states there are; None if that is not known before.
        memory_bytes: about how much memory it takes; None if that is not known before.
        by: a table by the rules in Python, or the kernel.
    """

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
