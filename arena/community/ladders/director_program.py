"""The director of a ladder: plays while ratings are imprecise, then waits for new entrants."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable

from arena.base.definition import Definition
from arena.base.errors import UsageError
from arena.base.programs.service_program import Idleness, ProblemNote, end_now, keep_trying, run_service
from arena.base.text import all_of, counted, duration_text
from arena.community.ladders.open_ladder import LadderSuspensions, OpenLadder
from arena.store.home import ArenaHome, open_people
from arena.store.people.directors import LADDER, DesiredState, DirectorState
from arena.store.results.events import Commits
from arena.store.results.values import StoredTournament
from arena.tournament.director import run_tournament
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun
from arena.tournament.executors.worker_start import workers_that_fit
from arena.tournament.progress import Progress

ASK_SECONDS = 0.5
"""Between two checks for new commits."""
LOOK_SECONDS = 5.0
"""Between two checks of the desired state and the entrants, without a commit."""
FIRST_REST_SECONDS = 5.0
LONGEST_REST_SECONDS = 600.0
"""Between two runs whose matches are all void; each is twice as long as the one before."""

_log = logging.getLogger("arena.ladder")


class SupervisedLadder:
    """A supervised ladder."""

    def __init__(
        self,
        ladder: OpenLadder,
        supervised: SupervisedRun,
        home: ArenaHome,
        note_success: Callable[[], None] = lambda: None,
        now: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare; it calls ``note_success`` regularly while it plays or waits."""
        self._ladder, self._supervised, self._home = ladder, supervised, home
        self._suspensions = LadderSuspensions(supervised)
        self._note_success = note_success
        self._is_up_to_date = False
        self._is_busy = True
        self._is_drained = False
        self._corrections = 0
        self._shortage = ""
        self._now = now
        self._rest_seconds = FIRST_REST_SECONDS
        self._rests_until = now()
        self._rest_sentence = ""

    def supervise(self, shutdown: Shutdown, commits: Commits, idleness: Idleness) -> None:
        """Play, wait and carry out requests, until shutdown or until ``idleness`` is over."""
        while not shutdown.is_asked:
            next_look_at = self._now() + self.step()
            self._note_success()
            if idleness.is_over(self._is_busy):
                return
            while not shutdown.is_asked and (left := next_look_at - self._now()) > 0 and not commits.are_new():
                shutdown.sleep(min(left, ASK_SECONDS))

    def step(self) -> float:
        """Do the next step; return the seconds until the next look, 0 for at once."""
        if self._supervised.carry_out_requests():
            self._is_up_to_date, self._rests_until = False, self._now()
        desired = self._supervised.desired_state
        if desired is DesiredState.PAUSE:
            return self._wait(DirectorState.PAUSED)
        if desired is DesiredState.DRAIN and self._is_drained:
            return self._wait(DirectorState.DRAINED)
        changed, stored = self._ladder.refresh(), self._home.store.find_tournament(self._supervised.tournament)
        earlier = stored.definition.entrants if stored is not None else ()
        if self._suspensions.look((*earlier, *self._ladder.entrants)) or changed is not None:
            self._is_up_to_date, self._rests_until = False, self._now()
        if (left := self._rests_until - self._now()) > 0:
            return min(left, self._wait(DirectorState.RESTING, self._rest_sentence))
        if desired is DesiredState.PLAY:
            self._is_drained = False
            if self._is_up_to_date:
                return self._wait_for_entrants()
        return self._play()

    def _refreshed(self) -> Definition | None:
        """Return the ladder if its entrants have changed during a run."""
        changed = self._ladder.refresh()
        if changed is not None:
            self._suspensions.enter(changed.entrants)
        return changed

    def _wait_for_entrants(self) -> float:
        """Wait, and report if too few bots can be paired; look again at once after a correction by the command line."""
        stored = self._home.store.find_tournament(self._supervised.tournament)
        if stored is not None and len(stored.corrections) != self._corrections:
            self._corrections, self._is_up_to_date = len(stored.corrections), False
            return 0.0
        shortage = self._shortage_of(stored)
        if shortage and shortage != self._shortage:
            _log.warning("%s: %s", self._supervised.tournament, shortage)
        self._shortage = shortage
        return self._wait(DirectorState.SHORT if shortage else DirectorState.IDLE, shortage)

    def _shortage_of(self, stored: StoredTournament | None) -> str:
        """Return how many bots are missing, and what would help; "" if enough can be paired.

        The ladder's file has enough bots, so the missing ones are disqualified or have withdrawn.
        """
        definition, players = self._ladder.definition(), self._ladder.players
        gone = {stored.definition.entrants[k].label for k in stored.definition.gone} if stored is not None else set()
        present = sum(bot.label not in gone for bot in definition.entrants)
        if present >= players:
            return ""
        games = all_of(list(dict.fromkeys(choice.game for choice in definition.games)))
        missing = counted(players - present, "more bot")
        return (
            f"a match has {players} players, and {present or 'none'} can be paired; submit {missing} for {games},"
            " or undo a disqualification or withdrawal, and it continues by itself"
        )

    def _wait(self, state: DirectorState, sentence: str = "") -> float:
        self._is_busy = state is DirectorState.RESTING or bool(self._supervised.remark)
        self._supervised.report(state, sentence)
        return LOOK_SECONDS

    def _play(self) -> float:
        self._is_busy = True
        definition = self._ladder.definition()
        self._suspensions.enter(definition.entrants)
        stored = self._home.store.find_tournament(definition.name)
        self._corrections = len(stored.corrections) if stored is not None else 0
        self._supervised.begin()
        progress = run_tournament(
            definition,
            self._home.store,
            workers=definition.workers or workers_that_fit(definition.limits, spare_cores=1),
            log_path=self._home.log_path(definition.name),
            listener=self._listen,
            refresh=self._refreshed,
            control=self._suspensions,
        )
        self._is_up_to_date = progress.is_up_to_date
        self._is_drained = self._is_drained or self._supervised.desired_state is DesiredState.DRAIN
        if progress.played:
            self._rest_seconds = FIRST_REST_SECONDS
        if progress.given_up or self._supervised.scheduling.voids.has_too_many:
            self._rest(len(progress.given_up))
        return 0.0

    def _listen(self, progress: Progress) -> None:
        self._note_success()
        self._supervised.listen(progress)

    def _rest(self, given_up: int) -> None:
        """Rest before the next run, twice as long each time until a match is recorded."""
        seconds = self._rest_seconds
        self._rests_until = self._now() + seconds
        self._rest_seconds = min(2 * seconds, LONGEST_REST_SECONDS)
        cause = f"{counted(given_up, 'match')} stayed void" if given_up else "the last matches were void"
        self._rest_sentence = f"{cause}; it tries again after {duration_text(seconds)}, and each time later"
        _log.error("%s: %s", self._supervised.tournament, self._rest_sentence)


# It ends with the process that started it, also if that was killed.

NICENESS = 2
"""The site comes first."""


def main(arguments: list[str]) -> int:
    """Direct a ladder until SIGTERM; the arguments are the parent process, the home, and the ladder's file."""
    parent, directory, path = arguments
    note = ProblemNote(directory, "ladder", path)

    shutdown = Shutdown()

    def direct() -> None:
        shutdown.on_sigterm()
        keep_trying(
            lambda: _supervise(directory, path, shutdown, note),
            _log,
            f"{path} can't be played now",
            note,
            is_over=lambda: shutdown.is_asked,
            sleep=shutdown.sleep,
        )

    code = run_service(int(parent), NICENESS, direct)
    return 0 if shutdown.is_asked else code


def _supervise(directory: str, path: str, shutdown: Shutdown, note: ProblemNote) -> None:
    with (
        ArenaHome(directory) as home,
        open_people(directory) as people,
        contextlib.closing(Commits([home.store.commit_signal(), people.commit_signal()], LOOK_SECONDS)) as commits,
    ):
        ladder = OpenLadder(path, home)
        supervised = SupervisedRun(ladder.name, LADDER, home, people, shutdown)
        try:
            SupervisedLadder(ladder, supervised, home, note.clear).supervise(shutdown, commits, Idleness())
        except UsageError as error:
            supervised.report(DirectorState.UNABLE, f"{error}")
            raise


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
