"""Whether the machine stalled: a bot must not lose because the arena looked late.

A wait that ends well after its deadline means that this process did not run when it should have: the virtual machine
was halted, the computer slept, memory was short. Then nobody can say whether the answer was late, and the match is
void. But a bot must not be able to delay the arena on purpose, to have a lost match played again: as far as this
process waited for the processor (``/proc/self/schedstat``) while the bots used it, the delay is theirs.
"""

from __future__ import annotations

import contextlib
import os

STALL_SECONDS = 0.05
"""A delay beyond this that the bots do not explain makes a match void. The scheduler alone stays below."""


class StallDetector:
    """Knows how long this process has waited for the processor since ``mark`` was last called."""

    def __init__(self) -> None:
        self._descriptor = -1
        with contextlib.suppress(OSError):
            self._descriptor = os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        self._waited = 0.0
        self._bots_cpu = 0.0

    def mark(self, bots_cpu_seconds: float) -> None:
        """Remember the state well before a deadline."""
        self._waited = self._waited_seconds()
        self._bots_cpu = bots_cpu_seconds

    def has_stalled(self, delay_seconds: float, bots_cpu_seconds: float) -> bool:
        """Return whether a delay is not the bots' doing.

        Args:
            delay_seconds: how long after the deadline this process looked.
            bots_cpu_seconds: the CPU time of all bots here and all that they started, up to now.
        """
        waited_seconds = self._waited_seconds() - self._waited
        bots_share_seconds = min(waited_seconds, bots_cpu_seconds - self._bots_cpu)
        return delay_seconds - max(0.0, bots_share_seconds) > STALL_SECONDS

    def _waited_seconds(self) -> float:
        """Return how long this thread has been ready to run without running (sched-stats.rst, field 2)."""
        if self._descriptor < 0:
            return 0.0
        return int(os.pread(self._descriptor, 100, 0).split()[1]) / 1e9

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
