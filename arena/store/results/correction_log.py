"""The log of corrections, and what they do to a tournament's schedule and records, each in one transaction.

A record is never changed. One that does not count any more is moved to ``set_aside``, whole, and comes back when the
correction is undone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Integer, Select, and_, func, select, tuple_

from arena.base.definition import Definition
from arena.base.enums import CorrectionKind, EventKind, FaultKind
from arena.base.errors import StoreError
from arena.base.records import ScheduledMatch
from arena.base.stored import from_json_text, from_stored_text, is_text, is_whole, list_of
from arena.base.text import json_value
from arena.store.results.connection import NO_VALUES, Repository
from arena.store.results.events import about_matches, add_event
from arena.store.results.rows import as_json, details_json
from arena.store.results.schema import corrections, faults, matches, records, set_aside, skipped, tournaments, value_of
from arena.store.results.statements import (
    CHUNK_ROWS,
    Counters,
    add_to_counters,
    chunks,
    insert_lines,
    insert_seats,
    is_to_be_played,
    remove_seats,
)
from arena.store.results.values import Correction, CorrectionDetails, StoredTournament, utc_now

_RECORD_COLUMNS = tuple(column.key for column in records.c if column.key != "tournament_id")
MAX_SEAT = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A correction to be made, and what it does.

    Attributes:
        set_aside: matches whose records don't count any more.
        skip: matches without a record that are not played.
        unskip: matches to be played although earlier corrections have left them out.
        definition: the tournament's afterwards; None if it stays the same.
        has_whole_schedule: whether no round follows when everything in the schedule has been played.
    """

    kind: CorrectionKind
    reason: str
    details: CorrectionDetails
    set_aside: Sequence[int] = ()
    skip: Sequence[int] = ()
    unskip: Sequence[int] = ()
    definition: Definition | None = None
    lines: Sequence[ScheduledMatch] = ()
    has_whole_schedule: bool = False


class SetAside(NamedTuple):
    """A record that does not count, as it is stored, with the number of the correction that has set it aside."""

    match: int
    correction: int
    text: str


class Skipped(NamedTuple):
    """A match that is not played, and the number of the correction that says so."""

    match: int
    correction: int


class CorrectionLog(Repository):
    """The corrections of all tournaments in a database."""

    def add(self, tournament: StoredTournament, change: Change) -> Correction:
        """Make a correction: all of it happens, or nothing."""
        made_at = utc_now()

        def make(connection: Connection) -> Correction:
            return _insert_and_apply(connection, tournament, change, made_at)

        def make_once(connection: Connection) -> Correction:
            latest = corrections_of(connection, tournament.number)[-1:]
            is_made = latest and (latest[0].made_at, latest[0].details) == (made_at, change.details)
            return latest[0] if is_made else make(connection)

        return self._database.write(make, again=make_once)

    def set_aside(self, tournament: StoredTournament) -> Iterator[SetAside]:
        """Yield the records that corrections have set aside, by match, reading them piece by piece."""
        key, last = (set_aside.c.match, set_aside.c.correction), (0, 0)
        query = select(*key, set_aside.c.record).where(set_aside.c.tournament_id == tournament.number).order_by(*key)
        while rows := self._database.rows(query.where(tuple_(*key) > last).limit(CHUNK_ROWS)):
            last = (rows[-1].match, rows[-1].correction)
            yield from (SetAside(*row) for row in rows)

    def set_aside_matches(self, tournament: StoredTournament, correction: int) -> list[int]:
        """Return the matches whose records a correction has set aside, without reading these."""
        of_it = (set_aside.c.tournament_id == tournament.number, set_aside.c.correction == correction)
        return self._database.scalars(select(set_aside.c.match).where(*of_it).order_by(set_aside.c.match))

    def set_aside_counts(self, tournament: StoredTournament) -> Counter[int]:
        """Return how many records each correction has set aside, by its number."""
        query = select(set_aside.c.correction, func.count()).where(set_aside.c.tournament_id == tournament.number)
        return Counter(dict(self._database.rows(query.group_by(set_aside.c.correction))))

    def skipped(self, tournament: StoredTournament) -> list[Skipped]:
        """Return the matches that are not played, by match."""
        query = select(skipped.c.match, skipped.c.correction).where(skipped.c.tournament_id == tournament.number)
        return [Skipped(*row) for row in self._database.rows(query.order_by(skipped.c.match, skipped.c.correction))]

    def skipping(self, tournament: StoredTournament, match: int) -> int | None:
        """Return the latest correction because of which a match is not played; None if it is in the schedule."""
        query = select(skipped.c.correction).where(
            skipped.c.tournament_id == tournament.number, skipped.c.match == match
        )
        return max((row.correction for row in self._database.rows(query)), default=None)


def corrections_of(connection: Connection, tournament: int) -> tuple[Correction, ...]:
    """Return the log of a tournament, the oldest first; StoreError if it is malformed, or a newer arena's."""
    return tuple(logs_from(connection, logs_query(corrections.c.tournament_id == tournament))[tournament])


def logs_query(condition: ColumnElement[bool]) -> Select[Any]:
    """Return the query for the logs of the tournaments that fulfil a condition."""
    return select(corrections).where(condition).order_by(corrections.c.number)


def logs_from(
    connection: Connection, query: Select[Any], values: Mapping[str, Any] = NO_VALUES
) -> defaultdict[int, list[Correction]]:
    """Return the logs of a ``logs_query``, by the number of the tournament; see ``corrections_of``."""
    logs: defaultdict[int, list[Correction]] = defaultdict(list)
    for row in connection.execute(query, values):
        logs[row.tournament_id].append(_correction(row))
    return logs


def _correction(row: Any) -> Correction:
    where = f"correction {row.number} of tournament {row.tournament_id} in the database: its details"
    return value_of(Correction, row, number=row.number, details=from_stored_text(CorrectionDetails, row.details, where))


def _insert_and_apply(connection: Connection, tournament: StoredTournament, change: Change, made_at: str) -> Correction:
    key = tournament.number
    query = select(func.max(corrections.c.number, type_=Integer)).where(corrections.c.tournament_id == key)
    number = (connection.execute(query).scalar() or 0) + 1
    correction = Correction(
        number=number, kind=change.kind, reason=change.reason, made_at=made_at, details=change.details
    )
    connection.execute(corrections.insert(), {"tournament_id": key, **correction_row(correction)})
    _move_aside(connection, key, change.set_aside, number)
    if change.details.undoes is not None:
        _bring_back(connection, key, change.details.undoes, number)
    for chunk in chunks(change.unskip):
        connection.execute(skipped.delete().where(skipped.c.tournament_id == key, skipped.c.match.in_(chunk)))
    for chunk in chunks(change.skip):
        left_out = {"tournament_id": key, "correction": number}
        connection.execute(skipped.insert(), [{**left_out, "match": match} for match in chunk])
    insert_lines(connection, key, change.lines)
    _update(connection, tournament, change)
    add_event(connection, key, EventKind.CORRECTION, about_matches(change.set_aside, correction=number), made_at)
    return correction


def correction_row(correction: Correction) -> dict[str, Any]:
    """Return a correction as its row, without the tournament."""
    row = {name: getattr(correction, name) for name in correction.__slots__}
    return row | {"details": details_json(correction.details)}


def _move_aside(connection: Connection, tournament: int, chosen: Iterable[int], correction: int) -> None:
    by_key = select(*(records.c[key].label(key) for key in _RECORD_COLUMNS))
    for chunk in chunks(chosen):
        of_records = and_(records.c.tournament_id == tournament, records.c.match.in_(chunk))
        of_faults = and_(faults.c.tournament_id == tournament, faults.c.match.in_(chunk))
        faults_of: dict[int, list[list[Any]]] = {}
        for row in connection.execute(select(faults).where(of_faults).order_by(faults.c.match, faults.c.seat)):
            faults_of.setdefault(row.match, []).append([row.seat, row.bot, row.kind])
        recorded = connection.execute(by_key.where(of_records)).all()
        rows = [
            {
                **{key: getattr(row, key) for key in _RECORD_COLUMNS},
                **{"tournament_id": tournament, "correction": correction},
                "faults": as_json(faults_of.get(row.match, [])),
            }
            for row in recorded
        ]
        if rows:
            connection.execute(set_aside.insert(), rows)
            connection.execute(faults.delete().where(of_faults))
            connection.execute(records.delete().where(of_records))
            remove_seats(connection, tournament, recorded)
            add_to_counters(connection, tournament, Counters(record_count=-len(rows)))


def _bring_back(connection: Connection, tournament: int, undone: int, correction: int) -> None:
    """Bring back what a correction set aside and skipped; set aside what was played in its place."""
    where = and_(set_aside.c.tournament_id == tournament, set_aside.c.correction == undone)
    chosen = [match for (match,) in connection.execute(select(set_aside.c.match).where(where))]
    _move_aside(connection, tournament, chosen, correction)
    for chunk in chunks(chosen):
        for row in connection.execute(select(set_aside).where(where, set_aside.c.match.in_(chunk))).all():
            values = {key: getattr(row, key) for key in _RECORD_COLUMNS}
            connection.execute(records.insert(), {"tournament_id": tournament, **values})
            insert_seats(connection, tournament, [row])
            add_to_counters(connection, tournament, Counters(record_count=1))
            _insert_faults(connection, tournament, row)
    connection.execute(set_aside.delete().where(where))
    connection.execute(skipped.delete().where(skipped.c.tournament_id == tournament, skipped.c.correction == undone))


def _insert_faults(connection: Connection, tournament: int, row: Any) -> None:
    where = f"match {row.match}, set aside: its faults"
    for fault in list_of(from_json_text(row.faults, where), where):
        if not _is_fault(fault):
            text = json_value(fault)
            raise StoreError(f"{where} are malformed: expected a seat, a bot and a kind of fault each, got {text}")
        seat, bot, kind = fault
        values = {"match": row.match, "seat": seat, "game": row.game, "bot": bot, "kind": kind}
        connection.execute(faults.insert(), {"tournament_id": tournament, **values})


def _is_fault(stored: object) -> bool:
    if not (isinstance(stored, list) and len(stored) == 3):
        return False
    return is_whole(stored[0], 0, MAX_SEAT) and is_text(stored[1]) and stored[2] in list(FaultKind)


def _update(connection: Connection, tournament: StoredTournament, change: Change) -> None:
    is_open = select(matches.c.match).where(matches.c.tournament_id == tournament.number, is_to_be_played()).limit(1)
    is_finished = change.has_whole_schedule and connection.execute(is_open).first() is None
    values: dict[str, Any] = {"finished_at": (tournament.finished_at or utc_now()) if is_finished else None}
    if change.definition is not None:
        values["definition"] = as_json(change.definition.to_json())
    connection.execute(tournaments.update().where(tournaments.c.id == tournament.number).values(**values))
