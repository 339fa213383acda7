"""Plays a few matches of a tournament to see how long they take. Nothing is stored."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, takewhile, zip_longest

from arena.base.definition import Definition
from arena.base.records import Fault, MatchRecord, ScheduledMatch
from arena.store.results.statements import record_from
from arena.tournament.executors.executor import Played, Void, WorkQueue, job_of
from arena.tournament.executors.table import open_executor
from arena.tournament.schedule import spec_of

BEGIN_SECONDS = 15.0
"""No match begins after this time."""

MAX_SECONDS = 30.0
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
    specs, deadline = [spec_of(line, definition) for line in in_turn], time.monotonic() + BEGIN_SECONDS
    queue = WorkQueue(takewhile(lambda _: time.monotonic() <= deadline, specs))
    job = job_of(definition, definition.entrants, workers)
    measurement = Measurement()
    ends: list[float] = []
    with suppress(_TimeIsUpError), open_executor("local", job) as executor:
        stop_at = time.monotonic() + MAX_SECONDS
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
