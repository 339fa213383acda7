"""Stops what the main thread does, once, so that it cleans up as after SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class StoppedError(BaseException):
    """The work was stopped. Not an ``Exception``, which what is stopped may well catch."""


@contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Give a function that stops the work within, from another thread; it does nothing unless the work is in the main
    thread.

    Raises:
        StoppedError: in the work, once, when it is stopped.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main:
        yield lambda: None
        return
    is_stoppable = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_stoppable.is_set():
            is_stoppable.clear()
            raise StoppedError

    def stop() -> None:
        if is_stoppable.is_set() and main.ident is not None:
            signal.pthread_kill(main.ident, signal.SIGUSR1)

    earlier = signal.signal(signal.SIGUSR1, interrupt)
    is_stoppable.set()
    try:
        yield stop
    finally:
        is_stoppable.clear()
        signal.signal(signal.SIGUSR1, earlier)
