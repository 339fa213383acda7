"""Executors: where matches are played. One so far, on this machine's cores."""

from __future__ import annotations

from arena.tournament.executors.local import LocalExecutor
from arena.tournament.executors.outcome import Executor, Played, Void

__all__ = ["Executor", "LocalExecutor", "Played", "Void"]
