"""The director: plays a tournament from its definition to the last record, and resumes it after any interruption.

The schedule is in the store before the first match; where rounds depend on results, each round is there before its
first match. A match is recorded once, by the director alone; a match without a record is still to be played. So there
is nothing to repair after Ctrl-C, kill -9 or a power cut: run the same command again.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from arena.definition import Definition
from arena.errors import StoreError, UsageError
from arena.executors import Executor, Job, JobResult, Played, Void, WorkQueue, open_executor
from arena.executors.worker_start import end_if_importing
from arena.records import Bot, MatchSpec, ScheduledMatch
from arena.store.rows import RecordRow
from arena.store.store import Store
from arena.store.values import StoredTournament
from arena.tournament.control import Order, RunControl
from arena.tournament.formats import format_class
from arena.tournament.held_matches import HeldMatches
from arena.tournament.live_writer import LiveWriter
from arena.tournament.progress import Progress
from arena.tournament.resumption import Resumed, brought_up_to_date, create_or_resume
from arena.tournament.rounds import TournamentRounds
from arena.tournament.schedule import spec_of

MAX_TRIES = 3
"""A match that is void this many times in one run is reported, and left for the next run."""

STORE_RETRY_SECONDS = 60.0
"""How long a run waits for a database server that can't be reached."""

log = logging.getLogger("arena.director")


Listener = Callable[[Progress], None]
Refresh = Callable[[], Definition | None]


def run_tournament(
    definition: Definition,
    store: Store,
    *,
    workers: int | None = None,
    log_path: Path | None = None,
    listener: Listener | None = None,
    executor: Executor | str | None = None,
    refresh: Refresh | None = None,
    control: RunControl | None = None,
) -> Progress:
    """Play the matches of a tournament that have no record yet.

    Args:
        definition: the tournament; if the store has one of its name, it must agree with it.
        store: where the schedule and the records are.
        workers: matches at a time on this machine; by default as the definition says, else one for each core.
        log_path: the log file; None for no log.
        listener: called when matches have been recorded, and every now and then while none have.
        executor: where matches are played: a URL for ``open_executor``, or an executor; by default on the cores of this
            machine, or in this process if a Python function takes part.
        refresh: called before each round of a ladder; returns a changed definition (entrants, and when it stops), or
            None. Not called if the executor takes no new bots.
        control: asked between matches whether to continue; by default the run ends when there is nothing left to play.

    Returns:
        The progress of the tournament at the end; ``is_stopped`` says whether the control has ended the run.

    Raises:
        DefinitionError: if the store has another tournament of this name.
        BotDefinitionError: if a bot can't be built; the bots of a given executor are built already.
        GameError: if the rules of a game are wrong, before anything is played; later it only costs the match.
        StoreError: if another director runs it, it is corrected while its bots are built, or the store fails.
            Everything recorded stays.
        UsageError: if the executor's URL is not accepted, a Python function would have to play in another process, or
            workers can't be started, for example because a script
            calls this without the guard ``if __name__ == "__main__":``.
        KeyboardInterrupt: after every process has been ended; everything recorded stays.
    """
    end_if_importing()
    bots: tuple[Bot, ...] | None = None
    functions = [bot for bot in definition.entrants if bot.is_function]
    if executor is None:
        executor = "in-process" if functions else "local"
    if isinstance(executor, str):  # before anything is stored, so that a failed build can be fixed
        found = store.find_tournament(definition.name)
        bots = _playing(definition if found is None else brought_up_to_date(definition, found), found)
        executor = open_executor(executor, _job(definition, bots, workers, log_path))
    if functions and not executor.plays_functions:
        raise UsageError(
            f"entrant {functions[0].name!r} is a Python function, which plays in this process: expected"
            ' executor="in-process"'
        )
    with store.lock(definition.name):
        resumed = create_or_resume(definition, store)
        if bots is not None and not set(_playing(*resumed)) <= set(bots):
            raise StoreError(
                f"tournament {definition.name!r} was corrected while its bots were built; nothing was played:"
                " run it again"
            )
        store.retry_for(STORE_RETRY_SECONDS)
        try:
            run = _Run(resumed, store, executor, listener, refresh, control or RunControl())
            with executor:
                run.play()
        finally:
            store.retry_for(0.0)
        return run.progress


def _playing(definition: Definition, stored: StoredTournament | None) -> tuple[Bot, ...]:
    """Return the bots that a run needs, of a definition with its corrections; others may be gone."""
    if stored is not None and stored.finished_at is not None and not format_class(definition).open_entry:
        return ()
    paired = range(len(definition.entrants)) if definition.active is None else definition.active
    return tuple(definition.entrants[k] for k in sorted(set(paired) - definition.gone))


def _job(definition: Definition, bots: tuple[Bot, ...], workers: int | None, log_path: Path | None) -> Job:
    return Job(
        bots=bots,
        isolation=definition.isolation,
        limits=definition.limits,
        fresh_bots=definition.fresh_bots,
        workers=workers or definition.workers,
        log_path=log_path,
    )


class _Run:
    """One run of a tournament."""

    def __init__(
        self,
        resumed: Resumed,
        store: Store,
        executor: Executor,
        listener: Listener | None,
        refresh: Refresh | None,
        control: RunControl,
    ) -> None:
        self._control = control
        self._definition, self._tournament = resumed
        self._store = store
        self._executor = executor
        self._listener = listener
        may_change = format_class(self._definition).open_entry and executor.takes_new_bots
        self._refresh = refresh if may_change else None
        self._turns = control.turns if may_change else None
        self._held = HeldMatches()
        self._tries: Counter[int] = Counter()
        self._rounds = TournamentRounds(self._definition, store, self._tournament)
        self.progress = Progress(self._tournament.scheduled, self._tournament.recorded, self._rounds.expected_matches)
        self.progress.stop_limits = self._rounds.stop_limits
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
        log.info("%s: %d of %d matches to play", name, progress.left, progress.scheduled)
        started = time.monotonic()
        self._report([])
        if self._turns is not None:
            self._turns.begin()
        self._play_matches(self._specs(self._store.unplayed(self._tournament)))
        while progress.left == self._passed_over and not progress.is_finished and not progress.is_stopped:
            self._play_next_round(time.monotonic() - started)
        is_as_before = progress.is_stopped and progress.left == 0 and progress.scheduled == self._tournament.scheduled
        if not is_as_before and progress.is_complete != (self._tournament.finished_at is not None):
            self._store.set_finished(self._tournament, progress.is_complete)
        self._report([])
        log.info("%s: %d matches recorded", name, progress.recorded)

    def _play_next_round(self, elapsed_seconds: float) -> None:
        """Schedule and play the next round; if there is no next round, or it is time to stop, the run is finished."""
        if self._control.order() is not Order.PLAY:
            self.progress.is_stopped = True
            return
        self._apply_changes()
        matches = self._next_round()
        again = self._specs_to_try_again()
        self.progress.status, self.progress.stop_limits = self._rounds.status, self._rounds.stop_limits
        if not (matches or again) or self._rounds.should_stop(elapsed_seconds):
            self.progress.is_finished = True
            return
        if matches:
            self._store.extend_schedule(self._tournament, matches)
        self.progress.scheduled += len(matches)
        self._report([])
        self._play_matches(chain(self._specs(matches), self._unless_resting(again)))

    def _next_round(self) -> list[ScheduledMatch]:
        """Return the matches of the next round; whoever has had a share of the time sits out if others want to play."""
        if self._turns is None:
            return self._rounds.next_round()
        resting, in_debt = self._numbers(self._turns.resting()), self._numbers(self._turns.in_debt())
        matches = self._rounds.next_round(resting | in_debt)
        return matches if matches or not in_debt else self._rounds.next_round(resting)

    def _numbers(self, labels: frozenset[str]) -> frozenset[int]:
        return frozenset(k for k, bot in enumerate(self._definition.entrants) if bot.label in labels)

    @property
    def _passed_over(self) -> int:
        """Matches without a record that do not keep a ladder from its next round."""
        return 0 if self._turns is None else len(self.progress.given_up) + len(self.progress.game_errors)

    def _specs(self, matches: Iterable[ScheduledMatch]) -> Iterator[MatchSpec]:
        """Yield what is to be played, as it is taken."""
        return self._unless_resting(spec_of(match, self._definition) for match in matches)

    def _unless_resting(self, specs: Iterable[MatchSpec]) -> Iterator[MatchSpec]:
        """Yield matches as they are taken; those of bots that rest then are held back."""
        for spec in specs:
            if self._rests(spec):
                self._hold(spec, "a bot rests")
            else:
                yield spec

    def _rests(self, spec: MatchSpec) -> bool:
        return self._turns is not None and not self._turns.resting().isdisjoint(bot.label for bot in spec.bots)

    def _hold(self, spec: MatchSpec, reason: str) -> None:
        self._held.hold(spec)
        self.progress.given_up[spec.match] = reason

    def _specs_to_try_again(self) -> list[MatchSpec]:
        """Return matches that were given up some time ago; each has one more try."""
        due = self._held.due(self.progress.given_up)
        for spec in due:
            del self.progress.given_up[spec.match]
            self._tries[spec.match] = MAX_TRIES - 1
        return due

    def _apply_changes(self) -> None:
        """Apply a changed definition; one that is refused is logged, and the earlier one stays."""
        changed = self._refresh() if self._refresh is not None else None
        if changed is None:
            return
        try:
            self._definition, self._tournament = create_or_resume(changed, self._store)
        except UsageError as error:
            log.warning("the changed definition is refused: %s", error)
            return
        self._rounds = TournamentRounds(self._definition, self._store, self._tournament)
        log.info("the definition has changed: %d entrants may be paired", len(self._definition.active or ()))

    def _play_matches(self, specs: Iterable[MatchSpec]) -> None:
        queue = WorkQueue(specs)
        self._obey(queue)
        for results in self._executor.run(queue):
            rows = [result.row for result in results if isinstance(result, Played)]
            if self._control.order() is Order.ABANDON:
                log.info("%s: the run is ended; matches that are being played are abandoned", self._definition.name)
                self.progress.is_stopped = True
                return
            if rows:
                self._store.record(self._tournament, rows)
            self._see(results)
            for result in results:
                if isinstance(result, Void):
                    self._requeue_or_give_up(result, queue)
                else:
                    queue.done(result.match)
            self._report(rows, [result.match for result in results])
            self._obey(queue)

    def _see(self, results: Sequence[JobResult]) -> None:
        """Note whose time has passed, and who rests."""
        if self._turns is None:
            return
        bots = self._definition.entrants
        active = range(len(bots)) if self._definition.active is None else self._definition.active
        for bot in self._turns.see(results, self._executor, {bots[k].label for k in active}):
            log.warning("%s: matches of %s were void again and again; it rests", self._definition.name, bot)

    def _obey(self, queue: WorkQueue) -> None:
        """Let no match begin any more if the run is to stop."""
        if queue.is_closed:
            return
        is_storm = self._turns is not None and self._turns.is_storm
        if is_storm:
            log.error("%s: match after match was void", self._definition.name)
        if is_storm or self._control.order() is Order.STOP:
            log.info("%s: the run is stopped; matches that are being played end", self._definition.name)
            self.progress.is_stopped = True
            queue.close()

    def _requeue_or_give_up(self, void: Void, queue: WorkQueue) -> None:
        self._store.note_void(self._tournament, void.match, void.reason)
        if void.game_error is not None:  # the rules know no chance: the same match would end in the same way
            self.progress.game_errors[void.match] = void.game_error
            queue.done(void.match)
            return
        self._tries[void.match] += 1
        if self._rests(void.spec):
            self._hold(void.spec, void.reason)
            queue.done(void.match)
        elif self._tries[void.match] < MAX_TRIES:
            log.warning("match %d is void (%s); it will be played again", void.match, void.reason)
            queue.requeue(void.spec)
        else:
            log.error("match %d was void %d times (%s); it is given up", void.match, MAX_TRIES, void.reason)
            self._hold(void.spec, void.reason)
            queue.done(void.match)

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
