"""A tournament that a program keeps going: its desired state, its status, and how the program ends."""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType

from arena.base.enums import DisqualifiedMatches
from arena.base.errors import ArenaError, DatabaseError, UsageError
from arena.base.programs.service_program import TerminatedError
from arena.store.home import ArenaHome
from arena.store.people.directors import (
    DesiredState,
    DirectorState,
    RequestState,
    RunFigures,
    Suspension,
    TournamentRequest,
)
from arena.store.people.people_store import PeopleStore
from arena.store.results.values import Correction
from arena.tournament.corrections.corrected_tournament import undo_correction, void_matches
from arena.tournament.corrections.entrants import disqualify, replace_bot, withdraw
from arena.tournament.fair_scheduling import FairScheduling, SuspendedBot
from arena.tournament.formats.format import StopLimits
from arena.tournament.progress import Progress, time_left
from arena.tournament.run import Order, RunControl

# How a program that supervises a tournament ends on SIGTERM: it lets the matches that are being played end first.

SHUTDOWN_SECONDS = 0.75
"""How long matches that are being played may still take; the next run plays those that have no record then. Upgrades
and restarts of the arena wait for it.
"""


class Shutdown:
    """A request to the program to end."""

    def __init__(self) -> None:
        self.is_asked = False
        self._pipe: tuple[int, int] | None = None

    def on_sigterm(self, seconds: float = SHUTDOWN_SECONDS) -> None:
        """Take SIGTERM as a request to end. The usual handler acts some seconds later, or at a second SIGTERM."""
        earlier = signal.getsignal(signal.SIGTERM)
        interrupt = earlier if callable(earlier) else _interrupt

        def leave(number: int, frame: FrameType | None) -> None:
            if self.is_asked:
                interrupt(number, frame)
                return
            self.is_asked = True
            os.write(into, b".")  # wakes ``sleep``: after a signal handler, Python resumes the wait
            timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGTERM))
            timer.daemon = True
            timer.start()

        self._pipe = _, into = os.pipe()
        signal.signal(signal.SIGTERM, leave)

    def sleep(self, seconds: float) -> None:
        """Wait, at most until the program is asked to end."""
        if self._pipe is None:
            time.sleep(0.0 if self.is_asked else seconds)
            return
        woken = select.poll()
        woken.register(self._pipe[0], select.POLLIN)
        woken.poll(1000.0 * max(0.0, seconds))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise TerminatedError


# A tournament that a program keeps going: its desired state, and the reports of the program.

ASK_SECONDS = 0.5
"""The interval at which the program reads the desired state."""
REPORT_SECONDS = 5.0
"""The interval of progress reports."""
REPORT_AGAIN_SECONDS = 10.0
"""The interval of reports while the program waits; longer, because every write wakes the other programs."""

_ORDERS = {DesiredState.PLAY: Order.PLAY, DesiredState.PAUSE: Order.STOP, DesiredState.DRAIN: Order.DRAIN}
LISTED = 50
"""The most suspended entrants that the page lists."""
LEAST_SECONDS = 1.0
"""The shortest remaining suspension that is listed."""

_log = logging.getLogger("arena.director")


class SupervisedRun(RunControl):
    """A supervised tournament; the control of its runs, and the listener.

    Between two runs the program calls ``carry_out_requests`` and looks at ``desired_state``.

    Attributes:
        scheduling: which bots are suspended from rounds.
        remark: a sentence that its status always includes; "" for none.
    """

    def __init__(
        self,
        tournament: str,
        program: str,
        home: ArenaHome,
        people: PeopleStore,
        shutdown: Shutdown,
        now: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare; ``program`` is "ladder" or "contest"."""
        self.tournament, self._program, self.people = tournament, program, people
        self._home, self._shutdown, self._now = home, shutdown, now
        self._order, self._asked_at = Order.PLAY, float("-inf")
        self._reported: tuple[DirectorState, str] | None = None
        self._reported_at = self._began_at = now()
        report = people.directors.report(tournament)  # the last report holds until there is a newer one
        self._figures = replace(report.figures, playing=0, sitting_out=()) if report is not None else RunFigures()
        self.scheduling: FairScheduling = FairScheduling(now)
        self.remark = ""

    @property
    def desired_state(self) -> DesiredState:
        """Its desired state now."""
        stored = self.people.directors.desired_state(self.tournament)
        return stored.state if stored is not None else DesiredState.PLAY

    def order(self) -> Order:
        """Return what a run is to do; if the database can't be read, the last answer."""
        if self._shutdown.is_asked:
            return Order.STOP
        if self._now() - self._asked_at >= ASK_SECONDS:
            self._asked_at = self._now()
            try:
                has_request = self.people.requests.next(self.tournament) is not None
                self._order = Order.STOP if has_request else _ORDERS[self.desired_state]
            except DatabaseError as error:
                _log.warning("%s: the desired state can't be read: %s", self.tournament, error)
        return self._order

    def carry_out_requests(self) -> int:
        """Carry out the requests while no run is active; return how many were decided."""
        if self.people.requests.next(self.tournament) is None:
            return 0
        self.report(DirectorState.CORRECTING)
        return carry_out_requests(self._home, self.people, self.tournament)

    def begin(self) -> None:
        """Begin a run."""
        self._began_at = self._now()
        self._asked_at = float("-inf")
        self.report(DirectorState.PLAYING)

    def listen(self, progress: Progress) -> None:
        """Report the progress of a run."""
        limits = progress.stop_limits or StopLimits()
        left = time_left(progress, self._now() - self._began_at)
        self._figures = RunFigures(
            recorded=progress.recorded,
            scheduled=progress.scheduled,
            playing=progress.playing,
            status=progress.status,
            margin_95=limits.widest_margin,
            wanted_margin_95=limits.margin_95,
            seconds_left=round(left.seconds, 1) if left is not None else None,
            void_in_row=self.scheduling.voids.in_row,
            sitting_out=_listed_suspensions(self.scheduling.suspended()),
        )
        self.report(DirectorState.PLAYING)

    def report(self, state: DirectorState, sentence: str = "") -> None:
        """Report what the program is doing, if that has changed or the last report is old."""
        if state is not DirectorState.UNABLE:
            sentence = "; ".join(filter(None, (sentence, self.remark)))
        pause_seconds = REPORT_SECONDS if state is DirectorState.PLAYING else REPORT_AGAIN_SECONDS
        if (state, sentence) == self._reported and self._now() - self._reported_at < pause_seconds:
            return
        self._reported, self._reported_at = (state, sentence), self._now()
        try:
            self.people.directors.report_state(self.tournament, self._program, state, sentence, self._figures)
        except DatabaseError as error:
            _log.warning("%s: how it is can't be written: %s", self.tournament, error)


def _listed_suspensions(suspended: Sequence[SuspendedBot]) -> tuple[Suspension, ...]:
    """Return the suspensions to list, without those that end before anybody reads them."""
    slow, void = "paused: slow matches, over its time quota", "its matches were void"
    lasting = [each for each in suspended if each.seconds >= LEAST_SECONDS]
    return tuple(
        Suspension(bot=each.bot, reason=slow if each.is_slow else void, seconds=round(each.seconds, 1))
        for each in lasting[:LISTED]
    )


KINDS = ("withdraw", "disqualify", "replace", "void", "undo")
"""The kinds of requests; the correction that does one is of the same kind."""


def _make_correction(home: ArenaHome, request: TournamentRequest) -> Correction:
    """Make the correction that was requested, or raise UsageError for a request of an unknown kind."""
    store, tournament, reason, arguments = home.store, request.tournament, request.reason, request.arguments
    if request.kind == "withdraw":
        return withdraw(store, tournament, arguments["bot"], reason=reason)
    if request.kind == "disqualify":
        rule = DisqualifiedMatches(arguments["rule"])
        return disqualify(store, tournament, arguments["bot"], reason=reason, matches=rule)
    if request.kind == "replace":
        return replace_bot(store, tournament, arguments["bot"], home.bots.find(arguments["new"]), reason=reason)
    if request.kind == "void":
        return void_matches(store, tournament, arguments["numbers"], reason=reason)
    if request.kind == "undo":
        return undo_correction(store, tournament, arguments["correction"], reason=reason)
    raise UsageError(f"{request.kind!r}: expected {', '.join(KINDS)}")


def carry_out_requests(home: ArenaHome, people: PeopleStore, tournament: str) -> int:
    """Decide the requests for a tournament that nobody is running now, the oldest first; return how many.

    A request that can't be done, or is of an unknown kind, is refused with the reason.

    Raises:
        DatabaseError: if a database fails; what was begun is found again.
        StoreError: if the tournament is being run; nothing was changed.
    """
    with home.store.lock(tournament):
        decided = 0  # a request that meets another director is not refused, but waits
    while (request := people.requests.next(tournament)) is not None:
        _carry_out(home, people, request)
        decided += 1
    return decided


def _carry_out(home: ArenaHome, people: PeopleStore, request: TournamentRequest) -> None:
    tournament = home.store.find_tournament(request.tournament)
    corrections = () if tournament is None else tournament.corrections
    before = max((correction.number for correction in corrections), default=0)
    correction = _correction_made_before(corrections, request)
    if correction is not None:
        people.requests.finish(request.number, _outcome_sentence(correction), is_done=True)
        return
    people.requests.begin(request.number, before)
    try:
        correction = _make_correction(home, request)
    except DatabaseError:
        raise
    except (ArenaError, KeyError, TypeError, ValueError) as error:
        _log.warning("request %d (%s %s) is refused: %s", request.number, request.kind, request.tournament, error)
        people.requests.finish(request.number, f"{error}", is_done=False)
    else:
        people.requests.finish(request.number, _outcome_sentence(correction), is_done=True)


def _correction_made_before(corrections: Sequence[Correction], request: TournamentRequest) -> Correction | None:
    """Return the correction that a director made for this request before it was killed, unreported."""
    if request.state is not RequestState.BEGUN or request.kind not in KINDS:
        return None
    later = (c for c in corrections if c.number > (request.corrections_before or 0))
    return next((c for c in later if c.kind == request.kind and c.reason == request.reason), None)


def _outcome_sentence(correction: Correction) -> str:
    return f"correction {correction.number} was made"
