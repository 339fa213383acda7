"""How workers are started: which cores they are pinned to, their common log, and what prevents their start."""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import sys
import time
from multiprocessing import spawn
from multiprocessing.context import SpawnContext
from pathlib import Path
from types import TracebackType
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

from arena.base.errors import StoreError, UsageError, failing_as
from arena.base.machine import CAN_PIN
from arena.base.machine import available_cores as available_cores
from arena.base.programs.service_program import quiet_tracker, starting_process
from arena.base.records import Limits
from arena.base.text import counted


def workers_that_fit(limits: Limits, spare_cores: int = 0) -> int:
    """Return how many matches this machine plays at a time if each has the cores that its bots may use.

    Args:
        spare_cores: that are left to others, if there are more than one match needs.

    Raises:
        UsageError: if bots may use more cores than there are.
    """
    cores = len(available_cores())
    if limits.cores > cores:
        raise UsageError(
            f"limits.cores = {limits.cores}: this machine has {counted(cores, 'core')} for the arena; expected at most"
            f" {cores}"
        )
    return max(1, (cores - spare_cores) // limits.cores)


def cores_for_workers(workers: int, cores: list[int], each: int = 1) -> list[frozenset[int] | None]:
    """Assign each worker cores of its own, shared with its bots; none is pinned where there are too few cores.

    Only one of a worker and its bots runs at a time, and a hand-over on one core costs a tenth of one between two.
    """
    if workers * each > len(cores):
        return [None] * workers
    return [frozenset(cores[each * number : each * (number + 1)]) for number in range(workers)]


class CoreLocks:
    """The cores that this process's workers have, which those of other arenas on this machine leave to them.

    Each lock is a name of a socket that no file stands for (unix(7)), so it ends with this process, and nobody can
    put a link in its place. ``notice`` reports a name that is taken without need; that costs others no match.
    Containers with networks of their own do not see each other's locks.
    """

    def __init__(self) -> None:
        self._locks: dict[int, socket.socket] = {}
        self._others: list[int] = []

    def take(self, workers: int, each: int = 1) -> list[frozenset[int] | None]:
        """Take free cores for workers, ``each`` of them that many; return which each is pinned to.

        None is pinned if there are too few; the workers then share all cores, also those that others have taken.
        """
        for core in available_cores() if CAN_PIN else ():
            if len(self._locks) < workers * each and core not in self._locks:
                self._take(core)
        own = sorted(self._locks)
        if workers * each <= len(own):
            self._others.clear()
        return cores_for_workers(workers, own, each)

    def _take(self, core: int) -> None:
        lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            lock.bind(f"\0arena-core-{core}")
        except OSError:
            lock.close()
            self._others.append(core)
        else:
            self._locks[core] = lock

    @property
    def notice(self) -> str:
        """A sentence if workers share cores with those of another arena; else empty."""
        cores = self._others
        if not cores:
            return ""
        named = f"core {cores[0]}" if len(cores) == 1 else f"cores {', '.join(map(str, cores))}"
        return (
            f"Another arena on this machine plays on {named}, which this run shares: its bots may take time from these,"
            " and records say shares_cores. Use fewer workers, or one arena at a time."
        )

    def close(self) -> None:
        """Leave the cores to others."""
        for lock in self._locks.values():
            lock.close()
        self._locks.clear()
        self._others.clear()


# Detects workers that can't be started, and explains why.
#
# ``multiprocessing`` starts a worker as a new interpreter, which imports the script that the director was started from.
# A script that starts a run when it is imported would start one in each of its workers as well.

NO_GUARD_STATUS = 96
"""The exit status of a worker that would have started a run while it was still importing its script."""

MAX_FAILED_STARTS = 3
MAX_KILLED_STARTS = 20
"""The most failed and killed starts in a row. Single kills do no harm; without memory, the kernel kills every start."""

_ADVICE = 'put what starts the run under: if __name__ == "__main__":'


def end_if_importing() -> None:
    """End this process if it is a worker that is still importing the script it was started from."""
    try:
        spawn.get_preparation_data("arena")
    except RuntimeError:  # it is what starting a process would raise
        sys.exit(NO_GUARD_STATUS)


class StartedWorkers:
    """Counts the starts of workers that failed, in a row."""

    def __init__(self) -> None:
        self._failed = 0
        self._killed = 0

    def note_ready(self) -> None:
        """Note that a worker is ready for its first match."""
        self._failed = self._killed = 0

    def note_end(self, exit_code: int) -> None:
        """Note that a worker ended before it was ready."""
        if exit_code == NO_GUARD_STATUS:
            imported = _main_script() or "the script"
            raise UsageError(
                f"no worker can be started: each imports {imported} first, which starts the run again; {_ADVICE}"
            )
        if exit_code < 0:
            self._killed += 1
        else:
            self._failed += 1
        if self._failed >= MAX_FAILED_STARTS:
            script = _main_script()
            imported = f" (each imports {script} first)" if script is not None else ""
            raise UsageError(
                f"no worker can be started: {self._failed} in a row ended before they were ready, with exit status"
                f" {exit_code}; their output is above{imported}"
            )
        if self._killed >= MAX_KILLED_STARTS:
            raise UsageError(
                f"no worker can be started: {self._killed} in a row were killed before they were ready (signal"
                f" {-exit_code}); is there too little memory?"
            )


def try_to_start() -> None:
    """Start a process that does nothing, in the way workers are started."""
    starts = StartedWorkers()
    while True:
        process = multiprocessing.get_context("spawn").Process(daemon=True)
        with failing_as(UsageError, "no worker can be started"), starting_process():
            process.start()
        process.join()
        if not process.exitcode:
            return
        starts.note_end(process.exitcode)


def _main_script() -> str | None:
    path = getattr(sys.modules["__main__"], "__file__", None)
    return str(path) if path is not None else None


# One log file for the director and all its workers, joined by ``multiprocessing-logging``.
#
# The package's ``install_mp_handler`` requires the fork start method, and its queue belongs to that method's context,
# so the records of spawned workers would be lost. Here its handler has a queue of the workers' own context, which
# workers fill through the standard library's ``QueueHandler``.

LOG_FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"

FINISH_SECONDS = 2.0
"""How long to wait for the last records of the workers."""


class _SharedFile(logging.FileHandler):
    """A log file that the receiving thread and other threads of this process may write at the same time."""

    def emit(self, record: logging.LogRecord) -> None:
        self.acquire()
        try:
            super().emit(record)
        finally:
            self.release()


class JoinedLog:
    """The log of one run, and its queue for the workers that are started next. A context manager."""

    def __init__(self, path: Path | None, context: SpawnContext) -> None:
        quiet_tracker()  # the queue has semaphores
        self._path = path
        self._context = context
        self._handlers: list[Any] = []
        self._file: _SharedFile | None = None
        self.queue: Any = None

    def __enter__(self) -> JoinedLog:
        if self._path is None:
            return self
        with failing_as(StoreError, f"log file {self._path}: can't be written"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.is_symlink():  # it may lead out of the home
                raise StoreError(f"log file {self._path}: it is a link; remove it")
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
            os.close(os.open(self._path, flags, 0o666))  # of a pipe that nobody reads, this raises and does not wait
            self._file = _SharedFile(self._path, encoding="utf-8")
        self._file.setFormatter(logging.Formatter(LOG_FORMAT))
        logger = logging.getLogger("arena")
        logger.addHandler(self._file)  # this process writes itself: a killed worker may hold the queue's lock
        logger.setLevel(logging.INFO)
        self.renew()
        return self

    def renew(self) -> None:
        """Make a new queue for the workers that are started next.

        A worker that is killed while it holds the lock of its queue silences every process that shares the queue.
        """
        if self._file is None:
            return
        with failing_as(StoreError, f"log file {self._path}: workers can't write to it"):
            handler = MultiProcessingHandler("arena-log", self._file)
            handler.queue = self.queue = self._context.Queue(-1)
        self._handlers.append(handler)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is None:
            return
        logging.getLogger("arena").removeHandler(self._file)
        for handler in self._handlers:
            self._finish(handler)

    def _finish(self, handler: Any) -> None:
        """Close a handler whose writers have all ended.

        It would wait for records that a killed worker had counted but not written, so its queue is replaced by an empty
        one after everything written has been read.
        """
        deadline = time.monotonic() + FINISH_SECONDS
        while not handler.queue.empty() and time.monotonic() < deadline:
            time.sleep(0.01)
        handler.queue = self._context.Queue(-1)
        handler.close()
