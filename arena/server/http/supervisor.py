"""The supervisor: starts each service when the databases have work for it; a service ends when it has had none.

A service is a program that starts again after a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from arena.base.errors import DatabaseError, UsageError
from arena.base.programs.service_program import NOTHING_TO_DO, ProblemNote, keep_trying
from arena.base.programs.systemd import notify
from arena.base.shipped import tournament_path
from arena.community.contests.contest_places import has_work, state_of
from arena.community.contests.visibility import are_results_public
from arena.community.submissions.upload_directory import NO_CHECKER, noted_refusal
from arena.sandbox.isolation.reaper import reap_session
from arena.server.operating.service_programs import (
    ANNOTATOR,
    CHECKER,
    CONTESTS,
    PLAY,
    RESULTS,
    WORK,
    Program,
    ServiceKind,
)
from arena.server.operating.service_programs import LADDER_SERVICE as LADDER
from arena.store.home import VISITORS_VARIABLE, ArenaHome, open_people
from arena.store.people.people_store import PeopleStore
from arena.store.results.events import Commits

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""After running this long, a program begins with the first pause again."""
SHUTDOWN_SECONDS = 5.0

_service_log = logging.getLogger("arena.server.http")


class Service:
    """A program that runs while it has work, and ends with ``NOTHING_TO_DO``; then it rests until the next start.

    Its first argument is the process that started it, with which it ends.
    """

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Prepare a Python module, with the arguments that follow the first, and more variables of the environment."""
        self._module, self._arguments, self._environment = module, arguments, environment or {}
        self._process: asyncio.subprocess.Process | None = None
        self._ended_sessions: set[int] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = asyncio.Event()
        self._failure, self._started_at = "", 0.0
        self.rests = True

    @property
    def pid(self) -> int | None:
        """Its process; None while it does not run."""
        is_running = self._process is not None and self._process.returncode is None
        return self._process.pid if is_running and self._process is not None else None

    @property
    def problem(self) -> str:
        """Its last failure, until it has run for a while or has had nothing to do; "" without one."""
        is_steady = self.pid is not None and time.monotonic() - self._started_at > STEADY_SECONDS
        return "" if self.rests or is_steady else self._failure

    def start(self) -> None:
        """Start the task that starts the program whenever it is wanted, and again if it fails."""
        self._task = asyncio.create_task(self._keep_running())

    def want(self) -> None:
        """Note that there is work for it."""
        self._is_wanted.set()

    async def _keep_running(self) -> None:
        pause_seconds = FIRST_PAUSE_SECONDS
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            self.rests = False
            self._started_at = time.monotonic()
            try:
                code: object = await self._run_once()
                if code == NOTHING_TO_DO:
                    pause_seconds, self.rests, self._failure = FIRST_PAUSE_SECONDS, True, ""
                    continue
            except OSError as error:  # the system can't start a process now
                code = error.strerror
            is_steady = time.monotonic() - self._started_at > STEADY_SECONDS
            pause_seconds = FIRST_PAUSE_SECONDS if is_steady else min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)
            self._failure = f"{self._module} has ended ({code}); it is started again"
            _service_log.error("%s in %g s", self._failure, pause_seconds)
            await asyncio.sleep(pause_seconds)
            self.want()

    async def _run_once(self) -> int:
        self._reap_orphans()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", self._module, str(os.getpid()), *self._arguments),
            stdin=asyncio.subprocess.DEVNULL,
            env={**os.environ, **self._environment},
            start_new_session=True,  # Ctrl-C is for the web process, also while a program is still starting
        )
        code = await self._process.wait()
        self._ended_sessions.add(self._process.pid)
        self._reap_orphans()
        return code

    def _reap_orphans(self) -> None:
        """Reap what earlier programs have left; a process that has launched bots adopts such orphans."""
        self._ended_sessions = set(filter(reap_session, self._ended_sessions))

    async def close(self) -> None:
        """End the program and its task."""
        if self._task is None:
            return
        self._task.cancel()
        [failed] = await asyncio.gather(self._task, return_exceptions=True)
        if not isinstance(failed, asyncio.CancelledError):
            _service_log.error("%s was no longer kept running", self._module, exc_info=failed)
        if self._process is None:
            return
        _signal(self._process, signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), SHUTDOWN_SECONDS)
        except TimeoutError:
            _signal(self._process, signal.SIGKILL)
            await self._process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a process, unless it has ended.

    ``Process.terminate`` and ``Process.kill`` poll first, which takes the exit status away from asyncio, whose thread
    waits for it: "Unknown child process pid".
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)


ASK_SECONDS = 0.5
"""Between two checks for new commits."""
STAY_SECONDS = 10.0
"""Between two reports on behalf of an idle service."""
UNCONTAINED_SECONDS = 600.0
"""After which the checker tries again whether this machine can contain uploads."""

_log = logging.getLogger("arena.work")


class Look(NamedTuple):
    """The work that waits for a service ("" for none), and a state whose changes make it look."""

    waiting: str
    state: str = ""


class View:
    """The databases at one moment, as all services look at them."""

    def __init__(self, home: ArenaHome, people: PeopleStore) -> None:
        self.home, self.people, self.now = home, people, people.contests.now()

    @cached_property
    def bots(self) -> str:
        """A text that changes with the submitted bots."""
        return str(hash(tuple((bot.label, bot.digest) for bot in self.home.store.submitted_bots())))


def _checker(view: View, _: Program) -> Look:
    is_uncontained = noted_refusal(view.home.directory) not in ("", NO_CHECKER)
    waiting = " ".join(map(str, view.people.submissions.claimable()))
    return Look(waiting, f"{time.time() // UNCONTAINED_SECONDS}" if is_uncontained else "")


def _contests(view: View, _: Program) -> Look:
    """Tell what is asked of a contest after it was played from the matches that the service was last started for."""
    waiting, requests = [], view.people.requests
    for stored in view.people.contests.all():
        if has_work(stored, view.people):
            asked = [found.number for name in stored.contest.tournaments if (found := requests.next(name))]
            waiting.append(f"{stored.name} {stored.played_at} {stored.reveal_asked_at} {asked}")
    return Look("; ".join(waiting))


def _results(view: View, _: Program) -> Look:
    states = []
    for stored in view.people.contests.all():
        if are_results_public(stored, view.now):
            tournaments = map(view.home.store.find_tournament, stored.contest.tournaments)
            states += [state_of(tournament) for tournament in tournaments if tournament]
    return Look("", "; ".join(states))


def _play(view: View, _: Program) -> Look:
    waiting = " ".join(map(str, view.people.unrated_matches.waiting()))
    today = view.now[:10]  # it removes old matches every day
    return Look(waiting, f"{view.bots} {view.home.store.totals()[0]} {today}")


def _annotator(view: View, _: Program) -> Look:
    store = view.home.store
    return Look(" ".join(map(str, store.analysis_requests.waiting())), str(store.totals()))


def _ladder(view: View, program: Program) -> Look:
    name, people = program.ladder, view.people
    request, desired = people.requests.next(name), people.directors.desired_state(name)
    stored = view.home.store.find_tournament(name)
    corrections = len(stored.corrections) if stored is not None else 0
    changed_at = _changed_at(program.arguments[-1])
    state = f"{view.bots} {desired.state if desired is not None else ''} {corrections} {changed_at}"
    return Look(str(request.number) if request is not None else "", state)


def _changed_at(file: str) -> int:
    try:
        return tournament_path(file).stat().st_mtime_ns
    except (OSError, UsageError):
        return 0


_LOOK_BY_SERVICE: Mapping[ServiceKind, Callable[[View, Program], Look]] = {
    CHECKER: _checker,
    CONTESTS: _contests,
    LADDER: _ladder,
    RESULTS: _results,
    PLAY: _play,
    ANNOTATOR: _annotator,
}


class _Watched:
    def __init__(self, program: Program, service: Service) -> None:
        self.program, self.service = program, service
        self._waiting, self._state = "", "not started yet"
        self._note = ProblemNote(program.arguments[0], program.service.name, f"ended {program.ladder}".strip())

    def is_wanted(self, view: View) -> bool:
        """Return whether to start the service now, and note the work that it is started for."""
        if not self.service.rests:
            return False
        look = _LOOK_BY_SERVICE[self.program.service](view, self.program)
        is_new = look.state != self._state or look.waiting not in ("", self._waiting)
        self._waiting = look.waiting
        self._state = look.state
        return is_new

    def note_problem(self) -> None:
        problem = self.service.problem
        self._note.report(problem) if problem else self._note.clear()

    def stay(self, people: PeopleStore) -> None:
        if not self.service.rests:
            return
        if self.program.ladder:
            people.directors.stay(self.program.ladder)
        elif self.program.service is PLAY:
            people.unrated_matches.keep_menu()


def _service(program: Program) -> Service:
    environment = {VISITORS_VARIABLE: "1"} if program.of_visitors else None
    return Service(program.service.module, program.arguments, environment)


def _is_wanted(watched: _Watched, view: View) -> bool:
    """Return whether to start a service; if its work can't be read, it starts too, to report the reason."""
    try:
        return watched.is_wanted(view)
    except DatabaseError:  # the supervisor tries again
        raise
    except Exception as error:
        if watched.service.rests:
            _log.error("what there is for the service %s to do can't be read: %s", watched.program.service.name, error)
        return watched.service.rests


class Supervisor:
    """Looks for work in a thread, and runs the programs that have some."""

    def __init__(
        self,
        directory: Path,
        programs: Sequence[Program],
        opened_people: Callable[[Path], PeopleStore] = open_people,
    ) -> None:
        self._directory, self._opened_people = directory, opened_people
        self._watched = [_Watched(program, _service(program)) for program in programs]
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start watching; called in a running loop."""
        self._loop = asyncio.get_running_loop()
        for watched in self._watched:
            watched.service.start()
        self._thread = threading.Thread(target=self._watch_until_closed, name="arena-supervisor", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """End all programs."""
        self._is_over.set()
        await asyncio.gather(*(watched.service.close() for watched in self._watched))
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _watch_until_closed(self) -> None:
        keep_trying(
            self._watch,
            _log,
            "what there is to do can't be read now",
            ProblemNote(self._directory, WORK),
            is_over=self._is_over.is_set,
            sleep=self._pause,
        )

    def _pause(self, seconds: float) -> None:
        self._is_over.wait(seconds)

    def _watch(self) -> None:
        with (
            ArenaHome(self._directory) as home,
            self._opened_people(self._directory) as people,
            contextlib.closing(Commits([home.store.commit_signal(), people.commit_signal()])) as commits,
        ):
            reported_at = time.monotonic()
            while not self._is_over.is_set():
                if commits.are_new():
                    view = View(home, people)
                    for watched in self._watched:
                        if _is_wanted(watched, view):
                            self._loop.call_soon_threadsafe(watched.service.want)
                for watched in self._watched:
                    watched.note_problem()
                if time.monotonic() - reported_at >= STAY_SECONDS:
                    reported_at = time.monotonic()
                    for watched in self._watched:
                        watched.stay(people)
                self._is_over.wait(ASK_SECONDS)


def run_work(directory: Path, programs: Sequence[Program]) -> bool:
    """Supervise all services until SIGTERM or Ctrl-C; return whether it was Ctrl-C."""
    return asyncio.run(_work(Supervisor(directory, programs)))


async def _work(supervisor: Supervisor) -> bool:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[bool] = loop.create_future()

    def end(is_interrupted: bool) -> None:
        if not ended.done():
            ended.set_result(is_interrupted)

    loop.add_signal_handler(signal.SIGTERM, end, False)
    loop.add_signal_handler(signal.SIGINT, end, True)
    supervisor.start()
    notify("READY=1")
    is_interrupted = await ended
    notify("STOPPING=1")
    await supervisor.close()
    return is_interrupted
