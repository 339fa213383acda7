"""The cores of this machine, and which of them each worker is pinned to."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence


def available_cores() -> list[int]:
    """Return the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cores_for_workers(workers: int, cores: list[int]) -> list[frozenset[int] | None]:
    """Assign each worker a core of its own, shared with its bots; none is pinned where there are too few cores.

    Only one of a worker and its bots runs at a time, and a hand-over on one core costs a tenth of one between two.
    """
    if workers > len(cores):
        return [None] * workers
    return [frozenset({core}) for core in cores[:workers]]


class CoreLocks:
    """The cores that this process's workers have, which those of other arenas on this machine leave to them.

    Each lock is a name of a socket that no file stands for (unix(7)), so it ends with this process, and nobody can
    put a link in its place. ``notice`` reports a name that is taken without need; that costs others no match.
    Containers with networks of their own do not see each other's locks.
    """

    def __init__(self) -> None:
        self._locks: dict[int, socket.socket] = {}
        self._others: list[int] = []

    def take(self, workers: int) -> list[frozenset[int] | None]:
        """Take free cores for workers; return which each is pinned to.

        None is pinned if there are too few; the workers then share all cores, also those that others have taken.
        """
        cores = available_cores()
        for core in cores:
            if len(self._locks) < workers and core not in self._locks:
                self._take(core)
        own = sorted(self._locks)
        if workers <= len(own):
            self._others.clear()
        return cores_for_workers(workers, own)

    def _take(self, core: int) -> None:
        lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            lock.bind(f"\0arena-core-{core}")
        except OSError:
            lock.close()
            self._others.append(core)
        else:
            self._locks[core] = lock

    @property
    def notice(self) -> str:
        """A sentence if workers share cores with those of another arena; else empty."""
        return shared_cores_text(self._others)

    def close(self) -> None:
        """Leave the cores to others."""
        for lock in self._locks.values():
            lock.close()
        self._locks.clear()
        self._others.clear()


def shared_cores_text(cores: Sequence[int]) -> str:
    """Return the sentence about cores that another arena has; empty if there are none."""
    if not cores:
        return ""
    which = f"core {cores[0]}" if len(cores) == 1 else f"cores {', '.join(map(str, cores))}"
    return (
        f"Another arena on this machine plays on {which}, which this run shares: its bots may take time from these, and"
        " records say shares_cores. Use fewer workers, or one arena at a time."
    )
