"""Plays matches in this process, one after another: for tests, and for debugging with breakpoints."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import ClassVar, Self

from arena.base.live_match import LiveMatch
from arena.match.bot_pool import BotPool
from arena.match.players.function_player import isolation_for
from arena.sandbox.isolation.launcher_client import kept_on
from arena.tournament.executors.executor import Executor, Job, JobResult, Playing, WorkQueue
from arena.tournament.executors.log_file import JoinedLog
from arena.tournament.executors.worker import LiveWeight, play_spec
from arena.tournament.executors.worker_start import CoreLocks, workers_that_fit

LOOKS_A_SECOND = 4
"""How often ``meanwhile`` is called, at most."""


class InProcessExecutor(Executor):
    """Plays one match at a time; the caller waits while it is played.

    No worker process stands between the bots and the director: choose it only where the isolation level protects this
    process. A watched match is seen between two actions, not while a bot thinks.
    """

    plays_functions: ClassVar[bool] = True
    shows_matches: ClassVar[bool] = True

    def __init__(self, job: Job) -> None:
        """Prepare an executor."""
        workers_that_fit(job.limits)
        self._pool = BotPool(isolation_for(job.bots, job.isolation), job.limits, job.fresh_bots)
        self._locks, self._each = CoreLocks(), job.limits.cores
        self._pinned = contextlib.ExitStack()  # in which this thread and the bots are kept on these cores
        self._log = JoinedLog(job.log_path, multiprocessing.get_context("spawn"))
        self._watched: frozenset[int] = frozenset()
        self._weight = LiveWeight()
        self._rest = contextlib.ExitStack()  # in which the bots are watched
        self._since = 0.0
        self._looks = deque([-math.inf] * LOOKS_A_SECOND, maxlen=LOOKS_A_SECOND)

    def __enter__(self) -> Self:
        """Open the log."""
        self._log.__enter__()
        (cores,) = self._locks.take(1, self._each)
        self._pinned.enter_context(kept_on(cores))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the bots."""
        self._rest.close()
        self._pool.close()
        self._pinned.close()
        self._locks.close()
        self._log.__exit__(kind, error, at)

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches, one for each list."""
        self._rest.close()
        while (spec := queue.take()) is not None:
            self._since = time.time()
            if spec.match in self._watched:  # the matches before it may have taken all looks of this second
                self._looks.extend([-math.inf] * LOOKS_A_SECOND)
            result = play_spec(self._pool, spec, self._look if self.meanwhile is not None else None)
            self._pool.freeze_kept()  # what the director does now may take any time
            yield [result]
        self._rest.enter_context(self._pool.watched())

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looks[0] >= 1.0 and self.meanwhile is not None:
            self._looks.append(now)
            self.meanwhile()

    def playing(self) -> list[Playing]:
        """Return the match that is being played."""
        referee = self._pool.referee
        return [] if referee is None else [Playing(referee.match, self._since)]

    def watch(self, matches: frozenset[int]) -> None:
        """Have ``live_matches`` return the match that is being played if it is one of these."""
        self._watched = matches

    def live_matches(self) -> list[LiveMatch]:
        """Return the state of the match that is being played, if it is watched."""
        referee = self._pool.referee
        if referee is None or referee.match not in self._watched:
            return []
        return [self._weight.bounded(referee.live())]
