"""Opening the database, and turning its errors into one sentence each.

Left alone, SQLite's driver begins transactions late, and read-then-write loses updates: here every transaction that
writes begins with BEGIN IMMEDIATE. PostgreSQL is a server and may go away: what was not committed is done again when it
is back, for as long as the caller has patience.
"""

from __future__ import annotations

import re
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    CursorResult,
    Engine,
    Executable,
    Select,
    Table,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from arena.base.errors import DatabaseError, StoreAwayError, StoreError, UnwritableError
from arena.base.known_server import session_name
from arena.store.results.sqlite_engine import BUSY_TIMEOUT_SECONDS, Pool, sqlite_engine

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

CONNECT_TIMEOUT_SECONDS = 10
TRY_AGAIN_SECONDS = 0.5
BUSY_SECONDS = 0.01
FEW_ROWS = 20
SNAPSHOT = MappingProxyType({"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})

PASSWORDS = ("password", "sslpassword")
"""Parameters after the question mark of a URL that hold passwords."""

DRIVER_ERRORS = (DBAPIError, sqlite3.Error)
"""The errors of connections: those of SQLAlchemy, and those of the driver for raw connections."""

NO_VALUES: Mapping[str, Any] = MappingProxyType({})

Value = TypeVar("Value")
Work = Callable[[Connection], Value]


def _fetched(result: CursorResult[Any]) -> list[tuple[Any, ...]]:
    assert result.cursor is not None  # it is of a query
    return list(result.cursor.fetchall())


class Database:
    """An SQLite file or a PostgreSQL server.

    Attributes:
        shown: its name in messages: the path, or the URL without its password.
        patience_seconds: how long to retry when the server can't be reached.
        when_back: called before the first transaction after one that was lost, by whichever caller.
    """

    def __init__(self, place: Path | str, *, shown: str | None = None, max_value_bytes: int | None = None) -> None:
        """Prepare a database at a path, or at a URL.

        Args:
            shown: its name in messages, if it is the copy of another one.
            max_value_bytes: the largest value that is read from an SQLite file; None for SQLite's own bound.

        Raises:
            StoreError: if the URL is not accepted, or the driver is missing.
        """
        self.patience_seconds = 0.0
        self.when_back: Callable[[], None] = lambda: None
        self._was_away = False
        self._reading: set[Connection] = set()
        self._shared = threading.local()
        self._sleep = time.sleep
        self._now = time.monotonic
        self.path = place if isinstance(place, Path) else None
        if isinstance(place, Path):
            self.shown, self._engine = str(place), sqlite_engine(place, max_value_bytes)
        else:
            self.shown, self._engine = _server(place)
        self.shown = shown or self.shown

    @property
    def is_server(self) -> bool:
        """Whether it is a server that several machines can reach."""
        return self.path is None

    def read(self, work: Work[Value]) -> Value:
        """Run ``work`` in a transaction that reads."""
        if (shared := self._shared_connection) is None:
            return self._retrying(lambda: self._transact(work, writes=False))
        with self._failing_as_ours(writes=False):
            return work(shared)

    @property
    def _shared_connection(self) -> Connection | None:
        return getattr(self._shared, "connection", None)

    @contextmanager
    def one_transaction(self) -> Iterator[None]:
        """Have what this thread reads within share a transaction, which sees the database as it is at one instant.

        To begin and end one costs more than a look-up. Nothing is tried again within, and the write ahead log of a file
        grows while it lasts.
        """
        if self._shared_connection is not None:
            yield
            return
        options = SNAPSHOT if self.is_server else NO_VALUES
        with (
            self._connect() as connection,
            self._failing_as_ours(writes=False),
            connection.execution_options(**options).begin(),
        ):
            self._shared.connection = connection
            try:
                yield
            finally:
                self._shared.connection = None

    def write(self, work: Work[Value], again: Work[Value] | None = None) -> Value:
        """Run ``work`` in a transaction that writes: all of it happens, or nothing.

        ``again`` runs instead when a server went away and it is unknown whether ``work`` was committed; by default the
        same.
        """
        tries = iter([work])
        return self._retrying(lambda: self._transact(next(tries, again or work), writes=True))

    def rows(self, query: Executable, values: Mapping[str, Any] = NO_VALUES) -> list[Any]:
        """Return the rows of a query; ``values`` are those that it leaves open.

        To make a query takes several times as long as to ask one that was made before.
        """
        return self.read(lambda connection: list(connection.execute(query, values).all()))

    def tuples(self, query: Executable) -> list[tuple[Any, ...]]:
        """Return the rows of a query as the driver makes them, without names: of a million in half the time."""
        return self.read(lambda connection: _fetched(connection.execute(query)))

    def row(self, query: Select[Any], values: Mapping[str, Any] = NO_VALUES) -> Any:
        """Return the only row of a query; None without one."""
        return self.read(lambda connection: connection.execute(query, values).one_or_none())

    def one(self, query: Select[Any], make: Callable[[Any], Value]) -> Value | None:
        """Return what is made of the only row of a query; None without one."""
        row = self.row(query)
        return make(row) if row is not None else None

    def scalar(self, query: Select[Value], values: Mapping[str, Any] = NO_VALUES) -> Value | None:
        """Return the first value of the first row of a query; None without one."""
        return self.read(lambda connection: connection.execute(query, values).scalar())

    def scalars(self, query: Select[Value]) -> list[Value]:
        """Return the first value of each row of a query."""
        return self.read(lambda connection: list(connection.execute(query).scalars().all()))

    def number(self, query: Select[Any]) -> int:
        """Return the only value of a query, such as a count."""
        return int(self.read(lambda connection: connection.execute(query).scalar_one()))

    def execute(self, statement: Executable, values: Mapping[str, Any] | None = None) -> None:
        """Run a statement that writes, in a transaction of its own."""
        self.write(lambda connection: connection.execute(statement, values))

    def read_snapshot(self, work: Work[Value]) -> Value:
        """Run ``work`` in a transaction that reads, in which every query sees the database as it is at one instant."""
        with self.one_transaction():
            return self.read(work)

    def _transact(self, work: Work[Value], writes: bool) -> Value:
        with (
            self._connect() as connection,
            self._failing_as_ours(writes),
            connection.execution_options(arena_writes=writes).begin(),
        ):
            return work(connection)

    @contextmanager
    def _failing_as_ours(self, writes: bool) -> Iterator[None]:
        """Raise an error of the store in place of one of SQLAlchemy."""
        try:
            yield
        except DBAPIError as error:
            if self.is_server and (error.connection_invalidated or _is_shutdown(error)):
                raise self._away_error(error) from error
            kind = UnwritableError if writes and _is_unwritable(error) else DatabaseError
            raise kind(f"{self.shown}: {reason_of(error)}") from error

    def each(self, query: Select[Any]) -> Iterator[Any]:
        """Yield the rows of a query from one transaction, never holding more than a few."""
        query = query.execution_options(yield_per=FEW_ROWS)
        with self._failing_as_ours(writes=False):
            if (shared := self._shared_connection) is not None:
                yield from shared.execute(query)
                return
            with self._connect() as connection:
                self._reading.add(connection)
                try:
                    with connection.begin():
                        yield from connection.execute(query)
                finally:
                    self._reading.discard(connection)

    def _connect(self) -> Connection:
        try:
            return self._engine.connect()
        except DBAPIError as error:
            if self.is_server:
                raise self._away_error(error) from error
            raise DatabaseError(f"{self.shown}: {reason_of(error)}") from error

    def _away_error(self, error: DBAPIError) -> StoreAwayError:
        reason = " ".join(str(error.orig).split("\n")[0].split())
        return StoreAwayError(f"{self.shown}: the database server can't be reached: {reason}")

    def _retrying(self, attempt: Callable[[], Value]) -> Value:
        deadline = self._now() + self.patience_seconds
        while True:
            try:
                if self._was_away:
                    self.when_back()
                    self._was_away = False
                return attempt()
            except StoreAwayError:
                self._was_away = True
                if self._now() >= deadline:
                    raise
            self._sleep(TRY_AGAIN_SECONDS)

    def use_write_ahead_log(self) -> None:
        """Make a new SQLite file keep a write ahead log; the file remembers it."""
        if self.path is None:
            return
        deadline = self._now() + BUSY_TIMEOUT_SECONDS
        try:
            with closing(self.raw_connection()) as connection:
                while not self._has_switched(connection, is_last_try=self._now() >= deadline):
                    self._sleep(BUSY_SECONDS)
        except DRIVER_ERRORS as error:
            raise DatabaseError(f"{self.shown}: {reason_of(error)}") from error

    def _has_switched(self, connection: Any, is_last_try: bool) -> bool:
        """Return whether a file could be given its log; SQLite doesn't wait for others by itself here."""
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if is_last_try or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def overwrite_deleted(self) -> None:
        """Let an SQLite file overwrite what is deleted from it, in connections that are opened from now on."""
        if self.path is not None:
            event.listen(self._engine, "connect", lambda raw, _: raw.execute("PRAGMA secure_delete = ON"))

    def dedicated_connection(self) -> Connection:
        """Return a separate connection, for a lock that is held as long as it is open."""
        return self._connect().execution_options(isolation_level="AUTOCOMMIT")

    def raw_connection(self) -> Any:
        """Return a separate connection as the driver knows it, without transactions of our own.

        It is not part of the pool: it ends when it is closed, even if this database was closed before.
        """
        connection = self._engine.raw_connection()
        connection.detach()
        return connection

    def close(self) -> None:
        """Close all connections, also those of rows that nobody has read to their end.

        What another thread still uses is closed when it is done.
        """
        for connection in tuple(self._reading):
            connection.invalidate()
        self._engine.dispose()


class Repository:
    """Reads and writes one kind of rows in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database


def shown_url(url: URL | str) -> str:
    """Return a URL as messages show it, without the passwords that it may have."""
    return make_url(url).difference_update_query(PASSWORDS).render_as_string(hide_password=True)


def _server(text: str) -> tuple[str, Engine]:
    """Return the name of a server in messages, and an engine for it."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # such as a port that is no number
        shown = re.sub("://.*@", "://***@", text, flags=re.DOTALL)  # where the password is, is not known
        raise StoreError(f"store {shown!r}: expected a URL such as postgresql://user@host/database") from None
    shown = shown_url(url)
    if url.get_backend_name() != "postgresql":
        raise StoreError(f"store {shown!r}: expected a URL such as postgresql://user@host/database")
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            poolclass=Pool,
            connect_args={
                "connect_timeout": CONNECT_TIMEOUT_SECONDS,
                "fallback_application_name": session_name(socket.gethostname()),
            },
            hide_parameters=True,
            pool_pre_ping=True,
        )
    except (ModuleNotFoundError, NoSuchModuleError):
        raise StoreError(
            f"store {shown!r}: needs the package psycopg; try: pip install 'grid-arena[postgres]'"
        ) from None
    return shown, engine


def _is_shutdown(error: DBAPIError) -> bool:
    """Return whether the server is shutting down or the connection is lost (SQLSTATE classes 08 and 57P)."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return state.startswith(("08", "57P"))


def insert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an insert of the database's dialect, which can say what happens to a row that exists already."""
    if connection.dialect.name != "postgresql":
        return sqlite.insert(table)
    from sqlalchemy.dialects.postgresql import insert  # three megabytes of memory, which a file does not need

    return insert(table)


UNWRITABLE_SIGNS = ("readonly", "full", "disk I/O", "No space left", "unable to open")
"""Parts of the messages of a database that can't be written; a full disk has several names."""


def _is_unwritable(error: DBAPIError) -> bool:
    return any(sign in str(error.orig) for sign in UNWRITABLE_SIGNS)


def reason_of(error: Exception | str) -> str:
    """Return what a director can do about an error of a database, or the error itself."""
    text = str(error.orig if isinstance(error, DBAPIError) else error)
    reasons = {
        "readonly": "the database can't be written; check the permissions of the file and its directory",
        "full": "the disk is full; nothing that was recorded is lost",
        "disk I/O": "the disk reports an error, or is full; nothing that was recorded is lost",
        "No space left": "the server's disk is full; nothing that was recorded is lost",
        "not a database": "this file is no arena database",
        "malformed": "the database is damaged; restore it from a copy",
        "too big": "the database holds a value that is larger than an arena stores",
        "locked": f"another program has kept the database locked for {BUSY_TIMEOUT_SECONDS} s",
        "unable to open": "the database can't be opened; check that its directory exists and can be written",
    }
    return next(
        (reason for sign, reason in reasons.items() if sign in text),
        f"the database refuses: {' '.join(text.split())}",
    )
