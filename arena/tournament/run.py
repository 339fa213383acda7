"""One run of a tournament: its matches, the void ones tried again, and how it is stopped."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import chain
from typing import Any, NamedTuple

from arena.base.definition import Definition
from arena.base.errors import UsageError
from arena.base.records import MatchSpec, ScheduledMatch
from arena.store.results.rows import RecordRow
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.executors.executor import Executor, JobResult, Played, Void, WorkQueue
from arena.tournament.fair_scheduling import FairScheduling
from arena.tournament.formats.format import Format, StopLimits
from arena.tournament.progress import LiveWriter, Progress
from arena.tournament.resumption import create_or_resume
from arena.tournament.rounds import TournamentRounds
from arena.tournament.schedule import spec_of

# How a run of a tournament is stopped from outside, between matches, without an exception.
#
# A program that keeps tournaments going gives ``run_tournament`` a ``RunControl``. To pause, or to correct something
# under the director's lock, it lets the run stop, does what is to be done, and runs the tournament again: a run that
# was stopped continues like one that was killed, but nothing that had begun is lost.


class Order(Enum):
    """What a run is to do."""

    PLAY = auto()
    """Continue."""
    DRAIN = auto()
    """Play all matches that are scheduled, and no further round."""
    STOP = auto()
    """Begin no match any more: those that are being played end and are recorded, and the run ends."""
    ABANDON = auto()
    """Record nothing any more, and end: what has no record is played by another run. It is asked before each record."""


class RunControl:
    """What whoever supervises a tournament asks of a run. Subclasses override ``order``.

    Attributes:
        scheduling: who is suspended from rounds of a ladder, kept from run to run; None if the results alone say who is
            paired.
    """

    scheduling: FairScheduling | None = None
    _rounds: TournamentRounds | None = None  # of the last run: the next one of a ladder need not count them again

    def order(self) -> Order:
        """Return what the run is to do.

        It is called in the thread of the run, before each round, and whenever results have come in or a quarter of a
        second has passed, but only between matches by an executor that plays in this process; and before results are
        recorded. It should return within milliseconds. ``STOP`` holds for the rest of the run.
        """
        return Order.PLAY


# The void matches of a run: they are tried again, at once a few times, and on a ladder later, ever more rarely.

MAX_TRIES = 3
"""A match that is void this many times in one run is reported, and left for the next run."""

RETRY_SECONDS = 60.0
MAX_RETRY_SECONDS = 3600.0
"""The first and the longest pause before a match of a ladder is tried once more; each pause is twice as long."""

log = logging.getLogger("arena.director")


class _Held(NamedTuple):
    spec: MatchSpec
    pause_seconds: float
    again_at: float


class Tries:
    """What becomes of the matches that were void in one run, and of those whose bots are suspended."""

    def __init__(self, progress: Progress, scheduling: FairScheduling | None) -> None:
        self._progress, self._scheduling = progress, scheduling
        self._tries: Counter[int] = Counter()
        self._held: dict[int, _Held] = {}

    @property
    def passed_over(self) -> int:
        """How many matches without a record do not keep a ladder from its next round."""
        if self._scheduling is None:
            return 0
        progress = self._progress
        return len(progress.given_up) + len(progress.game_errors) + len(progress.put_off)

    def unless_excluded(self, specs: Iterable[MatchSpec]) -> Iterator[MatchSpec]:
        """Yield matches as they are taken, but hold back those of suspended bots, and put off those of absent bots."""
        return (spec for spec in specs if not self._has_to_wait(spec, "a bot rests"))

    def is_again(self, void: Void) -> bool:
        """Note a void match; return whether it is played again at once."""
        match = void.match
        if void.game_error is not None:  # the rules know no chance: the same match would end in the same way
            self._progress.game_errors[match] = void.game_error
            return False
        self._tries[match] += 1
        if self._has_to_wait(void.spec, void.reason):
            return False
        if self._tries[match] < MAX_TRIES:
            log.warning("match %d is void (%s); it will be played again", match, void.reason)
            return True
        log.error("match %d was void %d times (%s); it is given up", match, MAX_TRIES, void.reason)
        self._hold_back(void.spec, void.reason)
        return False

    def due(self) -> list[MatchSpec]:
        """Return matches that were given up some time ago, at most one for each bot; each has one more try."""
        now = time.monotonic()
        due: list[MatchSpec] = []
        bots_with_a_try: set[str] = set()
        for match, held in self._held.items():
            labels = {bot.label for bot in held.spec.bots}
            if match in self._progress.given_up and held.again_at <= now and labels.isdisjoint(bots_with_a_try):
                bots_with_a_try |= labels
                due.append(held.spec)
                del self._progress.given_up[match]
                self._tries[match] = MAX_TRIES - 1
        return due

    def _has_to_wait(self, spec: MatchSpec, reason: str) -> bool:
        """Put off the match of an absent bot, and hold back that of a suspended one; return whether it is either."""
        labels = {bot.label for bot in spec.bots}
        if self._scheduling is None or labels.isdisjoint(self._scheduling.excluded()):
            return False
        if labels.isdisjoint(self._scheduling.away):
            self._hold_back(spec, reason)
        else:
            self._progress.put_off.add(spec.match)
        return True

    def _hold_back(self, spec: MatchSpec, reason: str) -> None:
        before = self._held.get(spec.match)
        pause_seconds = RETRY_SECONDS if before is None else min(2 * before.pause_seconds, MAX_RETRY_SECONDS)
        self._held[spec.match] = _Held(spec, pause_seconds, time.monotonic() + pause_seconds)
        self._progress.given_up[spec.match] = reason


# One run of a tournament: the matches of the schedule that have no record, and the rounds that follow.

Listener = Callable[[Progress], None]
Refresh = Callable[[], Definition | None]


class Run:
    """One run of a tournament."""

    def __init__(
        self,
        resumed: tuple[Definition, type[Format[Any]], StoredTournament],
        store: Store,
        executor: Executor,
        listener: Listener | None,
        refresh: Refresh | None,
        control: RunControl,
    ) -> None:
        self._control = control
        self._definition, kind, self._tournament = resumed
        self._store = store
        self._executor = executor
        self._listener = listener
        may_change = kind.open_entry and executor.takes_new_bots
        self._refresh = refresh if may_change else None
        self._scheduling = control.scheduling if may_change else None
        self._rounds = self._rounds_after(control._rounds if may_change else None)
        self.progress = Progress(self._tournament.scheduled, self._tournament.recorded, self._rounds.expected_matches)
        self.progress.stop_limits = self._rounds.format.stop_limits()
        self._tries = Tries(self.progress, self._scheduling)
        self._live = LiveWriter(store, self._tournament, executor)

    def play(self) -> None:
        """Play the schedule and the rounds that follow, until no match is left that may be tried again."""
        with self._live:
            self._executor.meanwhile = lambda: self._live.update(self.progress)
            try:
                self._play()
            finally:
                self._executor.meanwhile = None

    def _play(self) -> None:
        progress, name = self.progress, self._definition.name
        progress.notice = self._executor.notice
        log.info("%s: %d of %d matches to play", name, progress.left, progress.scheduled)
        started = time.monotonic()
        self._report([])
        if self._scheduling is not None:
            self._scheduling.begin()
        self._play_matches(self._specs(self._store.unplayed(self._tournament)))
        while progress.left == self._tries.passed_over and not progress.is_finished and not progress.is_stopped:
            self._play_next_round(time.monotonic() - started)
        is_as_before = progress.is_stopped and progress.left == 0 and progress.scheduled == self._tournament.scheduled
        was_finished = self._tournament.finished_at is not None
        if not is_as_before and (progress.played or progress.is_complete != was_finished):
            self._store.set_finished(self._tournament, progress.is_complete)
        self._report([])
        log.info("%s: %d matches recorded", name, progress.recorded)

    def _play_next_round(self, elapsed_seconds: float) -> None:
        if self._control.order() is not Order.PLAY:
            self.progress.is_stopped = True
            return
        self._apply_changes()
        matches = self._next_round()
        again = self._tries.due()
        planned = self._rounds.format
        self.progress.status, self.progress.stop_limits = planned.status(), planned.stop_limits()
        self.progress.least_certain = planned.least_certain()
        hours = (self.progress.stop_limits or StopLimits()).hours
        is_time_up = hours is not None and elapsed_seconds >= 3600 * hours
        if not (matches or again) or is_time_up:
            self.progress.is_finished = True
            return
        if matches:
            self._store.extend_schedule(self._tournament, matches)
        self.progress.scheduled += len(matches)
        self._report([])
        self._play_matches(chain(self._specs(matches), self._tries.unless_excluded(again)))

    def _next_round(self) -> list[ScheduledMatch]:
        if self._scheduling is None:
            return self._rounds.next_round()
        excluded, over_quota = self._numbers(self._scheduling.excluded()), self._numbers(self._scheduling.over_quota())
        matches = self._rounds.next_round(excluded | over_quota)
        return matches if matches or not over_quota else self._rounds.next_round(excluded)

    def _numbers(self, labels: frozenset[str]) -> frozenset[int]:
        return frozenset(k for k, bot in enumerate(self._definition.entrants) if bot.label in labels)

    def _specs(self, matches: Iterable[ScheduledMatch]) -> Iterator[MatchSpec]:
        return self._tries.unless_excluded(spec_of(match, self._definition) for match in matches)

    def _apply_changes(self) -> None:
        """Apply a changed definition; if it is rejected, log that, and keep the earlier one."""
        changed = self._refresh() if self._refresh is not None else None
        if changed is None:
            return
        try:
            self._definition, _, self._tournament = create_or_resume(changed, self._store)
        except UsageError as error:
            log.warning("the changed definition is refused: %s", error)
            return
        self._rounds = self._rounds_after(self._rounds)
        log.info("the definition has changed: %d entrants may be paired", len(self._definition.active or ()))

    def _rounds_after(self, earlier: TournamentRounds | None) -> TournamentRounds:
        rounds_of = TournamentRounds if earlier is None else earlier.continued
        self._control._rounds = rounds = rounds_of(self._definition, self._store, self._tournament)
        return rounds

    def _play_matches(self, specs: Iterable[MatchSpec]) -> None:
        queue = WorkQueue(specs)
        self._follow_order(queue)
        for results in self._executor.run(queue):
            rows = [result.row for result in results if isinstance(result, Played)]
            if self._control.order() is Order.ABANDON:
                log.info("%s: the run is ended; matches that are being played are abandoned", self._definition.name)
                self.progress.is_stopped = True
                return
            if rows:
                self._store.record(self._tournament, rows)
            self._note_results(results)
            for result in results:
                self._finish(result, queue)
            self._report(rows, [result.match for result in results])
            self._follow_order(queue)

    def _note_results(self, results: Sequence[JobResult]) -> None:
        if self._scheduling is None:
            return
        bots = self._definition.entrants
        active = range(len(bots)) if self._definition.active is None else self._definition.active
        for bot in self._scheduling.see(results, self._executor, {bots[k].label for k in active}):
            log.warning("%s: matches of %s were void again and again; it rests", self._definition.name, bot)

    def _follow_order(self, queue: WorkQueue) -> None:
        if queue.is_closed:
            return
        has_too_many_voids = self._scheduling is not None and self._scheduling.voids.has_too_many
        if has_too_many_voids:
            log.error("%s: match after match was void", self._definition.name)
        if has_too_many_voids or self._control.order() is Order.STOP:
            log.info("%s: the run is stopped; matches that are being played end", self._definition.name)
            self.progress.is_stopped = True
            queue.close()

    def _finish(self, result: JobResult, queue: WorkQueue) -> None:
        if isinstance(result, Void):
            self._store.note_void(self._tournament, result.match, result.reason)
            if self._tries.is_again(result):
                queue.requeue(result.spec)
                return
        queue.done(result.match)

    def _count_playing(self) -> int:
        """Return how many matches are being played; 0 if the executor fails to say so, which costs no match."""
        try:
            return len(self._executor.playing())
        except Exception:
            log.debug("the executor does not say what it plays", exc_info=True)
            return 0

    def _report(self, rows: list[RecordRow], ended: Sequence[int] = ()) -> None:
        self.progress.recorded += len(rows)
        self.progress.played += len(rows)
        self.progress.playing = self._count_playing()
        self.progress.new = rows
        self._live.update(self.progress, ended)
        if self._listener is not None:
            self._listener(self.progress)
