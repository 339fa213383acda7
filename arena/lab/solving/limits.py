"""How much time and memory a solver may use, and how many states a game has."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb, factorial
from pathlib import Path
from typing import Any

from arena.base.errors import ArenaError, UsageError
from arena.base.seeds import pick_below
from arena.base.text import counted, short_size_text
from arena.games.game import Game
from arena.games.permutation import partial_permutations
from arena.games.pie import Pie
from arena.lab.solving.worth import By

# How long a solver may take and how much memory it may use.

SHARE_OF_MEMORY = 0.7
"""The share of free memory that a solver may fill; the rest is for the machine."""


class TimeIsUpError(ArenaError):
    """A solver has reached its deadline."""


class TooLargeError(UsageError):
    """A solver would need more memory than it may use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a solver may use; ``deadline`` is an instant by ``clock``, which counts seconds.

    ``watch`` is given now and then how many states the solver has looked at.
    """

    deadline: float = float("inf")
    memory_bytes: int = sys.maxsize
    clock: Callable[[], float] = field(default_factory=lambda: time.monotonic)
    watch: Callable[[int], None] | None = None

    def check_time(self, states: int = 0) -> None:
        """Raise TimeIsUpError after the deadline."""
        if self.clock() >= self.deadline:
            raise TimeIsUpError("the time is up")
        if self.watch is not None:
            self.watch(states)

    def check_memory(self, needed_bytes: int, what: str) -> None:
        """Raise TooLargeError if more is needed than may be used."""
        if needed_bytes > self.memory_bytes:
            room = f"{short_size_text(self.memory_bytes)} may be used"
            raise TooLargeError(f"{what} takes {memory_text(needed_bytes)}, and {room}")


def memory_text(size_bytes: int) -> str:
    """Return about how much memory something takes, in a few words.

    >>> memory_text(3 * 2**30), memory_text(10**400)
    ('about 3.0 GiB', 'more than a million GiB')
    """
    return f"about {short_size_text(size_bytes)}" if size_bytes < 10**6 * 2**30 else "more than a million GiB"


def states_text(count: int) -> str:
    """Return a number of states in a few words.

    >>> states_text(1), states_text(1_441_729), states_text(10**300)
    ('1 state', '1,441,729 states', 'about 10^300 states')
    """
    return counted(count, "state") if count < 10**15 else f"about 10^{len(str(count)) - 1} states"


def free_memory_bytes() -> int:
    """Return how much memory a solver may fill on this machine."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(line for line in lines if line.startswith("MemAvailable:"))
        free = int(available.split()[1]) * 1024
    except (OSError, StopIteration):
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(SHARE_OF_MEMORY * free)


# How many states a game has and how much memory they take, before they are explored.

_BYTES_OF_ENTRY = 120
"""A state's place in a dictionary and a list, its seat, and its value."""

_BYTES_OF_ACTION = 8
_MAX_DEPTH = 6
_MAX_PLIES = 200


FEW_STATES = 20_000
"""With so few, a table by the rules in Python is done before a kernel would be built."""


def count_states(game: Game[Any], path: str) -> int | None:
    """Return the number of reachable states; None if that is not known before."""
    if isinstance(game, Pie):
        return None
    size: int = game.options.get("size", 0)
    if path == "differences":
        return partial_permutations(size)
    if path == "plusminus":
        predicting = (1 << (2 * size - 2)) - 1
        return predicting + (1 << (2 * size - 2)) * partial_permutations(size)
    if path == "multiplication":
        numbering = sum(factorial(size - 1) // factorial(size - number) for number in range(2, size + 1))
        return partial_permutations(size) + factorial(size) * numbering
    if path == "plaid":
        return _sets_of_lines(game)
    return None


def _sets_of_lines(game: Game[Any]) -> int:
    """Return the number of reachable sheets: those before the end, and those one line further."""
    width, height, lines = (game.options[name] for name in ("width", "height", "lines"))
    of_height = [comb(height - 1, level) for level in range(height)]
    total = 0
    continues = [False] * height  # whether a sheet of one upright line less, and each number of level ones, is no end
    for upright in range(width):
        continues_below = upright == 0  # there is the blank sheet, at which all begin
        reached = 0
        for level in range(height):
            is_reached = continues_below or continues[level]
            is_end = upright + level >= lines and (upright + 1) * (level + 1) % game.players == 0
            continues_below = continues[level] = is_reached and not is_end
            reached += of_height[level] if is_reached else 0
        total += reached * comb(width - 1, upright)
    return total


def bytes_per_state(game: Game[Any]) -> int:
    """Return about how much memory a state takes in a table, from those of one match."""
    state = game.initial_state()
    sizes = []
    for ply in range(_MAX_PLIES):
        actions = game.legal_actions(state) if game.seat_to_act(state) is not None else ()
        sizes.append(_size_bytes(state, _MAX_DEPTH) + _BYTES_OF_ACTION * len(actions))
        if not actions:
            break
        state = game.apply(state, actions[pick_below(len(actions), "lab", ply)])
    return _BYTES_OF_ENTRY + sum(sizes) // len(sizes)


def _size_bytes(value: Any, depth: int) -> int:
    if isinstance(value, int | None) or (isinstance(value, str) and len(value) < 2) or depth == 0:
        return 0
    parts = value if isinstance(value, tuple | list | frozenset | set) else ()
    return sys.getsizeof(value) + sum(_size_bytes(part, depth - 1) for part in parts)


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
