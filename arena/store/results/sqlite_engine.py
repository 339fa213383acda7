"""Engines of SQLAlchemy for SQLite files, and the pool of all connections."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.util import LRUCache

from arena.base.errors import StoreError
from arena.base.folder import open_ordinary

BUSY_TIMEOUT_SECONDS = 30


class Pool(QueuePool):
    """A pool of connections; a connection that comes back after the pool was closed is closed too."""

    _sqla_logger_namespace = f"{QueuePool.__module__}.{QueuePool.__name__}"
    """The name under which SQLAlchemy logs: below ``arena``, its lines would appear among the arena's own."""

    _is_disposed = False

    def dispose(self) -> None:
        """Close the connections that are in the pool, and later those that come back."""
        self._is_disposed = True
        super().dispose()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        if self._is_disposed:
            super().dispose()


class _Dialect(SQLiteDialect_pysqlite):
    """The dialect of all SQLite files: equal to that of any other one, so that they share compiled statements."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Dialect)

    def __hash__(self) -> int:
        return hash(_Dialect)


registry.register("sqlite.arena", __name__, _Dialect.__name__)
_DRIVER = "sqlite+arena"

_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def _check_journal(path: Path) -> None:
    """Raise StoreError if the journal beside a database names a file, which SQLite would remove at the first look.

    SQLite writes a name at the end of a journal for transactions over several databases, which the arena never has.
    """
    journal = Path(f"{path.resolve()}-journal")
    try:
        with os.fdopen(open_ordinary(journal), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - len(_JOURNAL_MAGIC)))
            is_naming = file.read() == _JOURNAL_MAGIC
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StoreError(f"{journal}: can't be read: {error.strerror or error}") from error
    if is_naming:
        raise StoreError(f"{journal}: it names a file that SQLite would remove; no arena has written it, so remove it")


_COMPILED: MutableMapping[Any, Any] = LRUCache(500)


def sqlite_engine(path: Path, max_value_bytes: int | None) -> Engine:
    """Return an engine for the file at ``path``; on a read-only file system it can still be read.

    Raises:
        StoreError: if the journal beside it is not one of an arena.
    """
    _check_journal(path)
    url = URL.create(_DRIVER, database=str(path))  # in a text, SQLAlchemy would take a "?" for the end of the path
    if path.exists() and not os.access(path.parent, os.W_OK):
        url = URL.create(_DRIVER, database=f"file:{quote(str(path))}", query={"immutable": "1", "uri": "true"})
    connect_args = {"timeout": BUSY_TIMEOUT_SECONDS, "isolation_level": None}
    engine = create_engine(
        url,
        poolclass=Pool,
        connect_args=connect_args,
        hide_parameters=True,
        execution_options={"compiled_cache": _COMPILED},
    )
    event.listen(engine, "connect", _set_up)
    if max_value_bytes is not None:
        event.listen(engine, "connect", lambda raw, _: raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_value_bytes))
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: Any, _record: Any) -> None:
    """With a write ahead log kill -9 loses nothing; what a power cut may lose has no record and is played again."""
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from another arena
    except BaseException:
        connection.close()  # the pool forgets a connection that can't be set up, without closing it
        raise


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("arena_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
