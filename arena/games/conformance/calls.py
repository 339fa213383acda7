"""Calls of a game's methods: an exception becomes a mistake of the game, and so does a call that does not return."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from types import FrameType
from typing import Any

from arena.base.errors import IllegalActionError
from arena.games.conformance.finding import MistakeError, problem_of
from arena.games.game import Game

CALL_SECONDS = 5.0
"""A single call of a method may take this long. A bot has about a second for its whole action."""

_HEARTBEAT_SECONDS = 0.05

CHECK_OF_METHOD = {
    "initial_state": "initial_state",
    "seat_to_act": "seats",
    "is_over": "seats",
    "legal_actions": "legal_actions",
    "apply": "apply",
    "scores": "scores",
    "ranks": "ranks",
    "score_bounds": "scores",
    "observation": "observation",
    "state_from_observation": "restoring",
    "seats_out": "elimination",
    "withdraw": "elimination",
    "parse_action": "text",
    "format_action": "text",
    "render": "render",
    "render_after": "render",
    "drawing": "drawing",
    "space": "space",
}
"""The check that a method's exception belongs to, whichever check has called it."""


class _OutOfTimeError(BaseException):
    """Raised inside a call; no ``except Exception`` of a game catches it."""


class Calls:
    """Calls the methods of one game."""

    def __init__(self, game: Game[Any], limit_seconds: float = CALL_SECONDS) -> None:
        self.game = game
        self.limit_seconds = limit_seconds
        self.vectors: dict[Any, Any] = {}  # the state of each vector of its space, with the seat to act
        self.descriptions: dict[Any, tuple[Any, Any]] = {}  # a state, and what the game said of it
        self._module = type(game).__module__

    def __call__(self, method: str, *arguments: Any) -> Any:
        """Return what a method returns, or raise its IllegalActionError; MistakeError for all else or a timeout."""
        call = partial(getattr(self.game, method), *arguments)
        return guarded(call, method, self._module, self.limit_seconds, CHECK_OF_METHOD.get(method))

    @cached_property
    def space(self) -> Any:
        """The space of the game; None without one."""
        return self("space")

    def run(self, function: Callable[..., Any], *arguments: Any, method: str, check: str | None = None) -> Any:
        """Run a function of the game's author, such as the comparison of two states; a mistake calls it ``method``."""
        call = partial(function, *arguments)
        return guarded(call, method, self._module, self.limit_seconds, check or CHECK_OF_METHOD.get(method))


def guarded(
    call: Callable[[], Any], subject: str, module: str, limit_seconds: float = CALL_SECONDS, check: str | None = None
) -> Any:
    """Run code of a game's author, a class of ``module``; a mistake calls it ``subject`` and belongs to ``check``.

    MistakeError for a timeout and for anything that it raises but IllegalActionError.
    """
    _Watch.deadline = time.monotonic() + limit_seconds
    try:
        return call()
    except (IllegalActionError, MistakeError):
        raise
    except BaseException as error:  # rules may raise anything, also SystemExit
        if isinstance(error, _OutOfTimeError) or isinstance(error.__cause__, _OutOfTimeError):  # find_game wraps it
            sentence = f"{subject} did not return within {limit_seconds:g} s"
            raise MistakeError(sentence, check=check, ends=True, is_timeout=True) from None
        if isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
            raise  # Ctrl-C; where that ends the process at once, the rules have raised it
        raise MistakeError(f"{subject} {problem_of(error, module)}", check=check) from error
    finally:
        _Watch.deadline = None


class _Watch:
    """The watch of this process, which has one signal handler: the deadline of the present call, and the heartbeat."""

    deadline: float | None = None
    on_heartbeat: Callable[[], None] | None = None


_RAISED = 0.0
"""The deadline of a call whose time is up and that has perhaps caught the exception: it gives no sign of life."""


def _look(_signal: int, _frame: FrameType | None) -> None:
    if _Watch.deadline == _RAISED:
        return
    if _Watch.on_heartbeat is not None:
        _Watch.on_heartbeat()
    if _Watch.deadline is not None and time.monotonic() > _Watch.deadline:
        _Watch.deadline = _RAISED
        raise _OutOfTimeError


@contextmanager
def time_limits(on_heartbeat: Callable[[], None] | None = None) -> Iterator[None]:
    """Enforce the limits of calls, by a timer that reads the clock; only in the main thread, which gets signals.

    It calls ``on_heartbeat`` several times a second, unless a call of the game is stuck: outside of Python code, or in
    code that catches every exception.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier_hook, _Watch.on_heartbeat = _Watch.on_heartbeat, on_heartbeat or _Watch.on_heartbeat
    earlier = signal.signal(signal.SIGALRM, _look)
    earlier_timer = signal.setitimer(signal.ITIMER_REAL, _HEARTBEAT_SECONDS, _HEARTBEAT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *earlier_timer)
        signal.signal(signal.SIGALRM, earlier)
        _Watch.on_heartbeat = earlier_hook
