"""Bringing a database of an older arena to the schema of this one, in one transaction.

Imported only when there is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.schema import CreateColumn

from arena.base.errors import StoreError
from arena.base.stored import is_whole
from arena.store.results.schema import create_tables, metadata
from arena.store.results.statements import count_again, insert_seats

SEATS_AT_A_TIME = 20_000


_DEFAULTS = {"round": "1", "format": ""}
"""The values of new columns without nulls in the rows that exist already; 0 for the other columns."""


def migrate(connection: Connection, version: int) -> None:
    """Bring a database from ``version`` to the present one: what it lacks is added, and then filled."""
    if version < 5:
        connection.exec_driver_sql("DROP INDEX IF EXISTS records_by_game")  # it had other columns
    _add_columns(connection)
    create_tables(connection, metadata)
    for filled, fill in _FILLING.items():
        if version < filled:
            fill(connection)


def _add_columns(connection: Connection) -> None:
    present = sa.inspect(connection)
    for name in sorted(metadata.tables.keys() & set(present.get_table_names())):
        names = {column["name"] for column in present.get_columns(name)}
        for column in metadata.tables[name].columns:
            if column.name not in names:
                default = None if column.nullable else _DEFAULTS.get(column.name, "0")
                new = sa.Column(column.name, column.type, nullable=column.nullable, server_default=default)
                sa.Table(name, sa.MetaData(), new)
                definition = CreateColumn(new).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {name} ADD COLUMN {definition}")


def _fill_2(connection: Connection) -> None:
    """Fill rounds, the ends of tournaments, the encounters of results, and the settings of formats in definitions."""
    connection.exec_driver_sql(
        "UPDATE records SET encounter = (SELECT matches.encounter FROM matches WHERE"
        " matches.tournament_id = records.tournament_id AND matches.match = records.match)"
    )
    connection.exec_driver_sql(
        "UPDATE tournaments SET finished_at = created_at WHERE"
        " (SELECT count(*) FROM matches WHERE tournament_id = tournaments.id)"
        " = (SELECT count(*) FROM records WHERE tournament_id = tournaments.id)"
    )
    _fill_from_definitions(
        connection, "definition", lambda stored: json.dumps(_definition_2(stored), separators=(",", ":"))
    )


def _fill_3(connection: Connection) -> None:
    _fill_from_definitions(connection, "format", lambda stored: str(stored.get("format", "round-robin"))[:32])


def _fill_from_definitions(connection: Connection, column: str, value_in: Callable[[Any], str]) -> None:
    change = sa.text(f"UPDATE tournaments SET {column} = :value WHERE id = :key")
    for key, text in connection.execute(sa.text("SELECT id, definition FROM tournaments")).all():
        try:
            value = value_in(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise StoreError(f"tournament {key} in the database: its stored definition is malformed") from error
        connection.execute(change, {"value": value, "key": key})


def _definition_2(definition: dict[str, object]) -> dict[str, object]:
    """Add what a definition of version 1 lacks: settings, and places by name@version instead of by name."""
    changed = {**definition, "settings": {}}
    places = definition.get("places")
    entrants = definition["entrants"]
    if isinstance(places, dict) and isinstance(entrants, list):
        label_of = {entrant["name"]: f"{entrant['name']}@{entrant['version']}" for entrant in entrants}
        changed["places"] = {label_of[name]: place for name, place in places.items()}
    return changed


def _fill_5(connection: Connection) -> None:
    _fill_seats(connection)
    _begin_logs(connection)


def _fill_seats(connection: Connection) -> None:
    records = sa.table("records", *map(sa.column, ("tournament_id", "match", "game", "bots", "ranks")))
    key = sa.tuple_(records.c.tournament_id, records.c.match)
    query = sa.select(*records.c).order_by(records.c.tournament_id, records.c.match).limit(SEATS_AT_A_TIME)
    last = (-1, -1)
    while rows := connection.execute(query.where(key > last)).all():
        for number, group in groupby(rows, key=lambda row: row.tournament_id):
            insert_seats(connection, number, sorted(group, key=lambda row: row.bots))
        last = rows[-1][:2]


def _begin_logs(connection: Connection) -> None:
    """Give every tournament an event, as if it had been imported when it ended."""
    ended = sa.text("SELECT id, coalesce(finished_at, created_at), record_count FROM tournaments ORDER BY id")
    matches = sa.text('SELECT "match" FROM records WHERE tournament_id = :number ORDER BY "match" DESC LIMIT 20')
    for number, at, count in connection.execute(ended).all():
        latest = [match for match in connection.execute(matches, {"number": number}).scalars() if is_whole(match)]
        body = json.dumps({"matches": latest[::-1], "match_count": count}, separators=(",", ":"))
        topic = {"topic": f"tournament/{number}"}
        connection.execute(sa.text("INSERT INTO topics (topic, seq) VALUES (:topic, 1)"), topic)
        connection.execute(
            sa.text("INSERT INTO events (topic, seq, kind, at, body) VALUES (:topic, 1, 'imported', :at, :body)"),
            {**topic, "at": str(at), "body": body},
        )


_FILLING: Mapping[int, Callable[[Connection], None]] = {2: _fill_2, 3: _fill_3, 4: count_again, 5: _fill_5}
