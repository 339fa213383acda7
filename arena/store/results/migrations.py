"""Bringing a database of an older arena to the schema of this one, in one transaction.

Imported only when there is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.schema import CreateColumn

from arena.base.errors import StoreError
from arena.base.stored import is_whole
from arena.store.results.columns import Label
from arena.store.results.recording import Sitting, insert_seats
from arena.store.results.schema import SCHEMA_VERSION, meta
from arena.store.results.statements import count_again

SEATS_AT_A_TIME = 20_000


def migrate(connection: Connection, version: int) -> None:
    """Bring a database from ``version`` to the present one."""
    for step in range(version, SCHEMA_VERSION):
        _STEPS[step](connection)
    connection.execute(meta.update().where(meta.c.key == "schema_version").values(value=str(SCHEMA_VERSION)))


def _add_column(connection: Connection, table: str, column: sa.Column[Any]) -> None:
    sa.Table(table, sa.MetaData(), column)
    definition = CreateColumn(column).compile(dialect=connection.dialect)
    connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {definition}")


def _create_table(connection: Connection, name: str, *columns: sa.Column[Any], has_rowid: bool = True) -> None:
    metadata = sa.MetaData()
    sa.Table("tournaments", metadata, sa.Column("id", sa.Integer, primary_key=True))  # which foreign keys name
    sa.Table(name, metadata, *columns, sqlite_with_rowid=has_rowid).create(connection)


def _create_index(connection: Connection, name: str, table: str, *columns: str) -> None:
    named = ", ".join(f'"{column}"' for column in columns)
    connection.exec_driver_sql(f"CREATE INDEX {name} ON {table} ({named})")


def _to_2(connection: Connection) -> None:
    """Rounds, finished tournaments, encounters beside results, and settings of formats in definitions."""
    _add_column(connection, "tournaments", sa.Column("finished_at", sa.String(40)))
    _add_column(connection, "matches", sa.Column("round", sa.Integer, nullable=False, server_default="1"))
    _create_index(connection, "matches_by_round", "matches", "tournament_id", "round")
    _create_index(connection, "faults_by_bot", "faults", "bot")
    _add_column(connection, "records", sa.Column("encounter", sa.Integer, nullable=False, server_default="0"))
    connection.execute(
        sa.text(
            "UPDATE records SET encounter = (SELECT matches.encounter FROM matches WHERE"
            " matches.tournament_id = records.tournament_id AND matches.match = records.match)"
        )
    )
    connection.execute(
        sa.text(
            "UPDATE tournaments SET finished_at = created_at WHERE"
            " (SELECT count(*) FROM matches WHERE tournament_id = tournaments.id)"
            " = (SELECT count(*) FROM records WHERE tournament_id = tournaments.id)"
        )
    )
    for key, text in connection.execute(sa.text("SELECT id, definition FROM tournaments")).all():
        try:
            changed = json.dumps(_definition_2(json.loads(text)), separators=(",", ":"))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise StoreError(f"tournament {key} in the database: its stored definition is malformed") from error
        connection.execute(
            sa.text("UPDATE tournaments SET definition = :text WHERE id = :key"), {"text": changed, "key": key}
        )


def _definition_2(definition: dict[str, object]) -> dict[str, object]:
    """Add what a definition of version 1 lacks: settings, and places by name@version instead of by name."""
    changed = {**definition, "settings": {}}
    places = definition.get("places")
    entrants = definition["entrants"]
    if isinstance(places, dict) and isinstance(entrants, list):
        label_of = {entrant["name"]: f"{entrant['name']}@{entrant['version']}" for entrant in entrants}
        changed["places"] = {label_of[name]: place for name, place in places.items()}
    return changed


def _to_3(connection: Connection) -> None:
    """Corrections, deleted tournaments, seasons, and the formats of tournaments in a column of their own."""
    _add_column(connection, "tournaments", sa.Column("format", sa.String(32), nullable=False, server_default=""))
    _add_column(connection, "tournaments", sa.Column("deleted_at", sa.String(40)))
    _add_column(connection, "tournaments", sa.Column("deleted_name", sa.String(64)))
    for key, text in connection.execute(sa.text("SELECT id, definition FROM tournaments")).all():
        try:
            name = str(json.loads(text).get("format", "round-robin"))[:32]
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise StoreError(f"tournament {key} in the database: its stored definition is malformed") from error
        connection.execute(sa.text("UPDATE tournaments SET format = :name WHERE id = :key"), {"name": name, "key": key})
    _create_table(
        connection,
        "corrections",
        *_key("number"),
        *_required(sa.String(16), "kind"),
        *_required(sa.Text, "details", "reason"),
        *_required(sa.String(40), "made_at"),
    )
    _create_table(
        connection,
        "set_aside",
        *_key("match", "correction"),
        *_required(sa.Integer, "encounter"),
        *_required(sa.String(200), "game"),
        *_required(sa.Text, "bots", "ranks", "record", "faults"),
        *_required(sa.String(16), "termination"),
        *_required(sa.String(32), "opening_hash", "actions_hash"),
    )
    _create_table(connection, "skipped", *_key("match", "correction"))
    _create_table(connection, "seasons", sa.Column("name", sa.String(64), primary_key=True), *_key())


def _key(*names: str) -> Iterator[sa.Column[int]]:
    """Yield the columns of a key that begins with a tournament."""
    tournament = sa.ForeignKey("tournaments.id")
    yield sa.Column("tournament_id", sa.Integer, tournament, primary_key=True, autoincrement=False)
    for name in names:
        yield sa.Column(name, sa.Integer, primary_key=True, autoincrement=False)


def _required(kind: sa.types.TypeEngine[Any] | type[sa.types.TypeEngine[Any]], *names: str) -> Iterator[sa.Column[Any]]:
    for name in names:
        yield sa.Column(name, kind, nullable=False)


def _to_4(connection: Connection) -> None:
    """Counters of matches and records."""
    for name in ("match_count", "record_count"):
        _add_column(connection, "tournaments", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    _add_column(connection, "tournaments", sa.Column("record_bytes", sa.BigInteger, nullable=False, server_default="0"))
    count_again(connection)


def _to_5(connection: Connection) -> None:
    """The log of events, seats, what is known of a tournament while it is played, and indexes for lists of matches."""
    _create_table(
        connection,
        "topics",
        sa.Column("topic", sa.String(80), primary_key=True),
        *_required(sa.BigInteger, "seq"),
    )
    _create_table(
        connection,
        "events",
        sa.Column("topic", sa.String(80), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        *_required(sa.String(16), "kind"),
        *_required(sa.String(40), "at"),
        *_required(sa.Text, "body"),
        sa.Column("visible_from", sa.String(40)),
    )
    _create_table(
        connection,
        "seats",
        sa.Column("bot", Label, primary_key=True),
        *_key("match", "seat", "rival_seat"),
        *_required(Label, "rival"),
        *_required(sa.Integer, "ahead"),
        *_required(sa.String(200), "game"),
        has_rowid=False,
    )
    _create_table(connection, "progress", *_key(), *_required(sa.String(40), "at"), *_required(sa.Text, "body"))
    _create_table(
        connection,
        "live_matches",
        *_key("match"),
        *_required(sa.BigInteger, "seq"),
        *_required(sa.String(40), "at"),
        *_required(sa.Text, "body"),
    )
    _create_table(connection, "watches", *_key("match"), *_required(sa.String(40), "until"))
    _create_index(connection, "events_by_time", "events", "at")
    connection.execute(sa.text("DROP INDEX records_by_game"))
    _create_index(connection, "records_by_game", "records", "tournament_id", "game", "match")
    _create_index(connection, "records_by_termination", "records", "tournament_id", "termination", "match")
    _create_index(connection, "faults_by_kind", "faults", "tournament_id", "kind", "match")
    _fill_seats(connection)
    _begin_logs(connection)


def _fill_seats(connection: Connection) -> None:
    records = sa.table("records", *map(sa.column, ("tournament_id", "match", "game", "bots", "ranks")))
    key = sa.tuple_(records.c.tournament_id, records.c.match)
    query = sa.select(*records.c).order_by(records.c.tournament_id, records.c.match).limit(SEATS_AT_A_TIME)
    last = (-1, -1)
    while rows := connection.execute(query.where(key > last)).all():
        for number, some in groupby(rows, key=lambda row: row.tournament_id):
            insert_seats(connection, number, sorted((Sitting(*row[1:]) for row in some), key=lambda sat: sat.bots))
        last = rows[-1][:2]


def _begin_logs(connection: Connection) -> None:
    """Give every tournament an event, as if it had been imported when it ended."""
    found = sa.text("SELECT id, coalesce(finished_at, created_at), record_count FROM tournaments ORDER BY id")
    matches = sa.text('SELECT "match" FROM records WHERE tournament_id = :number ORDER BY "match" DESC LIMIT 20')
    for number, at, count in connection.execute(found).all():
        latest = [match for match in connection.execute(matches, {"number": number}).scalars() if is_whole(match)]
        body = json.dumps({"matches": latest[::-1], "match_count": count}, separators=(",", ":"))
        topic = {"topic": f"tournament/{number}"}
        connection.execute(sa.text("INSERT INTO topics (topic, seq) VALUES (:topic, 1)"), topic)
        connection.execute(
            sa.text("INSERT INTO events (topic, seq, kind, at, body) VALUES (:topic, 1, 'imported', :at, :body)"),
            {**topic, "at": str(at), "body": body},
        )


def _to_6(connection: Connection) -> None:
    """Annotations."""
    _create_table(
        connection,
        "annotations",
        *_key("match"),
        *_required(sa.String(32), "actions_hash"),
        *_required(sa.Text, "accuracy", "body"),
    )


def _to_7(connection: Connection) -> None:
    """Whose the bots are that people have handed in."""
    _create_table(
        connection,
        "owners",
        sa.Column("bot", Label, primary_key=True),
        *_required(sa.String(32), "content"),
        *_required(sa.String(64), "person"),
    )


_STEPS: Mapping[int, Callable[[Connection], None]] = {
    1: _to_2,
    2: _to_3,
    3: _to_4,
    4: _to_5,
    5: _to_6,
    6: _to_7,
}
