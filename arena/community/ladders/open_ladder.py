"""A ladder with the bots of its file and submitted ones, which of these are suspended, and its director."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from arena.base.definition import Definition
from arena.base.errors import BotDefinitionError, DatabaseError, DefinitionError, UsageError
from arena.base.folder import path_to_write
from arena.base.programs.service_program import Idleness, ProblemNote, end_now, keep_trying, run_service
from arena.base.records import Bot
from arena.base.text import all_of, counted, duration_text, size_text
from arena.match.players.building import build_bots
from arena.match.players.manifest import claims_problem
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome, open_people
from arena.store.people.directors import LADDER, DesiredState, DirectorState
from arena.store.people.rates import MAX_DAILY_BYTES
from arena.store.people.stored_contests import ContestSuspension
from arena.store.results.events import LOOK_SECONDS, Commits
from arena.store.results.values import StoredBot, StoredTournament
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun
from arena.tournament.executors.worker_start import workers_that_fit
from arena.tournament.formats.format import format_class
from arena.tournament.progress import Progress
from arena.tournament.run import Order, RunControl

# A new version enters as soon as it is submitted, and the one before it is not paired any more; its results stay.

UNCONTAINED = ("none", "limits")

_log = logging.getLogger("arena.ladder")


class OpenLadder:
    """A ladder that submitted bots enter; ``entrants`` are those of the latest definition."""

    def __init__(self, path: str | os.PathLike[str], home: ArenaHome) -> None:
        """Read a tournament file, or ``arena:NAME``; raise DefinitionError if it is no ladder."""
        self._file = load_definition(path, home.bots)
        if not format_class(self._file).open_entry:
            raise DefinitionError(f"{path}: format = {self._file.format!r}: expected 'ladder', which is always open")
        if self._file.isolation in UNCONTAINED:
            raise DefinitionError(
                f"{path}: isolation = {self._file.isolation!r}: bots of others play here; expected 'auto', 'landlock'"
                " or 'bubblewrap'"
            )
        self._home = home
        self._bots: dict[tuple[str, str], Bot | None] = {}
        self.entrants: tuple[Bot, ...] = ()

    @property
    def name(self) -> str:
        """The name of the tournament."""
        return self._file.name

    @property
    def players(self) -> int:
        """How many seats its largest game has."""
        return max(game.players for game in self._file.games)

    def definition(self) -> Definition:
        """Return the ladder with its present entrants."""
        self.entrants = tuple(self._current_entrants())
        return replace(self._file, entrants=self.entrants)

    def refresh(self) -> Definition | None:
        """Return the ladder if its entrants have changed; None if they are the same."""
        earlier = self.entrants
        definition = self.definition()
        return definition if definition.entrants != earlier else None

    def _current_entrants(self) -> Iterator[Bot]:
        yield from self._file.entrants
        taken_names = {bot.name for bot in self._file.entrants}
        latest = {bot.name: bot for bot in self._home.store.submitted_bots()}
        for name, stored in latest.items():
            bot = self._built_bot(stored) if name not in taken_names else None
            if bot is not None:
                yield bot

    def _built_bot(self, stored: StoredBot) -> Bot | None:
        key = (stored.label, stored.digest)
        if key not in self._bots:
            try:
                games = [choice.game for choice in self._file.games]
                self._bots[key] = built_bot(self._home, stored.label, games, self._file.isolation)
            except BotDefinitionError as error:
                _log.warning("%s does not enter: %s", stored.label, error)
                self._bots[key] = None
            except UsageError as error:  # the machine's fault; it is tried again
                _log.warning("%s does not enter now: %s", stored.label, error)
                return None
        return self._bots[key]


def built_bot(home: ArenaHome, label: str, games: Iterable[str], isolation: str) -> Bot | None:
    """Return a submitted bot, built; None if it does not play all of these games. Raise UsageError if it can't be."""
    bot = home.bots.find(label)
    if any(claims_problem(bot, game) is not None for game in games):
        return None
    build_bots([bot], choose_isolation(isolation))
    return bot


# Bots are suspended from a ladder while a contest hides their results, or after their author has used up a quota.

ASK_SECONDS = 0.5
"""Between two checks for new commits, and between two queries for contests; a known suspension begins on time."""

MAX_NAMED = 5


class LadderSuspensions(RunControl):
    """Keeps bots away from the matches of a ladder, and ends its runs when a suspension begins or ends.

    The ladder's director calls ``look`` before a run, and ``enter`` when entrants come while it lasts.
    """

    def __init__(self, supervised: SupervisedRun) -> None:
        """Prepare; the run also follows the orders of ``supervised``."""
        self._supervised = supervised
        self.scheduling = supervised.scheduling
        self._bots: dict[str, tuple[str, ...]] = {}
        self._of_contests: list[ContestSuspension] | None = None
        self._asked_at = self._counted_at = float("-inf")
        self._over_quota: frozenset[str] = frozenset()

    def look(self, bots: Iterable[Bot]) -> bool:
        """Keep suspended bots away, of these and of earlier ones; return whether other bots are suspended now."""
        before, self._supervised.scheduling.away = self._supervised.scheduling.away, frozenset()
        self.enter(bots)
        return self._supervised.scheduling.away != before

    def enter(self, bots: Iterable[Bot]) -> None:
        """Also keep suspended new entrants away."""
        self._bots |= {bot.label: bot.games for bot in bots}
        self._asked_at = self._counted_at = float("-inf")
        self._supervised.scheduling.away |= self._suspended_for_contests() | self._beyond_quota()
        self._supervised.remark = "; ".join(filter(None, (self._contests_remark(), self._quota_remark())))

    def order(self) -> Order:
        """Return what the run is to do; matches of a suspended bot are not recorded."""
        suspended, before = self._suspended_for_contests(), self._supervised.scheduling.away
        if not suspended <= before:
            return Order.ABANDON
        return Order.STOP if suspended | self._beyond_quota() != before else self._supervised.order()

    def _beyond_quota(self) -> frozenset[str]:
        """Count what bots wrote since the last look; return the bots of authors over their quota of today."""
        if time.monotonic() - self._counted_at >= ASK_SECONDS:
            quota, scheduling = self._supervised.people.record_quota, self._supervised.scheduling
            try:
                if scheduling.text_bytes:
                    quota.add(scheduling.text_bytes)
                    scheduling.text_bytes.clear()
                self._over_quota = quota.beyond(self._bots)
            except DatabaseError as error:
                _log.warning("%s: quotas can't be read: %s", self._supervised.tournament, error)
            self._counted_at = time.monotonic()
        return self._over_quota

    def _suspended_for_contests(self) -> frozenset[str]:
        if time.monotonic() - self._asked_at >= ASK_SECONDS:
            try:
                self._of_contests, self._asked_at = self._supervised.people.contests.suspensions(), time.monotonic()
            except DatabaseError as error:
                if self._of_contests is None:
                    raise
                _log.warning("%s: who rests can't be read: %s", self._supervised.tournament, error)
        return frozenset(label for suspension in self._of_contests or () for label in self._suspended_for(suspension))

    def _suspended_for(self, suspension: ContestSuspension) -> list[str]:
        now = self._supervised.people.contests.now()
        return [label for label, games in self._bots.items() if suspension.holds(label.rpartition("@")[0], games, now)]

    def _quota_remark(self) -> str:
        if not self._over_quota:
            return ""
        bots, size = sorted(self._over_quota), size_text(MAX_DAILY_BYTES)
        named = bots[:MAX_NAMED] + ([f"{len(bots) - MAX_NAMED} more"] if len(bots) > MAX_NAMED else [])
        verb = "is" if len(bots) == 1 else "are"
        return f"{all_of(named)} {verb} suspended until 00:00 UTC: their author's bots wrote more than {size} today"

    def _contests_remark(self) -> str:
        """Return for which contests bots are suspended, without naming bots; "" if none is."""
        names = sorted(entry.contest.name for entry in self._of_contests or () if self._suspended_for(entry))
        if not names:
            return ""
        contests_text, their = (
            (f"contest {names[0]}", "its") if len(names) == 1 else (f"contests {all_of(names)}", "their")
        )
        return f"bots that can enter the {contests_text} are suspended until {their} results are revealed"


# The director of a ladder: plays while ratings are imprecise, then waits for new entrants.


FIRST_REST_SECONDS = 5.0
LONGEST_REST_SECONDS = 600.0
"""Between two runs whose matches are all void; each is twice as long as the one before."""


class SupervisedLadder:
    """A supervised ladder."""

    def __init__(
        self,
        ladder: OpenLadder,
        supervised: SupervisedRun,
        home: ArenaHome,
        note_success: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare; it calls ``note_success`` regularly while it plays or waits."""
        self._ladder, self._supervised, self._home = ladder, supervised, home
        self._suspensions, self._note_success = LadderSuspensions(supervised), note_success
        self._is_up_to_date, self._is_busy, self._is_drained = False, True, False
        self._corrections, self._shortage = 0, ""
        self._rest_seconds, self._rests_until, self._rest_sentence = FIRST_REST_SECONDS, time.monotonic(), ""

    def supervise(self, shutdown: Shutdown, commits: Commits, idleness: Idleness) -> None:
        """Play, wait and carry out requests, until shutdown or until ``idleness`` is over."""
        while not shutdown.is_asked:
            next_look_at = time.monotonic() + self.step()
            self._note_success()
            if idleness.is_over(self._is_busy):
                return
            while not shutdown.is_asked and (left := next_look_at - time.monotonic()) > 0 and not commits.are_new():
                shutdown.sleep(min(left, ASK_SECONDS))

    def step(self) -> float:
        """Do the next step; return the seconds until the next look, 0 for at once."""
        if self._supervised.carry_out_requests():
            self._is_up_to_date, self._rests_until = False, time.monotonic()
        desired = self._supervised.desired_state
        if desired is DesiredState.PAUSE:
            return self._wait(DirectorState.PAUSED)
        if desired is DesiredState.DRAIN and self._is_drained:
            return self._wait(DirectorState.DRAINED)
        changed, stored = self._ladder.refresh(), self._home.store.find_tournament(self._supervised.tournament)
        earlier = stored.definition.entrants if stored is not None else ()
        if self._suspensions.look((*earlier, *self._ladder.entrants)) or changed is not None:
            self._is_up_to_date, self._rests_until = False, time.monotonic()
        if (left := self._rests_until - time.monotonic()) > 0:
            return min(left, self._wait(DirectorState.RESTING, self._rest_sentence))
        if desired is DesiredState.PLAY:
            self._is_drained = False
            if self._is_up_to_date:
                return self._wait_for_entrants()
        return self._play()

    def _refreshed(self) -> Definition | None:
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
        """Return how many bots are missing; the ladder's file has enough, so they are disqualified or have left."""
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
            log_path=path_to_write(self._home.directory, self._home.log_path(definition.name)),
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
        seconds = self._rest_seconds
        self._rests_until = time.monotonic() + seconds
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
        contextlib.closing(Commits([home.store.commit_signal(), people.commit_signal()])) as commits,
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
