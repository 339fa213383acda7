"""Detects workers that can't be started, and explains why.

``multiprocessing`` starts a worker as a new interpreter, which imports the script that the director was started from.
A script that starts a run when it is imported would start one in each of its workers as well.
"""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing import spawn

from arena.base.errors import UsageError
from arena.base.programs.service_program import starting_process

NO_GUARD_STATUS = 96
"""The exit status of a worker that would have started a run while it was still importing its script."""

MAX_FAILED_STARTS = 3
MAX_KILLED_STARTS = 20
"""In a row. A few kills while workers start are survived; the kernel kills all of them when memory is short."""

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
            raise no_guard()
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


def no_guard() -> UsageError:
    """Return the error for a script without the guard."""
    script = _main_script() or "the script"
    return UsageError(f"no worker can be started: each imports {script} first, which starts the run again; {_ADVICE}")


def try_to_start() -> None:
    """Start a process that does nothing, in the way workers are started."""
    starts = StartedWorkers()
    while True:
        process = multiprocessing.get_context("spawn").Process(target=_do_nothing, daemon=True)
        try:
            with starting_process():
                process.start()
        except OSError as error:
            raise UsageError(f"no worker can be started: {error.strerror}") from error
        process.join()
        if not process.exitcode:
            return
        starts.note_end(process.exitcode)


def _do_nothing() -> None:
    """Return at once."""


def _main_script() -> str | None:
    path = getattr(sys.modules["__main__"], "__file__", None)
    return str(path) if path is not None else None
