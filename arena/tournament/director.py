"""The director: plays a tournament, from its definition to the last record, and takes it up again after anything.

The schedule is in the store before the first match; where rounds depend on results, each round is there before its
first match. A match is recorded once, by the director alone; what has no record is still to be played. So there is
nothing to repair after Ctrl-C, kill -9 or a power cut: run the same command again.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.definition import Definition
from arena.errors import DefinitionError, UsageError
from arena.executors import Executor, LocalExecutor, Played, Void, WorkQueue
from arena.executors.local import available_cores
from arena.executors.worker_start import end_if_importing
from arena.isolation.levels import choose_isolation
from arena.players.building import build_bots
from arena.records import ScheduledMatch
from arena.store.rows import RecordRow
from arena.store.store import Store
from arena.store.values import StoredTournament
from arena.tournament.formats import kind_of
from arena.tournament.rounds import Course
from arena.tournament.schedule import schedule, spec_of

MAX_TRIES = 3
"""A match that is void this often in one run is reported instead of played once more."""

PATIENCE_SECONDS = 60.0
"""How long a run waits for a database server that has gone away."""

log = logging.getLogger("arena.director")


@dataclass(slots=True)
class Progress:
    """How a run stands.

    Attributes:
        scheduled: matches in the schedule, as far as it is known.
        recorded: matches with a record, earlier runs included.
        expected: matches there will be; None where nobody can say.
        status: how it stands by the format, in a few words.
        is_finished: no round follows.
        played: matches recorded in this run.
        given_up: matches that were void too often, with the reason of the last try.
        new: the rows recorded since the listener was called last.
    """

    scheduled: int
    recorded: int
    expected: int | None = None
    status: str = ""
    is_finished: bool = False
    played: int = 0
    given_up: dict[int, str] = field(default_factory=dict)
    new: list[RecordRow] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether every match has a record, and no round follows or the run was to end here."""
        return self.recorded == self.scheduled and self.is_finished


Listener = Callable[[Progress], None]
Refresh = Callable[[], Definition | None]


def run_tournament(
    definition: Definition,
    store: Store,
    *,
    workers: int | None = None,
    log_path: Path | None = None,
    listener: Listener | None = None,
    executor: Executor | None = None,
    refresh: Refresh | None = None,
) -> Progress:
    """Play what is left of a tournament.

    Args:
        definition: the tournament; if the store has one of its name, it must agree with it.
        store: where the schedule and the records are.
        workers: matches at a time; by default as the definition says, else one for each core.
        log_path: the log file; None for no log.
        listener: is called whenever something has been recorded, and now and then.
        executor: where matches are played; by default this machine's cores.
        refresh: is asked before each round of a ladder whether its definition has changed: who enters, who leaves, when
            it stops.

    Returns:
        How it stands at the end.

    Raises:
        DefinitionError: if the store has another tournament of this name.
        BotDefinitionError: if a bot has to be built, and can't be.
        StoreError: if another director runs it, or the store fails. Whatever was recorded stays.
        UsageError: if workers can't be started, for one because a script calls this without the guard
            ``if __name__ == "__main__":``.
        KeyboardInterrupt: passed on after everything has been ended; what was recorded stays.
    """
    end_if_importing()
    found = store.find_tournament(definition.name)
    if found is None or found.finished_at is None:  # before anything is stored, so that a build can be mended
        build_bots(definition.entrants, choose_isolation(definition.isolation))
    with store.lock(definition.name):
        definition, tournament = _enter(definition, store)
        store.retry_for(PATIENCE_SECONDS)
        try:
            run = _Run(definition, store, tournament, listener, refresh)
            if executor is None:
                slots = workers or definition.workers or len(available_cores())
                if not run.course.needs_results:
                    slots = min(slots, max(1, run.left))
                isolation = choose_isolation(definition.isolation)
                executor = LocalExecutor(slots, isolation, definition.limits, definition.fresh_bots, log_path)
            with executor:
                log.info("%s: %d of %d matches to play", definition.name, run.left, tournament.scheduled)
                run.play(executor)
                log.info("%s: %d matches recorded", definition.name, run.progress.recorded)
        finally:
            store.retry_for(0.0)
        return run.progress


def _enter(definition: Definition, store: Store) -> tuple[Definition, StoredTournament]:
    """Find the tournament in the store, or write it there with its schedule."""
    found = store.find_tournament(definition.name)
    if found is None:
        return definition, store.create_tournament(definition, schedule(definition))
    if kind_of(definition).open_entry:
        definition = _with_earlier_entrants(definition, found.definition)
    differing = _differences(found.definition.identity(), definition.identity(), kind_of(definition).open_entry)
    if differing:
        raise DefinitionError(
            f"tournament {definition.name!r} is in the store with {found.recorded} matches recorded, and differs in"
            f" {', '.join(differing)}; give this one another name (--name NAME)"
        )
    if len(definition.entrants) > len(found.definition.entrants):
        store.change_definition(found, definition)
        found = store.tournament(definition.name)
    return definition, found


def _with_earlier_entrants(definition: Definition, earlier: Definition) -> Definition:
    """Return a ladder with everybody who ever entered, in order of entry; those who left are not paired any more."""
    present = {bot.label: bot for bot in definition.entrants}
    entrants = [present.get(bot.label, bot) for bot in earlier.entrants]
    known = {bot.label for bot in entrants}
    entrants += [bot for bot in definition.entrants if bot.label not in known]
    active = frozenset(number for number, bot in enumerate(entrants) if bot.label in present)
    return replace(definition, entrants=tuple(entrants), active=active)


def _differences(stored: dict[str, Any], wanted: dict[str, Any], may_grow: bool) -> list[str]:
    """Name what differs between the identities of two definitions, the entrants by their names."""
    names = [name for name in wanted if name != "entrants" and stored[name] != wanted[name]]
    before, now = (
        {f"{entrant['name']}@{entrant['version']}": entrant for entrant in values["entrants"]}
        for values in (stored, wanted)
    )
    if list(now)[: len(before)] != list(before) if may_grow else list(before) != list(now):
        names.append("entrants")
    return names + [f"the bot {name!r}" for name in now if name in before and before[name] != now[name]]


class _Run:
    """One run of a director."""

    def __init__(
        self,
        definition: Definition,
        store: Store,
        tournament: StoredTournament,
        listener: Listener | None,
        refresh: Refresh | None,
    ) -> None:
        self._definition = definition
        self._store = store
        self._tournament = tournament
        self._listener = listener
        self._refresh = refresh if kind_of(definition).open_entry else None
        self._tries: Counter[int] = Counter()
        self.course = Course(definition, store, tournament)
        self.progress = Progress(tournament.scheduled, tournament.recorded, self.course.expected_matches)

    @property
    def left(self) -> int:
        """Matches without a record."""
        return self.progress.scheduled - self.progress.recorded

    def play(self, executor: Executor) -> None:
        """Play the schedule, and again what was void, until nothing is left that may be tried."""
        self._report([])
        began = time.monotonic()
        self._play_matches(executor, self._store.unplayed(self._tournament))
        while self.left == 0:
            self._take_changes()
            upcoming = self.course.next_round()
            self.progress.status = self.course.status
            if not upcoming or self.course.should_stop(time.monotonic() - began):
                self.progress.is_finished = True
                break
            self._store.extend_schedule(self._tournament, upcoming)
            self.progress.scheduled += len(upcoming)
            self._report([])
            self._play_matches(executor, upcoming)
        if self.progress.is_complete != (self._tournament.finished_at is not None):
            self._store.set_finished(self._tournament, self.progress.is_complete)
        self._report([])

    def _take_changes(self) -> None:
        """Let entrants in and out; a change that does not fit is told in the log, and the ladder goes on as it was."""
        changed = self._refresh() if self._refresh is not None else None
        if changed is None:
            return
        try:
            self._definition, self._tournament = _enter(changed, self._store)
        except UsageError as error:
            log.warning("the changed definition is not taken: %s", error)
            return
        self.course = Course(self._definition, self._store, self._tournament)
        log.info("the definition has changed: %d may be paired", len(self._definition.active or ()))

    def _play_matches(self, executor: Executor, lines: Iterable[ScheduledMatch]) -> None:
        queue = WorkQueue(spec_of(line, self._definition) for line in lines)
        for results in executor.run(queue):
            rows = [result.row for result in results if isinstance(result, Played)]
            if rows:
                self._store.record(self._tournament, rows)
            for result in results:
                if isinstance(result, Played):
                    queue.done(result.match)
                else:
                    self._requeue_or_give_up(result, queue)
            self._report(rows)

    def _requeue_or_give_up(self, void: Void, queue: WorkQueue) -> None:
        match = void.spec.match
        self._store.note_void(self._tournament, match, void.reason)
        self._tries[match] += 1
        if self._tries[match] < MAX_TRIES:
            log.warning("match %d is void (%s); it will be played again", match, void.reason)
            queue.requeue(void.spec)
        else:
            log.error("match %d was void %d times (%s); it is given up", match, MAX_TRIES, void.reason)
            self.progress.given_up[match] = void.reason
            queue.done(match)

    def _report(self, rows: list[RecordRow]) -> None:
        self.progress.recorded += len(rows)
        self.progress.played += len(rows)
        self.progress.new = rows
        if self._listener is not None:
            self._listener(self.progress)
