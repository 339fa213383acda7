"""The version of a database: its tables are created, or migrated, when it is opened."""

from __future__ import annotations

from sqlalchemy import Connection, Table, inspect, select

from arena.base.errors import StoreError
from arena.store.results.connection import Database, create_tables
from arena.store.results.schema import SCHEMA_VERSION, meta, metadata


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
