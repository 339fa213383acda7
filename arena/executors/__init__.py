"""Executors: where matches are played. Each plays the matches of a work queue."""

from __future__ import annotations

from arena.executors.executor import Executor, Job, JobResult, Played, Playing, Void
from arena.executors.table import EXECUTORS, open_executor
from arena.executors.work_queue import WorkQueue

__all__ = ["EXECUTORS", "Executor", "Job", "JobResult", "Played", "Playing", "Void", "WorkQueue", "open_executor"]
