"""Rows of the tables, going in and coming out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Select

from arena.records import ScheduledMatch
from arena.store.rows import RecordRow, as_json
from arena.store.schema import faults, matches, records
from arena.store.values import StoredTournament
from arena.stored import list_of, parse_stored

CHUNK_ROWS = 500


def narrowed(query: Select[Any], tournament: StoredTournament | None, game: str | None) -> Select[Any]:
    """Return a query of records for one tournament, or all, and one game, or all."""
    if tournament is not None:
        query = query.where(records.c.tournament_id == tournament.number)
    if game is not None:
        query = query.where(records.c.game == game)
    return query


def insert_lines(connection: Connection, number: int, lines: Iterable[ScheduledMatch]) -> None:
    """Write lines of a schedule, piece by piece."""
    for chunk in _chunks(lines):
        connection.execute(matches.insert(), [_schedule_row(number, line) for line in chunk])


def insert_records(connection: Connection, number: int, rows: Sequence[RecordRow]) -> None:
    """Write records and their faults."""
    key = {"tournament_id": number}
    found = [
        {**key, "match": row.match, "seat": seat, "game": row.game, "bot": bot, "kind": kind}
        for row in rows
        for seat, bot, kind in row.faults
    ]
    if rows:
        connection.execute(records.insert(), [{**key, **_without_faults(row)} for row in rows])
    if found:
        connection.execute(faults.insert(), found)


def _schedule_row(number: int, line: ScheduledMatch) -> dict[str, Any]:
    return {
        "tournament_id": number,
        "match": line.match,
        "encounter": line.encounter,
        "round": line.round,
        "game": line.game,
        "seats": as_json(line.seats),
        "opening": line.opening,
        "opening_actions": as_json(line.opening_actions),
        "rng_seed": line.rng_seed,
    }


def _without_faults(row: RecordRow) -> dict[str, Any]:
    values = row._asdict()
    del values["faults"]
    return values


def _tuples(actions: Sequence[Any]) -> Iterator[Any]:
    """Yield actions in the form the games give them: JSON knows no tuples."""
    return (tuple(action) if isinstance(action, list) else action for action in actions)


def _chunks(lines: Iterable[ScheduledMatch]) -> Iterator[list[ScheduledMatch]]:
    coming = iter(lines)
    while chunk := list(islice(coming, CHUNK_ROWS)):
        yield chunk


def scheduled_match(line: Any) -> ScheduledMatch:
    """Return a line of a schedule from its row."""
    where = f"match {line.match} of the schedule"
    return ScheduledMatch(
        line.match,
        line.encounter,
        line.round,
        line.game,
        tuple(list_of(parse_stored(line.seats, where), where)),
        line.opening,
        tuple(_tuples(list_of(parse_stored(line.opening_actions, where), where))),
        line.rng_seed,
    )
