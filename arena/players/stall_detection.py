"""Whether it was us who were late: a bot must not lose because the machine stood still.

A wait that ends well after its deadline means that this process did not run when it should have: the virtual machine
was halted, the computer slept, memory was short. Then nobody can say whether the answer was late, and the match is
void. But a bot must not be able to make us late on purpose, to have a lost match played again: as far as we had to wait
for the processor (``/proc/self/schedstat``) while the bots used it, the lateness is theirs.
"""

from __future__ import annotations

import contextlib
import os

LATE_SECONDS = 0.05
"""Beyond this, lateness that the bots do not explain makes a match void. The scheduler alone stays below."""


class StallDetector:
    """Knows how long this process has had to wait for the processor since ``mark`` was called last."""

    def __init__(self) -> None:
        self._descriptor = -1
        with contextlib.suppress(OSError):
            self._descriptor = os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        self._waited = 0.0
        self._bots_cpu = 0.0

    def mark(self, bots_cpu_seconds: float) -> None:
        """Remember how things are, well before a deadline."""
        self._waited = self._waited_seconds()
        self._bots_cpu = bots_cpu_seconds

    def was_ours(self, late_seconds: float, bots_cpu_seconds: float) -> bool:
        """Tell whether we were late through no doing of the bots.

        Args:
            late_seconds: how long after the deadline we looked.
            bots_cpu_seconds: CPU time of the bots here and all they started, up to now.
        """
        waited = self._waited_seconds() - self._waited
        by_the_bots = min(waited, bots_cpu_seconds - self._bots_cpu)
        return late_seconds - max(0.0, by_the_bots) > LATE_SECONDS

    def _waited_seconds(self) -> float:
        """Return the time this thread was ready to run and did not, from the kernel's sched-stats.rst, field 2."""
        if self._descriptor < 0:
            return 0.0
        return int(os.pread(self._descriptor, 100, 0).split()[1]) / 1e9

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
