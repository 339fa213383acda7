"""A whole database: its version, the home to which it belongs on a server, and its copies."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import quote

from sqlalchemy import Column, Connection, MetaData, Table, func, inspect, select, text

from arena.base.errors import StoreError
from arena.base.folder import read_note
from arena.base.known_server import IDENTITY_FILE, MAX_CHARACTERS, session_name
from arena.store.results.connection import (
    FEW_ROWS,
    Database,
    Repository,
    insert_into,
    reason_of,
    shown_url,
)
from arena.store.results.events import CommitSignal
from arena.store.results.schema import SCHEMA_VERSION, create_tables, meta, metadata
from arena.store.results.sqlite_engine import BUSY_TIMEOUT_SECONDS


class Schema(NamedTuple):
    """The tables of a kind of database, and how one of an earlier version is migrated."""

    tables: MetaData
    meta: Table
    version: int
    others: str
    """What a database with other tables is."""
    lock: int
    """The number by which a server lets one arena at a time create or migrate the tables."""
    migrate: Callable[[Connection, int], None]
    keys: tuple[str, ...] = ()
    """Further keys in ``meta``, whose rows are locked; "0" in a new database."""


def _migrate(connection: Connection, version: int) -> None:
    from arena.store.results.migrations import migrate

    migrate(connection, version)


RESULTS_SCHEMA = Schema(metadata, meta, SCHEMA_VERSION, "of another program", 7461, _migrate)


def bring_up_to_date(database: Database, schema: Schema = RESULTS_SCHEMA) -> None:
    """Create the tables of an empty database, and migrate one of an older version.

    StoreError if a newer arena or another program made the database.
    """
    version = database.read(lambda connection: _version(connection, schema, database.shown))
    if version is None:
        database.use_write_ahead_log()
    elif version > schema.version:
        raise StoreError(
            f"{database.shown}: the database has version {version}, and this arena knows {schema.version};"
            " a newer arena is needed"
        )
    if version != schema.version:
        database.write(lambda connection: _create_or_migrate(connection, schema, database))


def _create_or_migrate(connection: Connection, schema: Schema, database: Database) -> None:
    if database.is_server:  # in SQLite a transaction that writes has waited for others
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({schema.lock})")
    version = _version(connection, schema, database.shown)
    if version is None:
        create_tables(connection, schema.tables)
        rows = {"schema_version": str(schema.version)} | dict.fromkeys(schema.keys, "0")
        connection.execute(schema.meta.insert(), [{"key": key, "value": value} for key, value in rows.items()])
    elif version < schema.version:
        schema.migrate(connection, version)
        changed = schema.meta.update().where(schema.meta.c.key == "schema_version")
        connection.execute(changed.values(value=str(schema.version)))


def _version(connection: Connection, schema: Schema, shown: str) -> int | None:
    """Return the version; None if the database is empty, or its tables are being created."""
    if connection.dialect.name == "sqlite":
        _check_active(connection, schema, shown)
    names, meta = inspect(connection).get_table_names(), schema.meta
    if meta.name not in names:
        if names:
            raise StoreError(f"{shown}: this is a database {schema.others}; nothing was changed")
        return None
    text = connection.execute(select(meta.c.value).where(meta.c.key == "schema_version")).scalar()
    if text is not None and not (text.isdecimal() and int(text[:9]) > 0):
        raise StoreError(f"{shown}: the database's version is {text[:20]!r}; expected a number")
    return int(text[:9]) if text is not None else None


def _check_active(connection: Connection, schema: Schema, shown: str) -> None:
    """Raise StoreError for a trigger, or a view in place of a table: in a file from elsewhere they may never end."""
    query = "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
    for kind, name in connection.exec_driver_sql(query):
        if kind == "trigger" or str(name).lower() in schema.tables.tables:
            raise StoreError(f"{shown}: the {kind} {str(name)[:80]!r} is no part of an arena's database")


# The home to which a database on a server belongs: programs of its site work there, and none of another home.

OWNER = "home"
"""Its key, which no copy of a database has."""


class Owner(NamedTuple):
    """A home: the identity by which it is known wherever it is moved, and its path with the machine it is on."""

    identity: str
    place: str

    def keeps_out(self, home: Owner, connection: Connection) -> bool:
        """Return whether a home is another one, or a copy of this one, which is still where it was.

        Of a home on another machine, it is there if somebody on that machine has a session at the server.
        """
        if self.identity != home.identity:
            return True
        (path, _, host), (other, _, its_host) = (owner.place.rpartition(" on ") for owner in (self, home))
        if host != its_host:
            return bool(connection.scalar(_HAS_SESSION, {"name": session_name(host)}))
        with suppress(OSError):
            identity = read_note(Path(path) / IDENTITY_FILE, MAX_CHARACTERS).strip()
            return identity == self.identity and not Path(path).samefile(other)
        return False


_HAS_SESSION = text(
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = :name)"
)


# A whole database as an SQLite file, and back: of a file or a server, while others write to it.
#
# A file is copied page by page with SQLite's own backup, in one step, during which others can write. The rows of a
# server are read in one transaction, as they were when it began.

META_TABLES = ("meta", "people_meta")
_COUNTERS = "sqlite_sequence"
"""Where SQLite keeps the last number of each table, so that it gives none a second time."""


class WholeDatabase(Repository):
    """A store with a database of its own, which may belong to a home, and can be copied."""

    _schema: ClassVar[Schema] = RESULTS_SCHEMA

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def bring_up_to_date(self) -> None:
        """Do so as the function does, and close the database if it can't be used."""
        try:
            bring_up_to_date(self._database, self._schema)
        except BaseException:
            self.close()
            raise

    def commit_signal(self) -> CommitSignal:
        """Return a new signal of commits, to be closed."""
        return CommitSignal(self._database)

    @property
    def server(self) -> str | None:
        """The URL of its server, without the password; None for a file."""
        return self._database.shown if self._database.is_server else None

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def belong_to(self, home: Owner, is_adopted: bool = False) -> None:
        """Note that a database on a server belongs to a home; a file is in its home.

        StoreError if it belongs to another one, and ``is_adopted`` does not say to take it over.
        """
        if self._database.is_server:
            owner = self._database.write(lambda connection: self._owner(connection, home, is_adopted))
            if owner != home:
                raise StoreError(
                    f"{self._database.shown}: it belongs to the home {owner.place}, and this is"
                    f" {home.place}; give each home databases of its own, or, if the other one is gone, run:"
                    " arena site people adopt"
                )

    def _owner(self, connection: Connection, home: Owner, is_adopted: bool) -> Owner:
        meta, row = self._schema.meta, {"key": OWNER, "value": f"{home.identity} {home.place}"}
        insert = insert_into(connection, meta).values(row)
        connection.execute(insert.on_conflict_do_nothing())
        value = connection.execute(select(meta.c.value).where(meta.c.key == OWNER)).scalar_one()
        stored = Owner(*value.partition(" ")[::2])
        if stored == home or (not is_adopted and stored.keeps_out(home, connection)):
            return stored
        connection.execute(insert.on_conflict_do_update(index_elements=[meta.c.key], set_=row))
        return home

    def write_copy(self, path: Path) -> None:
        """Write the whole database, as it is at one instant, as a new SQLite file, or over an empty one."""
        if self._database.path is None:
            self._fill(Database(path))
        elif not copy_file(self._database.path, path):
            raise StoreError(f"{self._database.path}: it is not there any more")

    def fill(self, url: str) -> None:
        """Fill the PostgreSQL database at ``url`` with all that is in this one; StoreError if it is not empty."""
        self._fill(Database(url))

    def _fill(self, target: Database) -> None:
        try:
            target.use_write_ahead_log()
            self._database.read_snapshot(
                lambda rows: target.write(lambda into: _create_and_fill(rows, into, self._schema.tables))
            )
        finally:
            target.close()


def copy_file(path: Path, copy: Path) -> bool:
    """Copy a database file into a new or empty file while others write to it; return whether it was still there.

    Without a database there is nothing afterwards.
    """
    if path.exists() and not path.is_file():  # SQLite would wait for a pipe
        raise StoreError(f"{path}: can't be copied: it is no ordinary file")
    try:
        back_up(path, copy, BUSY_TIMEOUT_SECONDS)
    except sqlite3.Error as error:
        if not path.exists():
            copy.unlink(missing_ok=True)
            return False
        raise StoreError(f"{path}: can't be copied: {reason_of(error)}") from error
    return True


def back_up(path: Path, copy: Path, timeout: float) -> None:
    """Copy a database file page by page with SQLite's own backup, or raise its error."""
    url = f"file:{quote(str(path))}?mode=ro"
    with closing(sqlite3.connect(url, uri=True, timeout=timeout)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


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
    return shown_url(connection.engine.url.set(drivername=connection.dialect.name))  # as people write it


def _last_number(connection: Connection, table: Table, counter: Column[Any]) -> int:
    """Return the last number that a table gave to a row, even if the row was deleted; 0 for none."""
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
