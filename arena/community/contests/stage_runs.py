"""Runs of the tournaments of a contest, each in the home where its matches are, and when they end early."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from arena.base.definition import Definition
from arena.base.errors import DatabaseError, UsageError
from arena.community.contests.contest_homes import ContestHomes
from arena.community.contests.visibility import ContestHome, playing_home
from arena.store.home import ArenaHome
from arena.store.people.contest import ContestStage, StoredContest
from arena.store.people.contests import Contests
from arena.store.people.directing import DesiredState, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.tournament.director import run_tournament
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun
from arena.tournament.executors.worker_start import available_cores
from arena.tournament.run import Order, Refresh, RunControl

# When a run of a contest's tournament ends before everything is played.

ASK_SECONDS = 0.5
"""Between two times that the database is asked what has become of the contest."""

_log = logging.getLogger("arena.contest")


def told_by(stored: StoredContest, contests: Contests) -> str:
    """Return the contest of the same game and bots whose hidden results public matches would tell; "" for none."""
    names = {entry.bot.rpartition("@")[0] for entry in contests.entries_of(stored)}
    games, now = (stored.contest.game,), contests.now()
    others = (rest for rest in contests.rests() if rest.contest.name != stored.name)
    found = (rest.contest.name for rest in others if any(rest.holds(name, games, now) for name in names))
    return next(found, "")


class StageControl(RunControl):
    """Ends a run when its matches belong into the other home, or when the contest is to go on without them."""

    def __init__(
        self, stored: StoredContest, contests: Contests, home: ContestHome, also: Sequence[RunControl]
    ) -> None:
        """Prepare; of the controls in ``also``, the first that does not let the run continue decides."""
        self._stored, self._contests, self._home, self._also = stored, contests, home, also
        self._asked_at = time.monotonic()
        self._is_over = self._tells_others = False

    def order(self) -> Order:
        """Return what the run is to do. What must not be seen is not recorded where it could be."""
        if self._home is ContestHome.PUBLIC and playing_home(self._stored, self._contests.now()) is ContestHome.HIDDEN:
            return Order.ABANDON
        if not self._is_over and time.monotonic() - self._asked_at >= ASK_SECONDS:
            self._asked_at = time.monotonic()
            self._is_over = self._has_moved_on()
        if self._tells_others:
            return Order.ABANDON
        if self._is_over:
            return Order.STOP
        return next((order for one in self._also if (order := one.order()) is not Order.PLAY), Order.PLAY)

    def _has_moved_on(self) -> bool:
        try:
            known = self._contests.get(self._stored.name)
            self._tells_others = self._home is ContestHome.PUBLIC and bool(told_by(known, self._contests))
        except DatabaseError as error:
            _log.warning("contest %s can't be read: %s", self._stored.name, error)
            return False
        before, self._stored = self._stored, known
        has_new_request = known.cancelled_at is not None or known.reveal_asked_at != before.reveal_asked_at
        return has_new_request or (known.stage is ContestStage.ENTRIES and are_entries_known(known, self._contests))


def are_entries_known(stored: StoredContest, contests: Contests) -> bool:
    """Return whether the deadline has passed, and all that was handed in before is checked."""
    if contests.now() <= stored.contest.deadline_at:
        return False
    closed = stored if stored.closed_at is not None else contests.close_entries(stored)
    return closed.closed_at is not None and not contests.unfinished_of(closed)


# Runs of the tournaments of a contest, each in the home where its matches are now.

PROGRAM = "contest"


class StageRuns:
    """Plays tournaments of a contest."""

    def __init__(
        self,
        homes: ContestHomes,
        people: PeopleStore,
        shutdown: Shutdown,
        controls: Sequence[RunControl] = (),
        executor: str | None = None,
    ) -> None:
        """Prepare; each run asks the controls whether to continue. By default, matches use this machine's cores."""
        self._homes, self._people, self._shutdown = homes, people, shutdown
        self._controls, self._executor = controls, executor
        self._drained = ""

    def play(self, stored: StoredContest, definition: Definition, refresh: Refresh | None = None) -> bool:
        """Play a tournament as far as is wanted, and return whether it is complete."""
        place, home = self._homes.of(stored)
        supervised = self._supervised(definition.name, home)
        desired = supervised.desired_state
        if desired is DesiredState.PAUSE:
            supervised.say(DirectorState.PAUSED)
            return False
        if desired is DesiredState.DRAIN and self._drained == definition.name:
            supervised.say(DirectorState.DRAINED)
            return False
        if place is ContestHome.PUBLIC and (other := told_by(stored, self._people.contests)):
            raise UsageError(f"it waits until the results of the contest {other} are revealed, which it would tell")
        supervised.begin()
        progress = run_tournament(
            definition,
            home.store,
            workers=max(1, len(available_cores()) - 1),
            log_path=home.log_path(definition.name),
            executor=self._executor,
            listener=supervised.listen,
            refresh=refresh,
            control=StageControl(stored, self._people.contests, place, (*self._controls, supervised)),
        )
        self._drained = definition.name if desired is DesiredState.DRAIN else ""
        is_stuck = not progress.is_complete and not progress.is_stopped
        supervised.say(DirectorState.RESTING if is_stuck else DirectorState.IDLE)
        return progress.is_complete

    def has_requests(self, stored: StoredContest) -> bool:
        """Return whether something was asked of a tournament that it has."""
        return any(self._people.requests.next(name) is not None for name in stored.contest.tournaments)

    def carry_out_requests(self, stored: StoredContest) -> None:
        """Do what was asked of its tournaments."""
        _, home = self._homes.of(stored)
        for name in stored.contest.tournaments:
            self._supervised(name, home).carry_out_requests()

    def _supervised(self, tournament: str, home: ArenaHome) -> SupervisedRun:
        return SupervisedRun(tournament, PROGRAM, home, self._people, self._shutdown)
