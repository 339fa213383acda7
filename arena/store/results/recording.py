"""Records with all that is written beside them: faults, seats and counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from arena.store.results.counters import Counters, add_to_counters
from arena.store.results.rows import RecordRow
from arena.store.results.schema import faults, records
from arena.store.results.seats import Sitting, insert_seats
from arena.store.results.statements import insert_many

_COLUMNS = RecordRow._fields[: RecordRow._fields.index("faults")]
"""What a row of ``records`` has; the faults come last."""


def insert_records(connection: Connection, number: int, rows: Sequence[RecordRow]) -> None:
    """Write records of a tournament, with their faults and seats, and count them."""
    if not rows:
        return
    key = {"tournament_id": number}
    insert_many(connection, records, ("tournament_id", *_COLUMNS), [(number, *row[: len(_COLUMNS)]) for row in rows])
    insert_seats(connection, number, (Sitting(row.match, row.game, row.bots, row.ranks) for row in rows))
    size = sum(len(row.record) for row in rows)
    add_to_counters(connection, number, Counters(record_count=len(rows), record_bytes=size))
    found = [
        {**key, "match": row.match, "seat": seat, "game": row.game, "bot": bot, "kind": kind}
        for row in rows
        for seat, bot, kind in row.faults
    ]
    if found:
        connection.execute(faults.insert(), found)


def without_faults(row: RecordRow) -> dict[str, Any]:
    """Return the columns of a record, without its faults."""
    values = row._asdict()
    del values["faults"]
    return values
