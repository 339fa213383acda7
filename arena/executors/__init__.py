"""Executors: where matches are played. Each plays the matches of a work queue."""

from __future__ import annotations

from arena.executors.executor import Executor, JobResult, Played, Void
from arena.executors.local import LocalExecutor
from arena.executors.work_queue import WorkQueue

__all__ = ["Executor", "JobResult", "LocalExecutor", "Played", "Void", "WorkQueue"]
