"""Executors: where matches are played. One so far, on this machine's cores."""

from __future__ import annotations

from arena.executors.executor import Executor, Played, Void
from arena.executors.local import LocalExecutor

__all__ = ["Executor", "LocalExecutor", "Played", "Void"]
