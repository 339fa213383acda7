"""Plays matches in this process, one after another: for tests, and for debugging with breakpoints."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from types import TracebackType
from typing import ClassVar, Self

from arena.executors.executor import Executor, Job, JobResult
from arena.executors.log_file import JoinedLog
from arena.executors.work_queue import WorkQueue
from arena.executors.worker import play_spec
from arena.match.bot_pool import BotPool
from arena.players.function_bot import isolation_for


class InProcessExecutor(Executor):
    """Plays one match at a time; the caller waits while it is played.

    No worker process stands between the bots and the director: choose it only where the isolation level protects this
    process.
    """

    plays_functions: ClassVar[bool] = True

    def __init__(self, job: Job) -> None:
        """Prepare an executor."""
        self._pool = BotPool(isolation_for(job.bots, job.isolation), job.limits, job.fresh_bots)
        self._log = JoinedLog(job.log_path, multiprocessing.get_context("spawn"))

    def __enter__(self) -> Self:
        """Open the log."""
        self._log.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the bots."""
        self._pool.close()
        self._log.__exit__(kind, error, at)

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches, one for each list."""
        while (spec := queue.take()) is not None:
            yield [play_spec(self._pool, spec)]
