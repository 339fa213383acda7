"""Matches on this machine: one worker process per slot, each with a pipe of its own.

A worker that dies takes exactly one match with it, the one it was playing; the match that waited in its pipe is given
to another worker, and a new worker takes its place. (``concurrent.futures`` would fail every unfinished match instead,
and ``multiprocessing.Pool`` would wait for the lost one for ever.)
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Any

from arena.errors import UsageError
from arena.executors.executor import Executor, JobResult, Void
from arena.executors.log_file import JoinedLog
from arena.executors.work_queue import WorkQueue
from arena.executors.worker import Ready, WorkerSettings, run_worker
from arena.executors.worker_start import MAX_FAILED_STARTS, StartedWorkers, end_if_importing
from arena.isolation.launch_spec import Isolation
from arena.records import DEFAULT_LIMITS, Limits, MatchSpec

SPECS_PER_WORKER = 2
"""The match being played and the next one, so that a worker never waits for the director."""

LEAVING_SECONDS = 5.0
"""How long workers may take to end their bots and leave."""

REFRESH_SECONDS = 0.25

START_AGAIN_SECONDS = 0.5
"""How long to wait when the machine has no room for one more process."""

GATHER_SECONDS = 0.05
"""How long results are gathered, so that one transaction records several; what is lost with them is played again."""


class _Worker:
    """A worker process, its pipe, whether it has begun, and the matches it has been given."""

    def __init__(self, process: BaseProcess, pipe: Connection[Any, Any]) -> None:
        self.process = process
        self.pipe = pipe
        self.is_ready = False
        self.given: deque[MatchSpec] = deque()


class LocalExecutor(Executor):
    """Plays match specs on several cores. A context manager: leaving it leaves no process behind."""

    def __init__(
        self,
        workers: int,
        isolation: Isolation,
        limits: Limits = DEFAULT_LIMITS,
        fresh_bots: bool = False,
        log_path: Path | None = None,
    ) -> None:
        """Prepare an executor.

        Args:
            workers: matches at a time.
            isolation: the level from ``choose_isolation``.
            limits: what a bot may use.
            fresh_bots: launch every bot anew for every match.
            log_path: the log file of all workers; None for no log.
        """
        self._context = multiprocessing.get_context("spawn")
        self._log = JoinedLog(log_path, self._context)
        self._settings = [
            WorkerSettings(isolation, limits, fresh_bots, cores)
            for cores in cores_for_workers(workers, available_cores())
        ]
        self._workers: list[_Worker] = []
        self._starts = StartedWorkers()

    def __enter__(self) -> LocalExecutor:
        end_if_importing()
        self._log.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self._workers:
            worker.pipe.close()
            if error is not None:
                worker.process.terminate()
        deadline = time.monotonic() + LEAVING_SECONDS
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()
        self._log.__exit__(kind, error, at)

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches; each worker has the match it plays and the next one.

        Raises:
            UsageError: if workers can't be started.
        """
        if not self._workers:
            self._workers = [self._start(number) for number in range(len(self._settings))]
        results: list[JobResult] = []
        yielded_at = time.monotonic()
        while not queue.is_finished():
            self._hand_out(queue)
            if self._is_busy():
                results += self._collect(queue, GATHER_SECONDS if results else REFRESH_SECONDS)
            if not results or not self._is_busy() or time.monotonic() - yielded_at >= GATHER_SECONDS:
                yield results
                results, yielded_at = [], time.monotonic()

    def _is_busy(self) -> bool:
        return any(worker.given for worker in self._workers)

    def _collect(self, queue: WorkQueue, timeout_seconds: float) -> list[JobResult]:
        """Wait for workers to answer or to die; return what came."""
        by_pipe = {worker.pipe: worker for worker in self._workers}
        results: list[JobResult] = []
        ready = wait(list(by_pipe), timeout=timeout_seconds)
        if not ready:
            self._wake()
        for pipe in ready:
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                message = worker.pipe.recv()
                if isinstance(message, Ready):
                    worker.is_ready = True
                    self._starts.note_ready()
                    continue
                results.append(message)
                worker.given.popleft()
            except (EOFError, ConnectionError):
                results += self._replace(queue, worker)
        return results

    def _wake(self) -> None:
        """Let stopped workers go on: where a bot runs under our own uid, it can stop one for ever."""
        for worker in self._workers:
            with contextlib.suppress(OSError):
                os.kill(worker.process.pid or os.getpid(), signal.SIGCONT)

    def _hand_out(self, queue: WorkQueue) -> None:
        for depth in range(1, SPECS_PER_WORKER + 1):
            for worker in self._workers:
                if len(worker.given) < depth:
                    spec = queue.take()
                    if spec is None:
                        return
                    worker.given.append(spec)
                    with contextlib.suppress(ConnectionError):  # its death is noticed when its answer is awaited
                        worker.pipe.send(spec)

    def _start(self, number: int) -> _Worker:
        """Start a worker.

        Raises:
            UsageError: if the machine has no room for it.
        """
        for _ in range(MAX_FAILED_STARTS):
            try:
                return self._start_once(number)
            except OSError as error:
                reason = error.strerror
                time.sleep(START_AGAIN_SECONDS)
        raise UsageError(f"no worker can be started: {reason}")

    def _start_once(self, number: int) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=run_worker,
            args=(theirs, self._settings[number], self._log.queue),
            name=f"worker-{number}",
            daemon=True,
        )
        try:
            process.start()
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        return _Worker(process, ours)

    def _replace(self, queue: WorkQueue, worker: _Worker) -> list[JobResult]:
        """Put a new worker in a dead one's place; the match it was playing is void, the next one is requeued.

        Raises:
            UsageError: if workers can't be started.
        """
        worker.process.join()
        code = worker.process.exitcode or 0
        worker.pipe.close()
        given = list(worker.given)
        lost = [Void(spec, f"the worker ended ({_ending(code)})") for spec in given[:1]]
        if not worker.is_ready:
            self._starts.note_end(code)
            lost = lost if code < 0 else []  # it failed before it could begin; whoever was killed may have begun
        for spec in given[len(lost) :]:
            queue.requeue(spec)
        self._log.renew()
        number = self._workers.index(worker)
        self._workers[number] = self._start(number)
        return [*lost]


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"


def available_cores() -> list[int]:
    """Return the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cores_for_workers(workers: int, cores: list[int]) -> list[frozenset[int] | None]:
    """Give each worker a core of its own, for itself and its bots; none is pinned when there are too few.

    Only one of a worker and its bots runs at a time, and on one core the hand-over costs a tenth of what it costs
    between two.
    """
    if workers > len(cores):
        return [None] * workers
    return [frozenset({core}) for core in cores[:workers]]
