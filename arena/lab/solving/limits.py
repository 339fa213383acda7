"""How long a solver may take and how much memory it may use."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from arena.base.errors import ArenaError, UsageError
from arena.base.text import counted, short_size_text

SHARE_OF_MEMORY = 0.7
"""Of what is free; the rest is for the machine."""


class TimeIsUpError(ArenaError):
    """A solver has reached its deadline."""


class TooLargeError(UsageError):
    """A solver would need more memory than it may use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a solver may use.

    Attributes:
        deadline: the instant, by ``clock``, at which it ends.
        memory_bytes: how much memory it may fill.
        clock: returns the seconds since any instant.
    """

    deadline: float = float("inf")
    memory_bytes: int = sys.maxsize
    clock: Callable[[], float] = field(default_factory=lambda: time.monotonic)

    def check_time(self) -> None:
        """Raise TimeIsUpError after the deadline."""
        if self.clock() >= self.deadline:
            raise TimeIsUpError("the time is up")

    def check_memory(self, needed_bytes: int, what: str) -> None:
        """Raise TooLargeError if more is needed than may be used."""
        if needed_bytes > self.memory_bytes:
            room = f"{short_size_text(self.memory_bytes)} may be used"
            raise TooLargeError(f"{what} takes {memory_text(needed_bytes)}, and {room}")


def memory_text(size_bytes: int) -> str:
    """Return about how much memory something takes, in a few words whatever the number.

    >>> memory_text(3 * 2**30), memory_text(10**400)
    ('about 3.0 GiB', 'more than a million GiB')
    """
    return f"about {short_size_text(size_bytes)}" if size_bytes < 10**6 * 2**30 else "more than a million GiB"


def states_text(count: int) -> str:
    """Return a number of states in a few words, whatever it is.

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
