"""Plays a tournament from its definition to the last record, and resumes it after any interruption.

A match without a record is still to be played. So there is nothing to repair after Ctrl-C, kill -9 or a power cut.
Before that, a few matches can be played to see how long they take.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, takewhile, zip_longest
from pathlib import Path

from arena.base.definition import Definition
from arena.base.errors import UsageError, expect
from arena.base.records import Bot, Fault, MatchRecord, ScheduledMatch
from arena.store.results.statements import record_from
from arena.store.results.store import Store
from arena.tournament.executors.executor import Executor, Played, Void, WorkQueue
from arena.tournament.executors.table import job_of, open_executor
from arena.tournament.executors.worker_start import end_if_importing
from arena.tournament.progress import Progress
from arena.tournament.resumption import brought_up_to_date, create_or_resume, playing_bots
from arena.tournament.run import Listener, Refresh, Run, RunControl
from arena.tournament.schedule import spec_of

STORE_RETRY_SECONDS = 60.0
"""How long a run waits for a database server that can't be reached."""


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
        workers: matches at a time on this machine; by default as the definition says, else one for each core.
        log_path: the log file; None for no log.
        listener: called when matches have been recorded, and every now and then while none have.
        executor: where matches are played: a URL for ``open_executor``, or an executor; by default on the cores of this
            machine, or in this process if a Python function takes part.
        refresh: called before each round of a ladder; returns a changed definition (entrants, and when it stops), or
            None. Not called if the executor takes no new bots.
        control: asked between matches whether to continue; by default the run ends when there is nothing left to play.

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
    is_definition = isinstance(definition, Definition)
    expect(is_definition, "definition", definition, "a Definition, such as load_definition returns")
    bots: tuple[Bot, ...] | None = None
    functions = [bot for bot in definition.entrants if bot.is_function]
    if executor is None:
        executor = "in-process" if functions else "local"
    if isinstance(executor, str):  # before anything is stored, so that a failed build can be fixed
        bots = playing_bots(*brought_up_to_date(definition, store))
        job = job_of(definition, bots, workers, log_path)
        executor = open_executor(executor, job)
    if functions and not executor.plays_functions:
        raise UsageError(
            f"entrant {functions[0].name!r} is a Python function, which plays in this process: expected"
            ' executor="in-process"'
        )
    with store.lock(definition.name):
        resumed = create_or_resume(definition, store, bots)
        store.retry_for(STORE_RETRY_SECONDS)
        try:
            run = Run(resumed, store, executor, listener, refresh, control or RunControl())
            with executor:
                run.play()
        finally:
            store.retry_for(0.0)
        return run.progress


# A few matches of a tournament are played to see how long they take. Nothing is stored.

MEASURE_BEGIN_SECONDS = 15.0
"""No match begins after this time."""

MEASURE_SECONDS = 30.0
"""Matches that have not ended after this time are stopped."""


@dataclass
class BotFailures:
    """How many of its matches a bot forfeited, and its first fault."""

    matches: int = 0
    count: int = 0
    first: Fault | None = None


@dataclass
class Measurement:
    """What the matches have shown, whether they were cut short, and the seconds that fresh bots add to each."""

    records: dict[int, list[MatchRecord]] = field(default_factory=dict)
    bots: dict[str, BotFailures] = field(default_factory=dict)
    voids: list[str] = field(default_factory=list)
    is_cut: bool = False
    start_seconds: float = 0.0

    @property
    def failures(self) -> dict[str, BotFailures]:
        """The bots that have failed."""
        return {bot: failures for bot, failures in self.bots.items() if failures.count}


class _TimeIsUpError(Exception):
    """Raised to stop the matches that are still being played."""


def measure(definition: Definition, lines: Mapping[int, Sequence[ScheduledMatch]], workers: int) -> Measurement:
    """Play matches of a tournament, of all its games in turn, under its own conditions."""
    game_of = {line.match: game for game, own in lines.items() for line in own}
    in_turn = [line for line in chain(*zip_longest(*lines.values())) if line is not None]
    specs, deadline = [spec_of(line, definition) for line in in_turn], time.monotonic() + MEASURE_BEGIN_SECONDS
    queue = WorkQueue(takewhile(lambda _: time.monotonic() <= deadline, specs))
    job = job_of(definition, definition.entrants, workers)
    measurement = Measurement()
    ends: list[float] = []
    with suppress(_TimeIsUpError), open_executor("local", job) as executor:
        stop_at = time.monotonic() + MEASURE_SECONDS
        for results in executor.run(queue):
            for result in results:
                queue.done(result.match)
                if isinstance(result, Void):
                    measurement.voids.append(result.reason)
                elif isinstance(result, Played):
                    ends.append(time.monotonic())
                    _add(measurement, record_from(result.match, result.row.record), game_of[result.match])
            if time.monotonic() > stop_at:
                measurement.is_cut = True
                raise _TimeIsUpError
    if definition.fresh_bots:
        measurement.start_seconds = _start_seconds(measurement, ends, workers)
    return measurement


def _add(measurement: Measurement, record: MatchRecord, game: int) -> None:
    for bot in record.bots:
        measurement.bots.setdefault(bot, BotFailures()).matches += 1
    for fault in record.faults:
        failures = measurement.bots[record.bots[fault.seat]]
        failures.count += 1
        failures.first = failures.first or fault
    if not record.faults:
        measurement.records.setdefault(game, []).append(record)


def _start_seconds(measurement: Measurement, ends: Sequence[float], workers: int) -> float:
    """Return the time of a worker between its matches, from when all workers had played one to the end."""
    counted = len(ends) - workers
    if counted <= 0:
        return 0.0
    records = [record for own in measurement.records.values() for record in own]
    seconds = [second for record in records for second in record.wall_seconds if second is not None]
    playing = sum(seconds) / max(1, len(records))
    return max(0.0, workers * (ends[-1] - ends[workers - 1]) / counted - playing)
