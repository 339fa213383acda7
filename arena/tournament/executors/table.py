"""The table of executors, and ``open_executor``, the only way to open one."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import ClassVar, NamedTuple, Self
from urllib.parse import urlsplit

from arena.base.definition import Definition
from arena.base.errors import UsageError
from arena.base.live_match import LiveMatch
from arena.base.records import Bot
from arena.match.bot_pool import BotPool
from arena.match.players.building import build_bots
from arena.sandbox.isolation.launcher import kept_on
from arena.sandbox.isolation.levels import isolation_for
from arena.tournament.executors.executor import Executor, Job, JobResult, Playing, WorkQueue
from arena.tournament.executors.worker import LiveWeight, play_spec
from arena.tournament.executors.worker_start import CoreLocks, JoinedLog, workers_that_fit


class ExecutorKind(NamedTuple):
    """A kind of executor: the URLs it accepts, an example for the conformance suite, and what opens one, or None."""

    urls: tuple[str, ...]
    example: str
    open: Callable[[str, Job], Executor | None]


def job_of(definition: Definition, bots: tuple[Bot, ...], workers: int | None, log_path: Path | None = None) -> Job:
    """Return the job of playing these bots under the conditions of a tournament."""
    return Job(
        bots=bots,
        isolation=definition.isolation,
        limits=definition.limits,
        fresh_bots=definition.fresh_bots,
        workers=workers or definition.workers,
        log_path=log_path,
    )


def open_executor(url: str, job: Job) -> Executor:
    """Return the executor that a URL names, ready to be entered, with the bots of its job built.

    Args:
        url: "local", "in-process", "dask://HOST:PORT" (``dask+tls://HOST:PORT`` for another protocol than TCP), or
            "dask://local?processes=N" for a cluster on this machine.

    Raises:
        UsageError: if the URL is not accepted, or the bots can't be sent to other machines.
        BotDefinitionError: if a bot has to be built first, and can't be.
        ClusterError: if a package that the executor needs is not installed.
    """
    kind = EXECUTORS.get(re.split(r"\+|:", url)[0])
    executor = None
    if kind is not None:
        build_bots(job.bots, isolation_for(job.bots, job.isolation))
        executor = kind.open(url, job)
    if executor is None:
        accepted = [form for kind in EXECUTORS.values() for form in kind.urls]
        raise UsageError(f"executor {url!r}: expected {', '.join(accepted[:-1])} or {accepted[-1]}")
    return executor


def _open_local(url: str, job: Job) -> Executor | None:
    from arena.tournament.executors.local import LocalExecutor

    return LocalExecutor(job) if url == "local" else None


def _open_in_process(url: str, job: Job) -> Executor | None:
    return InProcessExecutor(job) if url == "in-process" else None


def _open_dask(url: str, job: Job) -> Executor | None:
    local = re.fullmatch(r"dask://local(?:\?processes=([1-9][0-9]{0,3}))?", url)
    remote = re.fullmatch(r"dask(?:\+([a-z]+))?://([^?\s]+)", url)
    if local is None and (remote is None or not _is_address(remote[2])):
        return None
    from arena.tournament.executors.dask import DaskExecutor  # needs an optional package

    if local is not None:
        return DaskExecutor(job, processes=int(local[1]) if local[1] else None)
    return DaskExecutor(job, f"{remote[1] or 'tcp'}://{remote[2]}") if remote is not None else None


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(f"//{text}")
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number up to 65535, or an unfinished IPv6 address
        return False


EXECUTORS = {
    "local": ExecutorKind(("local",), "local", _open_local),
    "in-process": ExecutorKind(("in-process",), "in-process", _open_in_process),
    "dask": ExecutorKind(("dask://HOST:PORT", "dask://local?processes=N"), "dask://local?processes=2", _open_dask),
}


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
        workers_that_fit(job.limits)
        self._pool = BotPool(isolation_for(job.bots, job.isolation), job.limits, job.fresh_bots)
        self._locks, self._each = CoreLocks(), job.limits.cores
        self._pinned = contextlib.ExitStack()  # in which this thread and the bots are kept on these cores
        self._log = JoinedLog(job.log_path, multiprocessing.get_context("spawn"))
        self._watched: frozenset[int] = frozenset()
        self._weight = LiveWeight()
        self._watching = contextlib.ExitStack()  # in which the bots are watched
        self._since = 0.0
        self._looks = deque([-math.inf] * LOOKS_A_SECOND, maxlen=LOOKS_A_SECOND)

    def __enter__(self) -> Self:
        self._log.__enter__()
        (cores,) = self._locks.take(1, self._each)
        self._pinned.enter_context(kept_on(cores))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._watching.close()
        self._pool.close()
        self._pinned.close()
        self._locks.close()
        self._log.__exit__(kind, error, at)

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches, one for each list."""
        self._watching.close()
        while (spec := queue.take()) is not None:
            self._since = time.time()
            if spec.match in self._watched:  # the matches before it may have taken all looks of this second
                self._looks.extend([-math.inf] * LOOKS_A_SECOND)
            result = play_spec(self._pool, spec, self._call_meanwhile if self.meanwhile is not None else None)
            self._pool.freeze_kept()  # the director may now take any time
            yield [result]
        self._watching.enter_context(self._pool.watched())

    def _call_meanwhile(self) -> None:
        now = time.monotonic()
        if now - self._looks[0] >= 1.0 and self.meanwhile is not None:
            self._looks.append(now)
            self.meanwhile()

    def playing(self) -> list[Playing]:
        referee = self._pool.referee
        return [] if referee is None else [Playing(referee.match, self._since)]

    def watch(self, matches: frozenset[int]) -> None:
        self._watched = matches

    def live_matches(self) -> list[LiveMatch]:
        referee = self._pool.referee
        if referee is None or referee.match not in self._watched:
            return []
        return [self._weight.bounded(referee.live())]
