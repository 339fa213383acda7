"""A contest that is played, step by step. What is to be done next follows from its row and from the two homes alone, so
that nothing is lost or done twice when the program is killed between two steps or in the middle of one.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from arena.contests.entrants import ContestBots, chosen
from arena.contests.hidden_home import has_hidden_home, hide, open_hidden_home, remove_hidden_home, take_back
from arena.contests.stage_control import StageControl, are_entries_known
from arena.contests.stages import definition_of, first_of, is_ladder, ladder_until
from arena.contests.visibility import ContestHome, playing_home, visible
from arena.contests.work import has_work, is_reveal_due
from arena.definition import Definition
from arena.errors import UsageError
from arena.executors.cores import available_cores
from arena.home import ArenaHome
from arena.people.contest import ContestStage, StageRules, StoredContest
from arena.records import Bot
from arena.store.people.people_store import PeopleStore
from arena.tournament.control import RunControl
from arena.tournament.director import Refresh, run_tournament

WAIT_SECONDS = 1.0
REST_SECONDS = 10.0
"""Before matches are tried again that were void again and again, and what can't be done now."""

_log = logging.getLogger("arena.contest")


class PlayedContest:
    """A contest that is played. Closed with ``close``."""

    def __init__(
        self,
        name: str,
        home: ArenaHome,
        people: PeopleStore,
        control: RunControl | None = None,
        executor: str | None = None,
    ) -> None:
        """Prepare.

        Args:
            name: of the contest.
            home: of the arena.
            people: has its row, and what was handed in.
            control: asked by each run whether to continue.
            executor: where matches are played; by default on the cores of this machine.
        """
        self._name, self._home, self._people = name, home, people
        self._control, self._executor = control or RunControl(), executor
        self._hidden: ArenaHome | None = None
        self._bots: ContestBots | None = None
        self._rated: tuple[str, ...] = ()

    def close(self) -> None:
        """Close the hidden home."""
        if self._hidden is not None:
            self._hidden.close()
            self._hidden = None

    def step(self) -> float | None:
        """Do what is to be done next.

        Returns:
            After how many seconds to look again, 0 for at once; None if there is nothing to do for now.
        """
        stored = self._people.contests.get(self._name)
        if not has_work(stored, self._people):
            return None
        if is_reveal_due(stored, self._people.contests.now()):
            self._reveal(stored)
            return 0.0
        try:
            return self._go_on(stored)
        except UsageError as error:
            self._note(stored, str(error))
            return REST_SECONDS

    def _go_on(self, stored: StoredContest) -> float:
        if stored.stage is ContestStage.ENTRIES:
            return self._enter(stored)
        if stored.stage is ContestStage.QUALIFICATION:
            return self._qualify(stored)
        return self._play_final(stored)

    # the three stages

    def _enter(self, stored: StoredContest) -> float:
        is_known = are_entries_known(stored, self._people.contests)  # before the candidates are read
        self._look_for_entries(stored)
        if is_known:
            follows = ContestStage.FINAL if stored.contest.qualification is None else ContestStage.QUALIFICATION
            self._people.contests.set_stage(stored, follows)
            return 0.0
        rules = stored.contest.qualification
        playing = self._entrants(stored)
        if rules is None or not is_ladder(rules) or len(playing) < stored.contest.players:
            return WAIT_SECONDS
        labels = tuple(bot.label for bot in playing)
        if labels == self._rated:
            return WAIT_SECONDS
        is_complete = self._run(stored, self._ladder(stored, rules), lambda: self._grown_ladder(stored, rules))
        self._rated = tuple(bot.label for bot in self._entrants(stored)) if is_complete else ()
        return 0.0 if is_complete else WAIT_SECONDS

    def _look_for_entries(self, stored: StoredContest) -> None:
        contests = self._people.contests
        entries = chosen(stored.contest, contests.candidates(stored), self._bots_of(stored).plays)
        if entries != contests.entries_of(stored):
            contests.set_entries(stored, entries)

    def _ladder(self, stored: StoredContest, rules: StageRules) -> Definition:
        name = stored.contest.qualification_name
        return ladder_until(definition_of(stored, rules, name, self._entrants(stored)), None)

    def _grown_ladder(self, stored: StoredContest, rules: StageRules) -> Definition | None:
        """Return the ladder with who has entered meanwhile; None if that can't be said now."""
        try:
            self._look_for_entries(stored)
            return self._ladder(stored, rules)
        except UsageError as error:
            _log.warning("contest %s: %s", stored.name, error)
            return None

    def _qualify(self, stored: StoredContest) -> float:
        rules = stored.contest.stages[0]
        definition = definition_of(stored, rules, stored.contest.qualification_name, self._entrants(stored))
        if is_ladder(rules):
            definition = ladder_until(definition, self._hours_left(stored, rules))
        if not self._run(stored, definition):
            return WAIT_SECONDS
        self._people.contests.set_stage(stored, ContestStage.FINAL)
        return 0.0

    def _play_final(self, stored: StoredContest) -> float:
        bots = self._finalists(stored)
        if not self._run(stored, definition_of(stored, stored.contest.final, stored.name, bots)):
            return WAIT_SECONDS
        self._people.contests.set_stage(stored, ContestStage.PLAYED)
        return 0.0

    def _hours_left(self, stored: StoredContest, rules: StageRules) -> float | None:
        """Return how long a ladder may still be played after the deadline; None for as long as it takes."""
        hours: float | None = rules.settings.get("hours")
        if hours is None or stored.closed_at is None:
            return None
        since, now = map(datetime.fromisoformat, (stored.closed_at, self._people.contests.now()))
        return max(hours - (now - since).total_seconds() / 3600, 1e-9)

    # who plays

    def _bots_of(self, stored: StoredContest) -> ContestBots:
        if self._bots is None:
            self._bots = ContestBots(stored.contest, self._home)
        return self._bots

    def _entrants(self, stored: StoredContest) -> list[Bot]:
        bots = self._bots_of(stored)
        return [*bots.house, *(bots.find(one.bot) for one in self._people.contests.entries_of(stored))]

    def _finalists(self, stored: StoredContest) -> Sequence[Bot]:
        """Return who plays in the final; once it has begun, they stay, whatever becomes of the qualification."""
        bots = self._bots_of(stored)
        home = self._home_of(stored)
        begun = home.store.find_tournament(stored.name)
        if begun is not None:
            return [bots.find(bot.label) for bot in begun.definition.entrants]
        rules = stored.contest.qualification
        if rules is None or rules.places is None:
            return self._entrants(stored)
        entered = {one.bot for one in self._people.contests.entries_of(stored)}
        first = first_of(home.store, stored.contest.qualification_name, rules.places, entered)
        return [*bots.house, *map(bots.find, first)]

    # where it is played

    def _home_of(self, stored: StoredContest) -> ArenaHome:
        """Return the home in which matches of a contest are now, with all that was played before."""
        has_hidden = stored.revealed_at is None and has_hidden_home(self._home.directory, stored.name)
        if playing_home(stored, self._people.contests.now()) is ContestHome.PUBLIC and not has_hidden:
            return self._home
        if self._hidden is None:
            self._hidden = open_hidden_home(self._home.directory, stored.name)
        for tournament in stored.contest.tournaments:
            hide(self._home, self._hidden, tournament)
        return self._hidden

    def _run(self, stored: StoredContest, definition: Definition, refresh: Refresh | None = None) -> bool:
        """Play a tournament, and return whether it is complete."""
        home = self._home_of(stored)
        place = ContestHome.PUBLIC if home is self._home else ContestHome.HIDDEN
        self._note(stored, "")
        progress = run_tournament(
            definition,
            home.store,
            workers=max(1, len(available_cores()) - 1),
            log_path=home.log_path(definition.name),
            executor=self._executor,
            refresh=refresh,
            control=StageControl(stored, self._people.contests, place, self._control),
        )
        if not progress.is_complete and not progress.is_stopped:
            self._note(stored, f"{progress.left} matches have no result yet, and are tried again")
        return progress.is_complete

    def _note(self, stored: StoredContest, note: str) -> None:
        if self._people.contests.get(stored.name).stage_note != note:
            self._people.contests.set_stage(stored, stored.stage, note)

    # results are shown

    def _reveal(self, stored: StoredContest) -> None:
        if has_hidden_home(self._home.directory, stored.name):
            if self._hidden is None:
                self._hidden = open_hidden_home(self._home.directory, stored.name)
            take_back(self._home, self._hidden, stored.contest)
        revealed = self._people.contests.set_revealed(stored)
        assert visible(revealed, (), self._people.contests.now()).has_all
        if self._hidden is not None:
            remove_hidden_home(self._home, self._hidden, stored.contest)
            self._hidden = None
