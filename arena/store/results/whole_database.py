"""A whole database: its version, the home to which it belongs on a server, and its copies."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

from sqlalchemy import Column, Connection, MetaData, Table, func, inspect, select, text

from arena.base.errors import StoreError
from arena.store.results.connection import (
    BUSY_TIMEOUT_SECONDS,
    FEW_ROWS,
    Database,
    create_tables,
    insert_into,
    reason_of,
    shown_url,
)
from arena.store.results.schema import SCHEMA_VERSION, meta, metadata

# The version of a database: its tables are created, or migrated, when it is opened.


def bring_up_to_date(database: Database) -> None:
    """Create the tables of an empty database, and migrate one of an older version.

    Raises:
        StoreError: if a newer arena or another program made the database.
    """
    version = database.read(lambda connection: _version(connection, database.shown))
    if version is None:
        database.use_write_ahead_log()
        database.write(lambda connection: _create(connection, database))
        return
    check_version(version, SCHEMA_VERSION, database.shown)
    if version < SCHEMA_VERSION:
        database.write(lambda connection: _migrate(connection, database))


def check_version(version: int, known: int, shown: str) -> None:
    """Raise StoreError if a newer arena made a database."""
    if version > known:
        raise StoreError(
            f"{shown}: the database has version {version}, and this arena knows {known}; a newer arena is needed"
        )


def _migrate(connection: Connection, database: Database) -> None:
    from arena.store.results.migrations import migrate

    _wait_for_others(connection, database)
    migrate(connection, _version(connection, database.shown) or SCHEMA_VERSION)


def _wait_for_others(connection: Connection, database: Database) -> None:
    """Wait until no other arena creates or migrates the tables; in SQLite a transaction that writes has waited."""
    if database.is_server:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7461)")


def _create(connection: Connection, database: Database) -> None:
    _wait_for_others(connection, database)
    create_tables(connection, metadata)
    if _version(connection, database.shown) is None:
        connection.execute(meta.insert(), {"key": "schema_version", "value": str(SCHEMA_VERSION)})


def _version(connection: Connection, shown: str) -> int | None:
    return stored_version(connection, meta, shown, "this is a database of another program")


def stored_version(connection: Connection, meta: Table, shown: str, refusal: str) -> int | None:
    """Return the version in table ``meta``; None if the database is empty, or its tables are being created.

    Raises:
        StoreError: ``refusal`` if it is another program's, or if the version is not a number.
    """
    names = inspect(connection).get_table_names()
    if meta.name not in names:
        if names:
            raise StoreError(f"{shown}: {refusal}; nothing was changed")
        return None
    text = connection.execute(select(meta.c.value).where(meta.c.key == "schema_version")).scalar()
    if text is not None and not (text.isdecimal() and int(text[:9]) > 0):
        raise StoreError(f"{shown}: the database's version is {text[:20]!r}; expected a number")
    return int(text[:9]) if text is not None else None


# A whole database as an SQLite file, and back; and the home to which a database on a server belongs.

# The home to which a database on a server belongs: programs of its site work there, and none of another home.

OWNER = "home"
"""Its key, which no copy of a database has."""


class Owner(NamedTuple):
    """A home: the identity by which it is known wherever it is moved, and its path for messages."""

    identity: str
    place: str


class Owned:
    """A store that may belong to a home."""

    _database: Database
    _meta: ClassVar[Table]

    def belong_to(self, home: Owner, is_adopted: bool = False) -> None:
        """Note that a database on a server belongs to a home; a file is in its home.

        Raises:
            StoreError: if it belongs to another one, and ``is_adopted`` does not say to take it over.
        """
        if self._database.is_server:
            found = self._database.write(lambda connection: self._owner(connection, home, is_adopted))
            if found.identity != home.identity:
                raise StoreError(
                    f"{self._database.shown}: it belongs to the home {found.place}, and this is"
                    f" {home.place}; give each home databases of its own, or, if the other one is gone, run:"
                    " arena people adopt"
                )

    def _owner(self, connection: Connection, home: Owner, is_adopted: bool) -> Owner:
        row = {"key": OWNER, "value": f"{home.identity} {home.place}"}
        insert = insert_into(connection, self._meta).values(row)
        if is_adopted:
            connection.execute(insert.on_conflict_do_update(index_elements=[self._meta.c.key], set_=row))
        else:
            connection.execute(insert.on_conflict_do_nothing())
        value = connection.execute(select(self._meta.c.value).where(self._meta.c.key == OWNER)).scalar_one()
        return Owner(*value.partition(" ")[::2])


# A whole database as an SQLite file, and back: of a file or a server, while others write to it.
#
# A file is copied page by page with SQLite's own backup, in one step, during which others can write. The rows of a
# server are read in one transaction, as they were when it began.

META_TABLES = ("meta", "people_meta")
_COUNTERS = "sqlite_sequence"
"""Where SQLite keeps the last number of each table, so that it gives none a second time."""


class Copyable:
    """A store whose whole database can be copied."""

    _database: Database
    _metadata: ClassVar[MetaData]

    def write_copy(self, path: Path) -> None:
        """Write the whole database, as it is at one instant, as a new SQLite file, or over an empty one.

        Raises:
            StoreError: if the database can't be read, or the file can't be written.
        """
        if self._database.path is None:
            self._fill(Database(path))
        elif not copy_file(self._database.path, path):
            raise StoreError(f"{self._database.path}: it is not there any more")

    def fill(self, url: str) -> None:
        """Fill the empty PostgreSQL database at ``url`` with all that is in this one.

        Raises:
            StoreError: if the other is not empty, or a value does not belong there.
        """
        self._fill(Database(url))

    def _fill(self, target: Database) -> None:
        try:
            target.use_write_ahead_log()
            self._database.read_snapshot(
                lambda rows: target.write(lambda into: _create_and_fill(rows, into, self._metadata))
            )
        finally:
            target.close()


def copy_file(path: Path, copy: Path) -> bool:
    """Copy a database file into a new or empty file while others write to it; return whether it was still there.

    Without a database there is nothing afterwards.

    Raises:
        StoreError: if it can't be read, or the copy can't be written.
    """
    try:
        with (
            closing(
                sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_SECONDS)
            ) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as error:
        if not path.exists():
            copy.unlink(missing_ok=True)
            return False
        raise StoreError(f"{path}: can't be copied: {reason_of(error)}") from error
    return True


def _create_and_fill(source: Connection, target: Connection, metadata: MetaData) -> None:
    if inspect(target).get_table_names():
        raise StoreError(f"{_shown(target)}: it has tables; expected an empty database, and nothing was changed")
    create_tables(target, metadata)
    for table in metadata.sorted_tables:
        query = select(table).where(table.c.key != OWNER) if table.name in META_TABLES else select(table)
        rows = source.execute(query.execution_options(yield_per=FEW_ROWS))
        for part in rows.mappings().partitions():
            target.execute(table.insert(), [dict(zip(table.c.keys(), row.values(), strict=True)) for row in part])
        counter = table.autoincrement_column
        if counter is not None:
            _set_last_number(target, table, counter, _last_number(source, table, counter))


def _shown(connection: Connection) -> str:
    return shown_url(connection.engine.url)


def _last_number(connection: Connection, table: Table, counter: Column[Any]) -> int:
    """Return the last number that a table has given a row, which may not be there any more; 0 for none."""
    largest: int = connection.execute(select(func.coalesce(func.max(counter), 0))).scalar_one()
    if connection.dialect.name == "postgresql":
        sequence = connection.execute(_sequence_of(table, counter)).scalar()
        row = connection.exec_driver_sql(f"SELECT last_value, is_called FROM {sequence}").one()
        return max(largest, row.last_value if row.is_called else 0)
    if not table.dialect_options["sqlite"]["autoincrement"]:
        return largest
    query = text(f"SELECT seq FROM {_COUNTERS} WHERE name = :name")
    last = connection.execute(query, {"name": table.name}).scalar()
    return max(largest, last) if isinstance(last, int) else largest


def _set_last_number(connection: Connection, table: Table, counter: Column[Any], last: int) -> None:
    if not last:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.setval(_sequence_of(table, counter).scalar_subquery(), last)))
    elif table.dialect_options["sqlite"]["autoincrement"]:
        values = {"name": table.name, "last": last}
        connection.execute(text(f"DELETE FROM {_COUNTERS} WHERE name = :name"), values)
        connection.execute(text(f"INSERT INTO {_COUNTERS} (name, seq) VALUES (:name, :last)"), values)


def _sequence_of(table: Table, counter: Column[Any]) -> Any:
    return select(func.pg_get_serial_sequence(table.name, counter.name))
