"""A program of a service, which ends with the process that started it, and its notes of health problems."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import Generic, NoReturn, TypeVar

from arena.base.errors import UsageError
from arena.base.folder import read_note, write_new
from arena.base.names import as_file_name
from arena.base.programs.log_lines import set_up_logging

# Notes about problems: if something keeps a service of the site from its work, the service writes a file into the home,
# which the health page reads. It is no database, because the database may be the problem.

DIRECTORY = "parts"
"""The directory of the notes in a home; earlier versions called services parts."""
SUFFIX = ".trouble"
MAX_CHARACTERS = 500
MAX_NOTES = 50
"""The most notes that are read."""


@dataclass(frozen=True, slots=True)
class HealthProblem:
    """A problem of a service; ``sentence``, for operators, may name paths and hosts, ``public`` is for everybody."""

    service: str
    sentence: str
    public: str = ""


class ProblemNote:
    """The note about one thing that a service does."""

    def __init__(self, directory: str | os.PathLike[str], service: str, of: str = "") -> None:
        """Prepare the note of a service of a home; ``of`` is which of its jobs, "" if it has one."""
        name = f"{service}-{as_file_name(of)}" if of else service
        self._path = Path(directory, DIRECTORY, f"{name}{SUFFIX}")
        self._reported: str | None = None

    def report(self, sentence: str) -> None:
        """Write a problem into the note; if the disk is full or the home is away, only the log has it."""
        if sentence == self._reported:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)  # a home that is away for a while is not made again
            unfinished = self._path.with_suffix(".new")
            write_new(unfinished, sentence.encode("utf-8", "replace"))
            unfinished.replace(self._path)
            self._reported = sentence

    def clear(self) -> None:
        """Remove the note, also one that an earlier process wrote."""
        if self._reported != "":
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
                self._reported = ""


def noted_problems(directory: str | os.PathLike[str]) -> Iterator[HealthProblem]:
    """Yield the problems that the services of a home have noted, for operators."""
    for path in sorted(Path(directory, DIRECTORY).glob(f"*{SUFFIX}"))[:MAX_NOTES]:
        with contextlib.suppress(OSError):
            sentence = read_note(path, MAX_CHARACTERS)
            yield HealthProblem(path.name.removesuffix(SUFFIX).partition("-")[0], sentence)


# A program that another process started, and that ends with it.
#
# It ends quietly on SIGTERM, and tries again when something that it needs is not available.

AWAY_SECONDS = 5.0
"""The pause before a failed task is tried again."""
IDLE_SECONDS = 20.0
"""How long a program stays without work before it ends; it is started again when there is work."""
STEADY_SECONDS = 60.0
"""A program that has worked for this long reports the next failure again, even if the reason is the same."""
AGAIN_SECONDS = 0.01
NOTHING_TO_DO = 3
"""The exit code of a program without work, which is started again when there is work."""

FIRST_NICENESS = -5
"""The niceness of the web process and of a builder that starts: three times the share of others, as in its unit."""

_PR_SET_PDEATHSIG = 1

Key = TypeVar("Key")


class Idleness:
    """How long a program has had nothing to do."""

    def __init__(self, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._now, self._since = now, now()

    def is_over(self, is_busy: bool) -> bool:
        """Return whether the program may end; it is busy if it has something to do, or to wait for."""
        if is_busy:
            self._since = self._now()
        return self._now() - self._since >= IDLE_SECONDS


class TerminatedError(KeyboardInterrupt):
    """SIGTERM was received."""


class _Termination:
    """The handler of SIGTERM: it interrupts the work, unless the work is over."""

    def __init__(self) -> None:
        self.is_over = False
        self._is_dropped = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not (self.is_over or self._is_dropped):
            raise TerminatedError

    def come_again(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Send SIGTERM again if Python dropped its exception, as it does in the callback of a weak reference."""
        if unraisable.exc_type is TerminatedError:
            self._is_dropped = True  # the next one may come while a busy machine starts the thread
            threading.Thread(target=self._repeat, daemon=True).start()
            self._is_dropped = False
        else:
            sys.__unraisablehook__(unraisable)

    def _repeat(self) -> None:
        while not self.is_over:  # once may be too early: while the first one is still being dropped
            time.sleep(AGAIN_SECONDS)
            os.kill(os.getpid(), signal.SIGTERM)


def run_service(parent: int, niceness: int, work: Callable[[], None]) -> int:
    """Prepare this process for its work, do it, and end it quietly on SIGTERM, whenever that comes.

    Ctrl-C is left to the process that started this one; if that (``parent``) has ended already, this one ends. Warnings
    of the arena go to stderr. This is no context manager, for a signal that came between its code and the block would
    end the program as Ctrl-C does. Here the signal is caught from its handler's first moment to its last.

    Returns:
        The exit code: 0 after SIGTERM, ``NOTHING_TO_DO`` if the work has come to an end.
    """
    set_up_logging(logging.WARNING)  # the log of a run has more, in its own file
    termination, code = _Termination(), 0
    sys.unraisablehook = termination.come_again
    with contextlib.suppress(TerminatedError):
        try:
            signal.signal(signal.SIGTERM, termination)
            ignore_ctrl_c()
            end_with(parent, signal.SIGTERM)
            if niceness:
                be_nice(niceness)
            work()
            code = NOTHING_TO_DO
        finally:
            termination.is_over = True
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends; a second one would be a traceback
    return code


def be_nice(niceness: int) -> None:
    """Let others come first, also in another session, and also after ``come_first``."""
    os.nice(niceness - min(os.getpriority(os.PRIO_PROCESS, 0), 0))
    _let_session_have(os.getpid(), niceness)


def come_first(pid: int) -> None:
    """Let a process get a core before others, where the system permits it, as to root; what it starts does not."""
    with contextlib.suppress(AttributeError, OSError):  # Linux alone can keep it from what it starts
        if os.getpriority(os.PRIO_PROCESS, pid) == 0:
            os.sched_setscheduler(pid, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, pid, FIRST_NICENESS)
            _let_session_have(pid, FIRST_NICENESS)


def _let_session_have(pid: int, niceness: int) -> None:
    """Give the session of a process its niceness: Linux may share out its time by sessions.

    In a session that it did not begin, such as that of a terminal, other programs stay as they are.
    """
    if os.getsid(pid) != pid:
        return
    with contextlib.suppress(OSError), Path(f"/proc/{pid}/autogroup").open("wb", buffering=0) as file:
        file.write(str(niceness).encode())


def quiet_tracker() -> None:
    """Silence the process that removes the semaphores of a killed program; call this before that process starts."""
    option = "ignore:resource_tracker"
    if option not in sys.warnoptions:  # the process inherits these options
        sys.warnoptions.append(option)


@contextmanager
def starting_process() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait while ``multiprocessing`` starts a process, which is born with Ctrl-C blocked.

    A process reads its task from a pipe after its start: if its parent were interrupted before it has written that, the
    process would end with a traceback. So it would at Ctrl-C, which the terminal sends to both, before
    ``ignore_ctrl_c``.
    In the block the process is started, and noted as one that is to be ended. The signals come after it.
    """
    received: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()  # no other thread is interrupted
    caught = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if is_main}
    try:
        with contextlib.ExitStack() as restoring:
            for number, handler in caught.items():
                if callable(handler):
                    restoring.callback(signal.signal, number, handler)
                    signal.signal(number, lambda came, frame: received.append(came))
            quiet_tracker()
            resource_tracker.ensure_running()  # its start unblocks Ctrl-C
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            restoring.callback(signal.pthread_sigmask, signal.SIG_SETMASK, mask)
            yield
    finally:
        for signal_number in received:
            signal.raise_signal(signal_number)


class Programs(Generic[Key]):
    """Processes that each call a function in a Python of their own, and that end together with ``close``."""

    def __init__(
        self,
        function: Callable[..., object],
        shutdown_seconds: float,
        now: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare; together, the processes have ``shutdown_seconds`` to end after SIGTERM."""
        self._function, self._shutdown_seconds, self._now = function, shutdown_seconds, now
        self.running: dict[Key, SpawnProcess] = {}

    def start(self, key: Key, *arguments: object) -> None:
        """Call the function in a new process."""
        process = multiprocessing.get_context("spawn").Process(target=self._function, args=arguments)
        with starting_process():
            process.start()
            self.running[key] = process

    def ended(self) -> Iterator[tuple[Key, int]]:
        """Forget the processes that have ended; yield the exit code of each."""
        for key, process in list(self.running.items()):
            if not process.is_alive():
                code = process.exitcode or 0
                process.close()
                del self.running[key]
                yield key, code

    def close(self) -> None:
        """End all processes, and kill those that do not end in time."""
        for process in self.running.values():
            process.terminate()
        deadline = self._now() + self._shutdown_seconds
        for process in self.running.values():
            process.join(max(0.0, deadline - self._now()))
            if process.exitcode is None:
                process.kill()
                process.join()


def ignore_ctrl_c() -> None:
    """Leave Ctrl-C to the process that started this one, also a Ctrl-C that came while this one started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def keep_trying(
    work: Callable[[], None],
    log: logging.Logger,
    complaint: str,
    note: ProblemNote,
    *,
    is_over: Callable[[], bool] = lambda: False,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = lambda: time.monotonic(),
) -> None:
    """Do the work of a program, and begin again a little later whenever it fails; each reason is logged once.

    Args:
        work: continues until it fails, or returns when there is nothing to do. It clears the note when it continues.
        log: gets the reason, after ``complaint``.
        complaint: the beginning of that sentence.
        note: keeps that sentence until the work continues, and that of the defect by which the program ends.
    """
    complaint_before = ""
    try:
        while not is_over():
            began_at = now()
            try:
                work()
                if not is_over():
                    return
            except UsageError as error:
                if str(error) != complaint_before or now() - began_at > STEADY_SECONDS:
                    log.error("%s: %s", complaint, error)
                complaint_before = str(error)
                note.report(f"{complaint}: {error}")
                sleep(AWAY_SECONDS)
    except Exception as error:
        note.report(f"{complaint}, by a defect of the arena that the log has: {type(error).__name__}")
        raise
    except KeyboardInterrupt:
        note.clear()
        raise
    note.clear()


def end_now(code: int) -> NoReturn:
    """End this process, for which the site or systemd waits, without taking its modules apart, which takes long."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads it
            stream.flush()
    os._exit(code)


def end_with(parent: int, number: signal.Signals) -> None:
    """Make the kernel send a signal to this process when its parent ends, also if that is killed."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):  # a C library without it
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
