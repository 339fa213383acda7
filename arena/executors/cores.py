"""The cores of this machine, and which of them each worker is pinned to."""

from __future__ import annotations

import os


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
