"""Runs of the tournaments of a contest, each in the home where its matches are, and when they end early."""

from __future__ import annotations

import logging
import time
from datetime import datetime

from arena.base.definition import Definition
from arena.base.errors import DatabaseError, UsageError
from arena.base.folder import path_to_write
from arena.base.records import Bot
from arena.community.contests.contest_places import has_requests, has_work, is_reveal_due
from arena.community.contests.stages import (
    ContestBots,
    ContestHomes,
    chosen,
    definition_of,
    first_of,
    is_ladder,
    ladder_until,
)
from arena.community.contests.visibility import ContestHome, playing_home
from arena.store.home import ArenaHome
from arena.store.people.contest import ContestStage, StageRules, StoredContest
from arena.store.people.contests import Contests
from arena.store.people.directors import DesiredState, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.tournament.director import run_tournament
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun
from arena.tournament.executors.worker_start import workers_that_fit
from arena.tournament.run import Order, Refresh, RunControl

ASK_SECONDS = 0.5
"""Between two queries for the state of the contest."""

_log = logging.getLogger("arena.contest")


def contest_revealed_by(stored: StoredContest, contests: Contests) -> str:
    """Return the contest of the same game and bots whose embargoed results public matches would tell; "" for none."""
    names = {entry.bot.rpartition("@")[0] for entry in contests.entries_of(stored)}
    games, now = (stored.contest.game,), contests.now()
    others = (other for other in contests.suspensions() if other.contest.name != stored.name)
    revealed = (other.contest.name for other in others if any(other.holds(name, games, now) for name in names))
    return next(revealed, "")


class StageControl(RunControl):
    """Ends a run when its matches belong in the other home, or when the contest moves on without them."""

    def __init__(self, stored: StoredContest, contests: Contests, home: ContestHome, supervised: SupervisedRun) -> None:
        """Prepare; the run also follows the orders of ``supervised``."""
        self._stored, self._contests, self._home, self._supervised = stored, contests, home, supervised
        self._asked_at = time.monotonic()
        self._is_over = self._reveals_embargoed = False

    def order(self) -> Order:
        """Return what the run is to do. It abandons matches whose results would be public too early."""
        if (
            self._home is ContestHome.PUBLIC
            and playing_home(self._stored, self._contests.now()) is ContestHome.EMBARGOED
        ):
            return Order.ABANDON
        if not self._is_over and time.monotonic() - self._asked_at >= ASK_SECONDS:
            self._asked_at = time.monotonic()
            self._is_over = self._has_moved_on()
        if self._reveals_embargoed:
            return Order.ABANDON
        if self._is_over:
            return Order.STOP
        return self._supervised.order()

    def _has_moved_on(self) -> bool:
        try:
            current = self._contests.get(self._stored.name)
            self._reveals_embargoed = self._home is ContestHome.PUBLIC and bool(
                contest_revealed_by(current, self._contests)
            )
        except DatabaseError as error:
            _log.warning("contest %s can't be read: %s", self._stored.name, error)
            return False
        before, self._stored = self._stored, current
        has_new_request = current.cancelled_at is not None or current.reveal_asked_at != before.reveal_asked_at
        return has_new_request or (current.stage is ContestStage.ENTRIES and are_entries_known(current, self._contests))


def are_entries_known(stored: StoredContest, contests: Contests) -> bool:
    """Return whether the deadline has passed, and all that was submitted before is checked."""
    if contests.now() <= stored.contest.deadline_at:
        return False
    closed = stored if stored.closed_at is not None else contests.close_entries(stored)
    return closed.closed_at is not None and not contests.unfinished_of(closed)


PROGRAM = "contest"


class StageRuns:
    """Plays tournaments of a contest."""

    def __init__(self, homes: ContestHomes, people: PeopleStore, shutdown: Shutdown) -> None:
        self._homes, self._people, self._shutdown = homes, people, shutdown
        self._drained = ""

    def play(self, stored: StoredContest, definition: Definition, refresh: Refresh | None = None) -> bool:
        """Play a tournament as its desired state asks; return whether it is complete."""
        place, home = self._homes.of(stored)
        supervised = self._supervised(definition.name, home)
        desired = supervised.desired_state
        if desired is DesiredState.PAUSE:
            supervised.report(DirectorState.PAUSED)
            return False
        if desired is DesiredState.DRAIN and self._drained == definition.name:
            supervised.report(DirectorState.DRAINED)
            return False
        if place is ContestHome.PUBLIC and (other := contest_revealed_by(stored, self._people.contests)):
            raise UsageError(f"it waits for the results of the contest {other}, which its own matches would give away")
        supervised.begin()
        progress = run_tournament(
            definition,
            home.store,
            workers=workers_that_fit(definition.limits, spare_cores=1),
            log_path=path_to_write(home.directory, home.log_path(definition.name)),
            listener=supervised.listen,
            refresh=refresh,
            control=StageControl(stored, self._people.contests, place, supervised),
        )
        self._drained = definition.name if desired is DesiredState.DRAIN else ""
        is_stuck = not progress.is_complete and not progress.is_stopped
        supervised.report(DirectorState.RESTING if is_stuck else DirectorState.IDLE)
        return progress.is_complete

    def carry_out_requests(self, stored: StoredContest) -> None:
        """Carry out the requests of directors to its tournaments."""
        _, home = self._homes.of(stored)
        for name in stored.contest.tournaments:
            self._supervised(name, home).carry_out_requests()

    def _supervised(self, tournament: str, home: ArenaHome) -> SupervisedRun:
        return SupervisedRun(tournament, PROGRAM, home, self._people, self._shutdown)


# Playing a contest, step by step. Only its row and the two homes decide the next step, so a program that is killed
# between two steps, or in the middle of one, loses nothing and repeats nothing.

WAIT_SECONDS = 1.0
REST_SECONDS = 10.0
"""Pause before trying again what failed."""


class PlayedContest:
    """A contest that is played. Closed with ``close``."""

    def __init__(self, name: str, home: ArenaHome, people: PeopleStore, shutdown: Shutdown) -> None:
        self._name, self._home, self._people = name, home, people
        self._homes = ContestHomes(home, people)
        self._runs = StageRuns(self._homes, people, shutdown)
        self._bots: ContestBots | None = None
        self._rated: tuple[str, ...] = ()

    def close(self) -> None:
        """Close the embargoed home."""
        self._homes.close()

    def step(self) -> float | None:
        """Do the next step; return the seconds until the next look, None if there is nothing to do for now."""
        stored = self._people.contests.get(self._name)
        if not has_work(stored, self._people):
            return None
        try:
            if is_reveal_due(stored, self._people.contests.now()):
                self._homes.reveal(stored)
                return 0.0
            pause_seconds = self._next_step(stored)
        except UsageError as error:
            self._note(str(error))
            return REST_SECONDS
        self._note("")
        return pause_seconds

    def _next_step(self, stored: StoredContest) -> float:
        if has_requests(stored, self._people):
            if stored.stage is ContestStage.PLAYED:  # set first: if this is killed, matches may have to be played again
                stored = self._people.contests.set_stage(stored, ContestStage.FINAL)
            self._runs.carry_out_requests(stored)
        if stored.stage is ContestStage.ENTRIES:
            return self._enter(stored)
        if stored.stage is ContestStage.QUALIFICATION:
            return self._qualify(stored)
        return self._play_final(stored)

    def _note(self, note: str) -> None:
        stored = self._people.contests.get(self._name)
        if stored.stage_note != note:
            if note:
                _log.error("contest %s does not go on: %s", stored.name, note)
            self._people.contests.set_stage(stored, stored.stage, note)

    # the three stages

    def _enter(self, stored: StoredContest) -> float:
        is_known = are_entries_known(stored, self._people.contests)  # before the candidates are read
        self._look_for_entries(stored)
        rules = stored.contest.qualification
        if is_known:
            self._people.contests.set_stage(stored, ContestStage.QUALIFICATION if rules else ContestStage.FINAL)
            return 0.0
        labels = tuple(bot.label for bot in self._entrants(stored))
        if rules is None or not is_ladder(rules) or len(labels) < stored.contest.players or labels == self._rated:
            return WAIT_SECONDS
        ladder = self._ladder(stored, rules, None)
        is_complete = self._runs.play(stored, ladder, lambda: self._grown_ladder(stored, rules))
        self._rated = tuple(bot.label for bot in self._entrants(stored)) if is_complete else ()
        return 0.0 if is_complete else WAIT_SECONDS

    def _qualify(self, stored: StoredContest) -> float:
        if not self._play_qualification(stored):
            return WAIT_SECONDS
        self._people.contests.set_stage(stored, ContestStage.FINAL)
        return 0.0

    def _play_final(self, stored: StoredContest) -> float:
        _, home = self._homes.of(stored)
        if stored.contest.qualification is not None:
            played = home.store.tournament(stored.contest.qualification_name)
            if played.finished_at is None and not self._play_qualification(stored):  # it was corrected
                return WAIT_SECONDS
        bots = self._entrants_so_far(stored, stored.name) or self._finalists(stored, home)
        if not self._runs.play(stored, definition_of(stored, stored.contest.final, stored.name, bots)):
            return WAIT_SECONDS
        self._people.contests.set_stage(stored, ContestStage.PLAYED)
        return 0.0

    def _play_qualification(self, stored: StoredContest) -> bool:
        rules, name = stored.contest.stages[0], stored.contest.qualification_name
        if is_ladder(rules):
            return self._runs.play(stored, self._ladder(stored, rules, self._hours_left(stored, rules)))
        bots = self._entrants_so_far(stored, name) or self._entrants(stored)
        return self._runs.play(stored, definition_of(stored, rules, name, bots))

    def _hours_left(self, stored: StoredContest, rules: StageRules) -> float | None:
        """Return how long a ladder may still be played after the deadline; None for as long as it takes."""
        hours: float | None = rules.settings.get("hours")
        if hours is None or stored.closed_at is None:
            return None
        since, now = map(datetime.fromisoformat, (stored.closed_at, self._people.contests.now()))
        return max(hours - (now - since).total_seconds() / 3600, 1e-9)

    def _ladder(self, stored: StoredContest, rules: StageRules, hours: float | None) -> Definition:
        name = stored.contest.qualification_name
        return ladder_until(definition_of(stored, rules, name, self._entrants(stored)), hours)

    def _grown_ladder(self, stored: StoredContest, rules: StageRules) -> Definition | None:
        """Return the ladder with new entrants; None if they can't be found now."""
        try:
            self._look_for_entries(stored)
            return self._ladder(stored, rules, None)
        except UsageError as error:
            _log.warning("contest %s: %s", stored.name, error)
            return None

    # the entrants

    def _bots_of(self, stored: StoredContest) -> ContestBots:
        if self._bots is None:
            self._bots = ContestBots(stored.contest, self._home)
        return self._bots

    def _look_for_entries(self, stored: StoredContest) -> None:
        contests = self._people.contests
        entries = chosen(stored.contest, contests.candidates(stored), self._bots_of(stored).plays)
        if entries != contests.entries_of(stored):
            contests.set_entries(stored, entries)

    def _entrants(self, stored: StoredContest) -> list[Bot]:
        bots = self._bots_of(stored)
        own = (bots.find(entry.bot) for entry in self._people.contests.entries_of(stored))
        return [*own, *bots.house_in(stored.contest.stages[0])]

    def _entrants_so_far(self, stored: StoredContest, tournament: str) -> list[Bot]:
        """Return the entrants of a tournament that has begun; a correction of the stage before does not change them."""
        _, home = self._homes.of(stored)
        begun = home.store.find_tournament(tournament)
        if begun is None:
            return []
        entrants = begun.definition.entrants
        gone = begun.definition.gone
        return [bot if k in gone else self._bots_of(stored).like(bot) for k, bot in enumerate(entrants)]

    def _finalists(self, stored: StoredContest, home: ArenaHome) -> list[Bot]:
        rules = stored.contest.qualification
        if rules is None or rules.places is None:
            return self._entrants(stored)
        bots = self._bots_of(stored)
        entered = {entry.bot for entry in self._people.contests.entries_of(stored)}
        first = first_of(home.store, stored.contest.qualification_name, rules.places, entered)
        return [*map(bots.find, first), *bots.house_in(stored.contest.final)]  # the best seed first
