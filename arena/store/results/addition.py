"""What is added to a database from another one: a whole tournament, or what a tournament lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, select

from arena.base.definition import Definition
from arena.base.enums import EventKind
from arena.base.records import ScheduledMatch
from arena.store.results.correction_log import SetAside, Skipped, correction_row
from arena.store.results.events import about_matches, add_event
from arena.store.results.rows import RecordRow, as_json
from arena.store.results.schema import (
    corrections,
    matches,
    metadata,
    records,
    seasons,
    set_aside,
    skipped,
    tournaments,
    voids,
)
from arena.store.results.statements import (
    Counters,
    add_to_counters,
    chunks,
    insert_lines,
    insert_records,
    scheduled_match,
)
from arena.store.results.tournament_reader import TournamentReader
from arena.store.results.values import Correction, StoredTournament

# A database from which tournaments are taken into another one, or exported whole: every row, as it is stored.
#
# Rows are read one by one: the database may come from another person.


class VoidTry(NamedTuple):
    """A try that ended because the arena failed, why and when (UTC, ISO 8601)."""

    match: int
    reason: str
    at: str


class Source(TournamentReader):
    """The tournaments of a database with all that is stored of them."""

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def lines(self, tournament: StoredTournament) -> Iterator[ScheduledMatch]:
        """Yield the whole schedule, in order."""
        definition = tournament.definition
        query = select(matches).where(matches.c.tournament_id == tournament.number).order_by(matches.c.match)
        return (scheduled_match(row, definition) for row in self._database.each(query))

    def record_texts(self, tournament: StoredTournament) -> Iterator[tuple[int, str]]:
        """Yield the number of each match that has a record, and the record as it is stored, in order."""
        query = select(records.c.match, records.c.record).where(records.c.tournament_id == tournament.number)
        return ((row.match, row.record) for row in self._database.each(query.order_by(records.c.match)))

    def voids(self, tournament: StoredTournament) -> Iterator[VoidTry]:
        """Yield the void tries, the oldest first."""
        query = select(voids.c.match, voids.c.reason, voids.c.at).where(voids.c.tournament_id == tournament.number)
        return (VoidTry(*row) for row in self._database.each(query.order_by(voids.c.id)))

    def set_aside(self, tournament: StoredTournament) -> Iterator[SetAside]:
        """Yield the records that corrections have set aside, by match."""
        key = (set_aside.c.match, set_aside.c.correction)
        query = select(*key, set_aside.c.record).where(set_aside.c.tournament_id == tournament.number).order_by(*key)
        return (SetAside(*row) for row in self._database.each(query))

    def skipped(self, tournament: StoredTournament) -> Iterator[Skipped]:
        """Yield the matches that corrections have taken out of the schedule, by match."""
        key = (skipped.c.match, skipped.c.correction)
        query = select(*key).where(skipped.c.tournament_id == tournament.number).order_by(*key)
        return (Skipped(*row) for row in self._database.each(query))


RECORDS_AT_A_TIME = 20
"""Records of another home may be large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is added; its iterables are read while it is written.

    Attributes:
        tournament: the number of the tournament that it is added to; None for a new one.
        definition: the tournament's, afterwards.
        created_at: of a new tournament: UTC, ISO 8601.
        finished_at: None if it is not finished.
        voids: tries without a result.
        corrections: the log of a new tournament.
        set_aside: of a new tournament: the records that don't count, each with the number of its correction.
        skipped: of a new tournament: the matches that are not played.
        replaces: the whole tournament that it is added to, which keeps its number; as if it were a new one.
    """

    tournament: int | None
    definition: Definition
    created_at: str
    finished_at: str | None
    lines: Iterable[ScheduledMatch] = ()
    records: Iterable[RecordRow] = ()
    voids: Iterable[VoidTry] = ()
    corrections: Sequence[Correction] = ()
    set_aside: Iterable[tuple[int, RecordRow]] = ()
    skipped: Iterable[Skipped] = ()
    replaces: bool = False


def insert_addition(connection: Connection, addition: Addition) -> None:
    """Write what is added."""
    number = _tournament(connection, addition)
    insert_lines(connection, number, addition.lines)
    recorded: list[int] = []
    for rows in chunks(addition.records, RECORDS_AT_A_TIME):
        insert_records(connection, number, rows)
        recorded += (row.match for row in rows)
    key = {"tournament_id": number}
    for tries in chunks(addition.voids):
        connection.execute(voids.insert(), [{**key, **void._asdict()} for void in tries])
    for logged in chunks(addition.corrections):
        connection.execute(corrections.insert(), [{**key, **correction_row(line)} for line in logged])
    for pairs in chunks(addition.set_aside, RECORDS_AT_A_TIME):
        connection.execute(set_aside.insert(), [{**key, **_row_aside(*pair)} for pair in pairs])
        add_to_counters(connection, number, Counters(record_bytes=sum(len(row.record) for _, row in pairs)))
    for left_out in chunks(addition.skipped):
        connection.execute(skipped.insert(), [{**key, **line._asdict()} for line in left_out])
    add_event(connection, number, EventKind.IMPORTED, about_matches(recorded))


def _tournament(connection: Connection, addition: Addition) -> int:
    definition = addition.definition
    values: dict[str, Any] = {"definition": as_json(definition.to_json()), "finished_at": addition.finished_at}
    if addition.tournament is None:
        new = {"name": definition.name, "created_at": addition.created_at, "format": definition.format}
        key = connection.execute(tournaments.insert(), {**values, **new}).inserted_primary_key
        return int(key[0]) if key is not None else 0
    if addition.replaces:
        remove_contents(connection, addition.tournament, but=(seasons,))
        values |= Counters()._asdict()
    connection.execute(tournaments.update().where(tournaments.c.id == addition.tournament).values(**values))
    return addition.tournament


def remove_contents(connection: Connection, tournament: int, but: Collection[Table] = ()) -> None:
    """Remove what belongs to a tournament except its own row and the rows in tables ``but``, in a transaction."""
    for table in metadata.sorted_tables:
        if "tournament_id" in table.c and table not in but:
            connection.execute(table.delete().where(table.c.tournament_id == tournament))


def _row_aside(correction: int, row: RecordRow) -> dict[str, Any]:
    return {**row._asdict(), "correction": correction, "faults": as_json(row.faults)}
