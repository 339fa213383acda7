"""Plays matches in worker processes on this machine, each with a pipe of its own."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import select
import signal
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, ClassVar, Self

from arena.base.errors import UsageError
from arena.base.live_match import LiveMatch
from arena.base.programs.service_program import starting_process
from arena.base.records import MatchSpec
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.reaper import end_tracers
from arena.tournament.executors.executor import Executor, Job, JobResult, Playing, Void, WorkQueue
from arena.tournament.executors.worker import Notice, WorkerSettings, run_worker
from arena.tournament.executors.worker_start import (
    MAX_FAILED_STARTS,
    CoreLocks,
    JoinedLog,
    StartedWorkers,
    end_if_importing,
    workers_that_fit,
)

# A worker process as the director sees it: its pipes, and the matches that it has been given.

MIN_SPECS = 2
"""The fewest matches a worker has: the one it plays and the next one, so that it never waits for the director."""


class WorkerProcess:
    """A worker process with its ``unanswered`` matches, of which it plays the first; ``target`` is their number."""

    def __init__(self, process: BaseProcess, pipe: Connection[Any, Any], watching: Connection[Any, Any]) -> None:
        self.process = process
        self.pipe = pipe
        self.is_ready = False
        self.unanswered: deque[MatchSpec] = deque()
        self.since = 0.0
        self.target = MIN_SPECS
        self._watching = watching
        self._watched: frozenset[int] = frozenset()
        self._unsent: list[MatchSpec] = []
        self._is_winding_down = False
        self._poll = select.poll()
        self._poll.register(pipe.fileno(), select.POLLIN)

    def give(self, spec: MatchSpec) -> None:
        """Add a match; ``send`` sends it."""
        if not self.unanswered:
            self.since = time.time()
        self.unanswered.append(spec)
        self._unsent.append(spec)

    def send(self) -> None:
        """Send the matches to play; if the worker has died, ``receive`` raises the error."""
        if self._unsent:
            with contextlib.suppress(ConnectionError):
                self.pipe.send(self._unsent)
            self._unsent = []

    def watch(self, matches: frozenset[int]) -> None:
        """Tell it which of the matches that it has been given are watched, if that has changed."""
        if not matches and not self._watched:
            return
        watched = matches.intersection(spec.match for spec in self.unanswered)
        if watched != self._watched:
            self._watched = watched
            with contextlib.suppress(ConnectionError):
                self._watching.send(watched)

    def wind_down(self) -> None:
        """Tell it to begin no match any more, once."""
        if not self._is_winding_down:
            self._is_winding_down = True
            with contextlib.suppress(ConnectionError):
                self._watching.send(Notice.WIND_DOWN)

    def close(self) -> None:
        """Close the pipes: it ends when it has played its match."""
        self.pipe.close()
        self._watching.close()

    def receive(self) -> Iterator[Any]:
        """Yield what it has sent, at least one message."""
        yield self.pipe.recv()
        while self._poll.poll(0):
            yield self.pipe.recv()


# When a worker dies, exactly one match is lost, the one it was playing; the match that waited in its pipe is requeued,
# and a new worker is started in its place. (``concurrent.futures`` would fail every unfinished match instead, and
# ``multiprocessing.Pool`` would wait forever for the lost one.)

MAX_SPECS = 8
"""The most matches a worker has. If matches are quick, it has one more than it played since it was last given some."""

SHUTDOWN_SECONDS = 5.0
"""How long workers may take to end their bots and exit."""

REFRESH_SECONDS = 0.25

START_AGAIN_SECONDS = 0.5
"""How long to wait when the machine has no room for one more process."""

PAUSE_SECONDS = 0.003
"""The pause between two checks for results while matches are quick, so that the director uses little CPU time."""

GATHER_SECONDS = 0.05
"""How long results are gathered for one transaction; if they are lost, their matches are played again."""


log = logging.getLogger("arena.director")


class LocalExecutor(Executor):
    """Plays matches on several cores, in a worker process for each."""

    shows_matches: ClassVar[bool] = True

    def __init__(self, job: Job) -> None:
        fitting = workers_that_fit(job.limits)
        isolation = choose_isolation(job.isolation)
        self._context = multiprocessing.get_context("spawn")
        self._log = JoinedLog(job.log_path, self._context)
        workers = job.workers or fitting
        self._settings = [WorkerSettings(isolation, job.limits, job.fresh_bots)] * workers
        self._cores, self._each = CoreLocks(), job.limits.cores
        self._workers: list[WorkerProcess] = []
        self._starts = StartedWorkers()
        self._watched: frozenset[int] = frozenset()
        self._live: dict[int, LiveMatch] = {}
        self._continued_at = time.monotonic()

    def __enter__(self) -> Self:
        end_if_importing()
        self._log.__enter__()
        pinned = self._cores.take(len(self._settings), self._each)
        self.notice = self._cores.notice
        if self.notice:
            log.warning("%s", self.notice)
        self._settings = [
            replace(settings, cores=cores, shares_cores=bool(self.notice))
            for settings, cores in zip(self._settings, pinned, strict=True)
        ]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self._workers:
            worker.close()
            if error is not None:
                worker.process.terminate()
        deadline = time.monotonic() + SHUTDOWN_SECONDS
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()
        self._cores.close()
        self._log.__exit__(kind, error, at)

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches; each worker has the match it plays and the next ones."""
        results: list[JobResult] = []
        yielded_at = time.monotonic()
        while not queue.is_finished():
            self._hand_out(queue)
            if self._is_busy():
                if results:
                    time.sleep(PAUSE_SECONDS)
                results += self._collect(queue, GATHER_SECONDS if results else REFRESH_SECONDS)
                self._hand_out(queue)  # before the results are recorded, so that no worker waits for that
            if not results or not self._is_busy() or time.monotonic() - yielded_at >= GATHER_SECONDS:
                yield results
                results, yielded_at = [], time.monotonic()

    def playing(self) -> list[Playing]:
        ready = (worker for worker in self._workers if worker.is_ready and worker.unanswered)
        return [Playing(worker.unanswered[0].match, worker.since) for worker in ready]

    def watch(self, matches: frozenset[int]) -> None:
        self._watched = matches

    def live_matches(self) -> list[LiveMatch]:
        live, self._live = list(self._live.values()), {}
        return live

    def _is_busy(self) -> bool:
        return any(worker.unanswered for worker in self._workers)

    def _collect(self, queue: WorkQueue, timeout_seconds: float) -> list[JobResult]:
        by_pipe = {worker.pipe: worker for worker in self._workers}
        results: list[JobResult] = []
        ready = wait(list(by_pipe), timeout=timeout_seconds)
        if time.monotonic() - self._continued_at >= REFRESH_SECONDS:
            self._continue_stopped()
        for pipe in ready:
            worker = by_pipe[pipe]  # type: ignore[index]
            answers: list[JobResult] = []
            try:
                for message in worker.receive():
                    if message is Notice.NOT_BEGUN:
                        queue.requeue(worker.unanswered.popleft())
                    else:
                        self._take_message(message, worker, answers)
            except (EOFError, ConnectionError):
                answers += self._replace(queue, worker)
            if answers:
                worker.target = min(max(MIN_SPECS, len(answers) + 1), MAX_SPECS)
                worker.since = time.time()
            results += answers
        return results

    def _take_message(self, message: Any, worker: WorkerProcess, answers: list[JobResult]) -> None:
        if isinstance(message, LiveMatch):
            self._live[message.match] = message
        elif message is Notice.READY:
            worker.is_ready = True
            worker.since = time.time()
            self._starts.note_ready()
        else:
            answers.append(message)
            worker.unanswered.popleft()
            self._live.pop(message.match, None)

    def _continue_stopped(self) -> None:
        """Let stopped workers continue: a bot that runs under our own uid can stop or trace one."""
        pids = {worker.process.pid or os.getpid() for worker in self._workers}
        end_tracers(pids, pids)
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        self._continued_at = time.monotonic()

    def _hand_out(self, queue: WorkQueue) -> None:
        self._take_matches(queue)
        for worker in self._workers:
            worker.send()
            worker.watch(self._watched)
            if queue.is_closed:
                worker.wind_down()

    def _take_matches(self, queue: WorkQueue) -> None:
        """Give every worker one match before any has two; start workers as long as there are matches for them."""
        for depth in range(1, MAX_SPECS + 1):
            for number in range(len(self._settings)):
                worker = self._workers[number] if number < len(self._workers) else None
                if worker is not None and len(worker.unanswered) >= min(depth, worker.target):
                    continue
                spec = queue.take()
                if spec is None:
                    return
                if number == len(self._workers):
                    self._start(number)
                self._workers[number].give(spec)

    def _start(self, number: int) -> None:
        for _ in range(MAX_FAILED_STARTS):
            try:
                self._start_process(number)
                return
            except OSError as error:
                reason = error.strerror
                time.sleep(START_AGAIN_SECONDS)
        raise UsageError(f"no worker can be started: {reason}")

    def _start_process(self, number: int) -> None:
        ours, theirs = self._context.Pipe()
        watched, watching = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=run_worker,
            args=(theirs, watched, self._settings[number], self._log.queue),
            name=f"worker-{number}",
            daemon=True,
        )
        with starting_process():
            try:
                process.start()
            except OSError:
                ours.close()
                watching.close()
                raise
            finally:
                theirs.close()
                watched.close()
            self._workers[number : number + 1] = [WorkerProcess(process, ours, watching)]

    def _replace(self, queue: WorkQueue, worker: WorkerProcess) -> list[JobResult]:
        """Start a new worker in place of a dead one; the match it was playing is void, the next one is requeued."""
        worker.process.join()
        code = worker.process.exitcode or 0
        worker.close()
        specs = list(worker.unanswered)
        ending = f"signal {-code}" if code < 0 else f"exit status {code}"
        lost = [Void(spec, f"the worker ended ({ending})") for spec in specs[:1]]
        if not worker.is_ready:
            self._starts.note_end(code)
            lost = lost if code < 0 else []  # it failed before it could begin; a killed one may have begun
        for spec in specs[len(lost) :]:
            queue.requeue(spec)
        for spec in specs:
            self._live.pop(spec.match, None)
        self._log.renew()
        number = self._workers.index(worker)
        self._start(number)
        return [*lost]
