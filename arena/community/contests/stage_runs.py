"""Runs of the tournaments of a contest, each in the home where its matches are now."""

from __future__ import annotations

from collections.abc import Sequence

from arena.base.definition import Definition
from arena.base.errors import UsageError
from arena.community.contests.contest_homes import ContestHomes
from arena.community.contests.stage_control import StageControl, told_by
from arena.community.contests.visibility import ContestHome
from arena.store.home import ArenaHome
from arena.store.people.contest import StoredContest
from arena.store.people.directing import DirectorState, Wish
from arena.store.people.people_store import PeopleStore
from arena.tournament.director import run_tournament
from arena.tournament.directors.kept import KeptTournament, Leaving
from arena.tournament.executors.cores import available_cores
from arena.tournament.run import Refresh, RunControl

PROGRAM = "contest"


class StageRuns:
    """Plays tournaments of a contest."""

    def __init__(
        self,
        homes: ContestHomes,
        people: PeopleStore,
        leaving: Leaving,
        controls: Sequence[RunControl] = (),
        executor: str | None = None,
    ) -> None:
        """Prepare.

        Args:
            homes: where it is played.
            people: has the contest, and what directors want.
            leaving: whether the program is to end.
            controls: also asked by each run whether to continue.
            executor: where matches are played; by default on the cores of this machine.
        """
        self._homes, self._people, self._leaving = homes, people, leaving
        self._controls, self._executor = controls, executor
        self._drained = ""

    def play(self, stored: StoredContest, definition: Definition, refresh: Refresh | None = None) -> bool:
        """Play a tournament as far as is wanted, and return whether it is complete."""
        place, home = self._homes.of(stored)
        kept = self._kept(definition.name, home)
        wish = kept.wish
        if wish is Wish.PAUSE:
            kept.say(DirectorState.PAUSED)
            return False
        if wish is Wish.DRAIN and self._drained == definition.name:
            kept.say(DirectorState.DRAINED)
            return False
        if place is ContestHome.PUBLIC and (other := told_by(stored, self._people.contests)):
            raise UsageError(f"it waits until the results of the contest {other} are revealed, which it would tell")
        kept.begin()
        progress = run_tournament(
            definition,
            home.store,
            workers=max(1, len(available_cores()) - 1),
            log_path=home.log_path(definition.name),
            executor=self._executor,
            listener=kept.listen,
            refresh=refresh,
            control=StageControl(stored, self._people.contests, place, (*self._controls, kept)),
        )
        self._drained = definition.name if wish is Wish.DRAIN else ""
        is_stuck = not progress.is_complete and not progress.is_stopped
        kept.say(DirectorState.RESTING if is_stuck else DirectorState.IDLE)
        return progress.is_complete

    def has_requests(self, stored: StoredContest) -> bool:
        """Return whether something was asked of a tournament that it has."""
        return any(self._people.requests.next(name) is not None for name in stored.contest.tournaments)

    def carry_out_requests(self, stored: StoredContest) -> None:
        """Do what was asked of its tournaments."""
        _, home = self._homes.of(stored)
        for name in stored.contest.tournaments:
            self._kept(name, home).carry_out_requests()

    def _kept(self, tournament: str, home: ArenaHome) -> KeptTournament:
        return KeptTournament(tournament, PROGRAM, home, self._people, self._leaving)
