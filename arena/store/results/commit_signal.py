"""Says cheaply, some microseconds at a time, whether anything may have been committed to a database."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from arena.base.errors import StoreAwayError, StoreError
from arena.store.results.connection import DRIVER_ERRORS, Database, reason_of


class CommitSignal:
    """A connection of its own that looks for commits; for one thread at a time, and to be closed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._file: Any = None
        self._identity = (0, 0)
        self._server: Connection | None = None

    def read(self) -> str:
        """Return a text that differs from the one before if another connection has committed in between.

        It may also differ without a commit. When another file has taken the place of an SQLite database, it differs,
        and all later reading is from the new file.
        """
        return self._of_server() if self._database.path is None else self._of_file()

    def close(self) -> None:
        """Close the connection; ``read`` would open it again."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._server is not None:
            with suppress(DBAPIError):
                self._server.close()
            self._server = None

    def _of_file(self) -> str:
        path = self._database.path
        assert path is not None
        try:
            status = path.stat()
        except OSError as error:
            self.close()
            raise StoreError(f"{self._database.shown}: can't be read: {error.strerror}") from error
        identity = (status.st_dev, status.st_ino)
        if identity != self._identity:
            self.close()
            self._database.close()  # its connections would read the file that was there before
            self._identity = identity
        try:
            if self._file is None:
                self._file = self._database.raw_connection()
            ((version,),) = self._file.cursor().execute("PRAGMA data_version").fetchall()
        except DRIVER_ERRORS as error:
            self.close()
            raise StoreError(f"{self._database.shown}: {reason_of(error)}") from error
        return f"{identity[0]}/{identity[1]}/{version}"

    def _of_server(self) -> str:
        """Return which transactions have ended: every commit changes that."""
        try:
            if self._server is None:
                self._server = self._database.dedicated_connection()
            return str(self._server.exec_driver_sql("SELECT CAST(pg_current_snapshot() AS text)").scalar_one())
        except DBAPIError as error:
            self.close()
            raise StoreAwayError(f"{self._database.shown}: the database server can't be reached") from error


class Commits:
    """Whether it is time to look at some databases: after a commit, and now and then for what only time changes."""

    def __init__(
        self, signals: Sequence[CommitSignal], most_seconds: float, now: Callable[[], float] = lambda: time.monotonic()
    ) -> None:
        """Take the first look at databases, whose signals are closed with this.

        ``most_seconds`` pass at most from a look to the next if nothing is committed.
        """
        self._signals, self._most_seconds, self._now = signals, most_seconds, now
        self._seen: list[str] = []
        self._look_at = now()

    def are_new(self) -> bool:
        """Return whether something may have been committed since the last time, or that is long ago."""
        seen = [signal.read() for signal in self._signals]
        if seen == self._seen and self._now() < self._look_at:
            return False
        self._seen, self._look_at = seen, self._now() + self._most_seconds
        return True

    def close(self) -> None:
        """Close the signals."""
        for signal in self._signals:
            signal.close()
