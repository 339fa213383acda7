"""The director: plays a tournament, from its definition to the last record, and takes it up again after anything.

The schedule is in the store before the first match; a match is recorded once, by the director alone; what has no record
is still to be played. So there is nothing to repair after Ctrl-C, kill -9 or a power cut: run the same command again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.errors import DefinitionError
from arena.isolation.levels import choose_isolation
from arena.store.rows import RecordRow
from arena.store.store import Store, StoredTournament
from arena.tournament.definition import Definition
from arena.tournament.executors import Executor, LocalExecutor, Played, Void
from arena.tournament.executors.local import available_cores
from arena.tournament.schedule import schedule, spec_of

MOST_TRIES = 3
"""A match that is void this often in one run is reported instead of played once more."""

log = logging.getLogger("arena.director")


@dataclass(slots=True)
class Progress:
    """How a run stands.

    Attributes:
        scheduled: matches in the schedule.
        recorded: matches with a record, earlier runs included.
        played: matches recorded in this run.
        given_up: matches that were void too often, with the reason of the last try.
        new: the rows recorded since the listener was called last.
    """

    scheduled: int
    recorded: int
    played: int = 0
    given_up: dict[int, str] = field(default_factory=dict)
    new: list[RecordRow] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether every match has a record."""
        return self.recorded == self.scheduled


Listener = Callable[[Progress], None]


def run_tournament(
    definition: Definition,
    store: Store,
    *,
    workers: int | None = None,
    log_path: Path | None = None,
    listener: Listener | None = None,
    executor: Executor | None = None,
) -> Progress:
    """Play what is left of a tournament.

    Args:
        definition: the tournament; if the store has one of its name, it must agree with it.
        store: where the schedule and the records are.
        workers: matches at a time; by default as the definition says, else one for each core.
        log_path: the log file; None for no log.
        listener: is called whenever something has been recorded, and now and then.
        executor: where matches are played; by default this machine's cores.

    Returns:
        How it stands at the end.

    Raises:
        DefinitionError: if the store has another tournament of this name.
        StoreError: if another director runs it, or the store fails. Whatever was recorded stays.
        KeyboardInterrupt: passed on after everything has been ended; what was recorded stays.
    """
    isolation = choose_isolation(definition.isolation)
    with store.lock(definition.name):
        tournament = _enter(definition, store)
        run = _Run(definition, store, tournament, listener)
        if executor is None:
            slots = min(workers or definition.workers or len(available_cores()), max(1, run.left))
            executor = LocalExecutor(slots, isolation, definition.limits, definition.fresh_bots, log_path)
        with executor:
            log.info("%s: %d of %d matches to play", definition.name, run.left, tournament.scheduled)
            run.play(executor)
            log.info("%s: %d of %d matches recorded", definition.name, run.progress.recorded, tournament.scheduled)
        return run.progress


def _enter(definition: Definition, store: Store) -> StoredTournament:
    """Find the tournament in the store, or write it there with its schedule."""
    decides = definition.what_decides()
    found = store.find_tournament(definition.name)
    if found is None:
        stored = decides | {"places": definition.places()}
        return store.create_tournament(definition.name, stored, schedule(definition))
    differing = _differences(found.definition, decides)
    if differing:
        raise DefinitionError(
            f"tournament {definition.name!r} is in the store with {found.recorded} matches recorded, and differs in"
            f" {', '.join(differing)}; give this one another name (--name NAME)"
        )
    return found


def _differences(stored: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Name what differs between two definitions, the entrants by their names."""
    names = [name for name in wanted if name != "entrants" and stored.get(name) != wanted[name]]
    before, now = ({entrant["name"]: entrant for entrant in values["entrants"]} for values in (stored, wanted))
    if before.keys() != now.keys():
        names.append("entrants")
    return names + [f"the bot {name!r}" for name in now if name in before and before[name] != now[name]]


class _Run:
    """One run of a director."""

    def __init__(
        self, definition: Definition, store: Store, tournament: StoredTournament, listener: Listener | None
    ) -> None:
        self._definition = definition
        self._store = store
        self._tournament = tournament
        self._listener = listener
        self._tries: Counter[int] = Counter()
        self.progress = Progress(tournament.scheduled, tournament.recorded)

    @property
    def left(self) -> int:
        """Matches without a record."""
        return self.progress.scheduled - self.progress.recorded

    def play(self, executor: Executor) -> None:
        """Play the schedule, and again what was void, until nothing is left that may be tried."""
        self._report([])
        specs = (spec_of(line, self._definition) for line in self._store.unplayed(self._tournament))
        for outcomes in executor.run(specs):
            rows = [outcome.row for outcome in outcomes if isinstance(outcome, Played)]
            if rows:
                self._store.record(self._tournament, rows)
            for outcome in outcomes:
                if isinstance(outcome, Void):
                    self._take_void(outcome, executor)
            self._report(rows)

    def _take_void(self, void: Void, executor: Executor) -> None:
        match = void.spec.match
        self._store.note_void(self._tournament, match, void.reason)
        self._tries[match] += 1
        if self._tries[match] < MOST_TRIES:
            log.warning("match %d is void (%s); it will be played again", match, void.reason)
            executor.play_again(void.spec)
        else:
            log.error("match %d was void %d times (%s); it is given up", match, MOST_TRIES, void.reason)
            self.progress.given_up[match] = void.reason

    def _report(self, rows: list[RecordRow]) -> None:
        self.progress.recorded += len(rows)
        self.progress.played += len(rows)
        self.progress.new = rows
        if self._listener is not None:
            self._listener(self.progress)
