"""A small watcher that outlives the arena: when the arena's process ends for whatever reason, it kills its bots.

Run as a program with nothing but the standard library, once for each process that launches bots. It reads lines from
its standard input, ``+PID`` for a bot that was launched (each leads a session of its own) and ``-PID`` for one that has
been ended; when the other end is closed it kills the process group of every bot that is left, and leaves.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    """Watch until standard input ends."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    alive: set[int] = set()
    for line in sys.stdin:
        with contextlib.suppress(ValueError):
            if line[0] == "+":
                alive.add(int(line[1:]))
            else:
                alive.discard(int(line[1:]))
    for pid in alive:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
