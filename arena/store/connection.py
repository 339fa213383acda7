"""Opening the database, and turning what can go wrong with it into one sentence.

SQLite through SQLAlchemy needs care: left alone, the driver begins transactions late and read-then-write loses updates.
Here the driver's own transactions are off, and every transaction that writes begins with BEGIN IMMEDIATE.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from arena.errors import StoreError

BUSY_TIMEOUT_SECONDS = 30


def open_engine(path: Path) -> Engine:
    """Return an engine for the SQLite file at ``path``; on a read-only file system it can still be read."""
    url = f"sqlite:///{path}"
    if path.exists() and not os.access(path.parent, os.W_OK):
        url = f"sqlite:///file:{quote(str(path))}?immutable=1&uri=true"
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "isolation_level": None})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: Any, _record: Any) -> None:
    """With a write ahead log kill -9 loses nothing; what a power cut may lose has no record and is played again."""
    connection.execute("PRAGMA synchronous = NORMAL")


def use_write_ahead_log(engine: Engine, path: Path) -> None:
    """Make a new database keep a write ahead log; the file remembers it."""
    with _explained(path), closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA journal_mode = WAL")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("arena_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine, path: Path) -> Iterator[Connection]:
    """Open a transaction that reads."""
    with _explained(path), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine, path: Path) -> Iterator[Connection]:
    """Open a transaction that writes: all of it happens, or nothing."""
    with _explained(path), engine.connect().execution_options(arena_writes=True) as connection, connection.begin():
        yield connection


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"{path}: {_reason(str(error.orig))}") from error


def _reason(text: str) -> str:
    reasons = {
        "readonly": "the database can't be written; check the permissions of the file and its directory",
        "full": "the disk is full; nothing that was recorded is lost",
        "disk I/O": "the disk reports an error, or is full; nothing that was recorded is lost",
        "not a database": "this file is no arena database",
        "malformed": "the database is damaged; restore it from a copy",
        "locked": f"another program has kept the database locked for {BUSY_TIMEOUT_SECONDS} s",
        "unable to open": "the database can't be opened; check that its directory exists and can be written",
    }
    return next((reason for sign, reason in reasons.items() if sign in text), f"the database refuses: {text}")
