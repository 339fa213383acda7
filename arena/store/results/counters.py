"""The counters of a tournament: kept in its row, by whatever writes its matches and records, in the same transaction.

Counting a million rows takes a hundred times as long as looking at a row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, select

from arena.store.results.columns import Integer, total_of
from arena.store.results.schema import matches, records, set_aside, tournaments


class Counters(NamedTuple):
    """The counters of a tournament, or by how much they change.

    Attributes:
        match_count: the matches in the schedule, with those that a correction has taken out of it.
        record_count: the matches with a record.
        record_bytes: the size of the records, with those that were set aside.
    """

    match_count: int = 0
    record_count: int = 0
    record_bytes: int = 0


_ADD = (
    tournaments.update()
    .where(tournaments.c.id == bindparam("number"))
    .values({name: tournaments.c[name] + bindparam(f"more_{name}") for name in Counters._fields})
)


def add_to_counters(connection: Connection, tournament: int, change: Counters) -> None:
    """Change the counters of a tournament."""
    connection.execute(_ADD, {"number": tournament, **{f"more_{name}": by for name, by in change._asdict().items()}})


def counted(connection: Connection, tournament: int) -> Counters:
    """Return what the counters of a tournament should be, by counting."""
    lines = select(func.count()).where(matches.c.tournament_id == tournament)
    recorded, record_bytes = connection.execute(_sizes(connection, records, tournament)).one()
    bytes_aside = connection.execute(_sizes(connection, set_aside, tournament)).one()[1]
    return Counters(int(connection.execute(lines).scalar_one()), recorded, record_bytes + bytes_aside)


def count_again(connection: Connection) -> None:
    """Set the counters of all tournaments by counting."""
    for (number,) in connection.execute(select(tournaments.c.id)).all():
        values = counted(connection, number)._asdict()
        connection.execute(tournaments.update().where(tournaments.c.id == number).values(**values))


def count_rows_again(connection: Connection) -> None:
    """Set the counters of rows by counting, without looking into any."""
    counters = {"match_count": matches, "record_count": records}
    values = {name: _rows_of(table).scalar_subquery() for name, table in counters.items()}
    connection.execute(tournaments.update().values(**values))


def _rows_of(table: Any) -> Select[Any]:
    return select(func.count()).where(table.c.tournament_id == tournaments.c.id)


def _sizes(connection: Connection, table: Any, tournament: int) -> Select[Any]:
    """Return the query of the number of records in a table, and of their size."""
    length = func.length if connection.dialect.name == "sqlite" else func.octet_length  # records are ASCII
    size = total_of(length(table.c.record))
    return select(func.count(type_=Integer), size).where(table.c.tournament_id == tournament)
