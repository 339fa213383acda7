"""Calls a function of this process, and interrupts it when its time is over.

In the main thread an alarm interrupts it, also while it sleeps or waits for input; in another thread, Python raises an
exception at its next bytecode. Code in C that never returns can't be interrupted.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

ResultT = TypeVar("ResultT")

AGAIN_SECONDS = 0.1
"""How often a function that swallows the exception is interrupted again."""


class OutOfTimeError(BaseException):
    """A function has used up its time. Not an ``Exception``, which functions may well catch."""


class _Interrupter(Protocol):
    def start(self) -> None: ...
    def stop(self) -> None: ...


def call_within(seconds: float, function: Callable[[], ResultT]) -> ResultT:
    """Return what a function returns.

    Args:
        seconds: how long it may take.
        function: what to call.

    Raises:
        OutOfTimeError: if it took longer.
    """
    is_main = threading.current_thread() is threading.main_thread()
    interrupter: _Interrupter = _Alarm(seconds) if is_main else _ThreadInterrupter(seconds)
    try:
        try:
            interrupter.start()
            return function()
        finally:
            interrupter.stop()
    except OutOfTimeError:
        interrupter.stop()  # the first call of it may have been interrupted itself
        raise


class _Alarm:
    """Interrupts the main thread, by a signal."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_running = True
        self._earlier: Any = signal.SIG_DFL

    def start(self) -> None:
        self._earlier = signal.signal(signal.SIGALRM, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN_SECONDS)

    def stop(self) -> None:
        self._is_running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._earlier)

    def _interrupt(self, *_: object) -> None:
        if self._is_running:
            raise OutOfTimeError


class _ThreadInterrupter:
    """Interrupts a thread that is not the main one, by an exception that another thread sets."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._has_interrupted = False

    def start(self) -> None:
        threading.Thread(target=self._watch, name="call-limit", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        with self._lock:  # nothing is set from here on
            pass
        if self._has_interrupted:
            self._take_last()

    def _take_last(self) -> None:
        """Raise and catch what may be set and not raised yet.

        ``PyThreadState_SetAsyncExc`` with NULL would take it back, but leaves Python 3.11 looking for it for ever: a
        trace function that is set later never returns.
        """
        try:
            _set_exception(self._thread)
            while True:  # until the next bytecode at which Python looks for it
                pass
        except OutOfTimeError:
            pass

    def _watch(self) -> None:
        wait = self._seconds
        while not self._stopped.wait(wait):
            with self._lock:
                if not self._stopped.is_set():
                    self._has_interrupted = True
                    _set_exception(self._thread)
            wait = AGAIN_SECONDS


def _set_exception(thread: int) -> None:
    """Have Python raise OutOfTimeError in a thread."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTimeError))
