"""One log file for the director and all its workers, joined by ``multiprocessing-logging``.

The package's ``install_mp_handler`` requires the fork start method, and its queue belongs to that method's context, so
the records of spawned workers would be lost. Here its handler has a queue of the workers' own context, which workers
fill through the standard library's ``QueueHandler``.
"""

from __future__ import annotations

import logging
import time
from multiprocessing.context import SpawnContext
from pathlib import Path
from types import TracebackType
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

from arena.base.errors import StoreError, failing_as
from arena.base.programs.service_program import quiet_tracker

FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"

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
            self._file = _SharedFile(self._path, encoding="utf-8")
        self._file.setFormatter(logging.Formatter(FORMAT))
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
