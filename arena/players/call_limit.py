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

    def start(self) -> None:
        threading.Thread(target=self._watch, name="call-limit", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        with self._lock:
            _set_exception(self._thread, None)

    def _watch(self) -> None:
        wait = self._seconds
        while not self._stopped.wait(wait):
            with self._lock:
                if not self._stopped.is_set():
                    _set_exception(self._thread, OutOfTimeError)
            wait = AGAIN_SECONDS


def _set_exception(thread: int, kind: type[BaseException] | None) -> None:
    """Have Python raise an exception in a thread; None takes back one that has not been raised yet."""
    error = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
