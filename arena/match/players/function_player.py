"""A Python function in a seat, in this process."""

from __future__ import annotations

import ctypes
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

import msgpack

from arena.base.bot_text import BotText
from arena.base.enums import ClockKind, FaultKind, Termination
from arena.base.errors import BotError, MatchStateError, text_of
from arena.base.records import (
    DEFAULT_LIMITS,
    Bot,
    Fault,
    Limits,
    SeatReport,
    TimeControl,  # noqa: F401 - of a field of Bot, which FunctionBot has in its signature
)
from arena.botkit.seat import Choice, Choose, MatchInfo, Seat, as_choice
from arena.games import make_game
from arena.match.players.player import Answer, Player, wall_limit_seconds
from arena.protocol import messages
from arena.protocol.frames import FrameError, decode_body
from arena.protocol.messages import Request, Seating, Wants, shortened


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionBot(Bot):
    """A Python function as a bot: called with the game, the state and the clock, as by ``arena.botkit.run``."""

    function: Choose = field(compare=False, repr=False)


# Calls a function of this process, and interrupts it when its time is over.
#
# In the main thread an alarm interrupts it, also while it sleeps or waits for input; in another thread, Python raises
# an exception at its next bytecode. Code in C that never returns can't be interrupted.

ResultT = TypeVar("ResultT")

AGAIN_SECONDS = 0.1
"""How often a function that swallows the exception is interrupted again."""


class OutOfTimeError(BaseException):
    """A function has used up its time. Not an ``Exception``, which the function may catch."""


def call_within(seconds: float, function: Callable[[], ResultT]) -> ResultT:
    """Return what a function returns; raise OutOfTimeError if it takes longer."""
    is_main = threading.current_thread() is threading.main_thread()
    interrupter = _Alarm(seconds) if is_main else _ThreadInterrupter(seconds)
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
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTimeError))


STDERR_CHARACTERS = 32 * 1024


class FunctionPlayer(Player):
    """A function in a seat.

    Its state is its own, the global random generators are seeded for it as in a bot's process, and its answer is
    checked as if it had come through a pipe.
    """

    def __init__(self, bot: FunctionBot, limits: Limits = DEFAULT_LIMITS) -> None:
        self.bot = bot
        self.wants = Wants(legal=False, observation=False)
        self.is_frozen_off_turn = False
        self._limits = limits
        self._seat: Seat | None = None
        self._generators = _Generators()
        self._is_on_cpu_clock = False
        self._cpu_seconds = 0.0
        self._traceback = ""

    def begin(self, seating: Seating) -> None:
        """Take the seat."""
        self._cpu_seconds = 0.0
        self._traceback = ""
        self._is_on_cpu_clock = seating.time_control.clock == ClockKind.CPU
        game = make_game(seating.game, **seating.options)
        time_control = messages.match(seating)["time_control"]
        info = MatchInfo(game, seating.seat, seating.players, seating.rng_seed, time_control, seating.ply_limit)
        self._generators = _Generators()
        with self._generators:
            self._seat = Seat(info)

    def ask(self, request: Request) -> Answer:
        """Call the function."""
        seat = self._seat
        if seat is None:
            raise MatchStateError(f"{self.bot.label} has no seat")
        self._follow(seat, request.actions)
        allowed = request.seconds + request.margin_seconds
        started, cpu_started = time.monotonic(), time.thread_time()
        try:
            limit_seconds = wall_limit_seconds(allowed) if self._is_on_cpu_clock else allowed
            chosen = call_within(limit_seconds, lambda: self._choose(seat, request, started))
        except OutOfTimeError:
            raise BotError(FaultKind.TIMEOUT, f"no answer within {request.seconds:g} s") from None
        except SystemExit as error:
            raise BotError(FaultKind.EXIT, f"the function raised SystemExit: {shortened(error.code)}") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise BotError(FaultKind.EXIT, self._raised(error)) from error
        finally:
            wall, cpu = time.monotonic() - started, time.thread_time() - cpu_started
            self._cpu_seconds += cpu
        charged = cpu if self._is_on_cpu_clock else wall
        if charged > allowed:
            raise BotError(FaultKind.TIMEOUT, f"an answer after {charged:.3f} s; {request.seconds:g} s were allowed")
        action, note = self._as_received(chosen, request.ply)
        return Answer(action, wall, cpu, note, charged)

    def _follow(self, seat: Seat, actions: Sequence[Any]) -> None:
        """Apply what has been played; the function has the state and the rules, and may have changed them."""
        try:
            seat.follow(actions)
        except Exception as error:
            reason = f"{type(error).__name__}: {shortened(text_of(error))}"
            detail = f"the state or the rules that the function was given can't follow the match any more: {reason}"
            raise BotError(FaultKind.EXIT, detail) from error

    def _choose(self, seat: Seat, request: Request, asked_at: float) -> Choice:
        clock = seat.clock({"seconds": request.seconds, "bank_seconds": request.bank_seconds}, asked_at)
        with self._generators:
            return as_choice(self.bot.function(seat.info.game, seat.state, clock))

    def _raised(self, error: BaseException) -> str:
        shown = BaseException.with_traceback(error, _from_function(error.__traceback__))
        self._traceback = "".join(traceback.format_exception(shown))[-STDERR_CHARACTERS:]
        frames = traceback.extract_tb(shown.__traceback__)
        location = f" (line {frames[-1].lineno} of {shortened(frames[-1].name)})" if frames else ""
        return f"the function raised {type(error).__name__}: {shortened(text_of(error))}{location}"

    def _as_received(self, chosen: Choice, ply: int) -> tuple[Any, Any]:
        """Return the action and the note as the arena would have received them from a process."""
        message = {"type": "action", "ply": ply, "action": chosen.action, "note": chosen.note}
        try:
            body = msgpack.packb(message)
        except Exception as error:
            detail = f"{shortened(chosen.action)} is no action: {text_of(error)}"
            raise BotError(FaultKind.PROTOCOL, detail) from error
        if len(body) > self._limits.message_bytes:
            detail = f"an answer of {len(body)} bytes; message_bytes allows {self._limits.message_bytes}"
            raise BotError(FaultKind.LIMIT, detail)
        try:
            return messages.read_action(decode_body(body, self._limits), ply, self._limits.note_bytes)
        except FrameError as error:
            raise BotError(error.kind, str(error)) from error

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Leave the seat."""
        self._seat = None
        return SeatReport(cpu_seconds=self._cpu_seconds, exit=BotText("in process"), stderr=BotText(self._traceback))

    def close(self, grace_seconds: float = 0.0) -> None:
        """Do nothing: no process runs that would have to end."""


def _from_function(at: TracebackType | None) -> TracebackType | None:
    while at is not None and at.tb_frame.f_globals.get("__name__") in (__name__, call_within.__module__):
        at = at.tb_next
    return at


class _Generators:
    """The states of the global random generators in one seat; a context manager that restores the outer ones."""

    def __init__(self) -> None:
        self._inside: dict[str, Any] = {}
        self._outside: dict[str, Any] = {}

    def __enter__(self) -> None:
        self._outside = _states()
        _restore(self._inside)

    def __exit__(self, *_: object) -> None:
        self._inside = _states()
        _restore(self._outside)


def _states() -> dict[str, Any]:
    numpy = sys.modules.get("numpy")
    states = {"random": random.getstate()}
    return states if numpy is None else {**states, "numpy": numpy.random.get_state()}


def _restore(states: dict[str, Any]) -> None:
    if "random" in states:
        random.setstate(states["random"])
    if "numpy" in states:
        sys.modules["numpy"].random.set_state(states["numpy"])
