"""One director per tournament: a lock the system releases when the director ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Protocol

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from arena.errors import StoreAwayError, StoreError
from arena.store.connection import Database


class DirectorLock(Protocol):
    """Held by the director of a tournament while it runs. A context manager."""

    def __enter__(self) -> DirectorLock: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


class FileLock:
    """A lock on a file beside an SQLite database."""

    def __init__(self, directory: Path, tournament: str) -> None:
        self._path = directory / f"{tournament}.lock"
        self._tournament = tournament
        self._descriptor = -1

    def __enter__(self) -> FileLock:
        """Acquire the lock.

        Raises:
            StoreError: if another director holds it, or the directory can't be written.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise StoreError(f"{self._path}: can't be written: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 100).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise StoreError(
                f"tournament {self._tournament!r} is being run by another director (process {holder});"
                " nothing was changed"
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._descriptor)


class ServerLock:
    """An advisory lock of a PostgreSQL server, bound to a connection; acquired again after a lost connection."""

    def __init__(self, database: Database, tournament: str) -> None:
        self._database = database
        self._tournament = tournament
        self._key = int.from_bytes(blake2b(f"arena {tournament}".encode(), digest_size=8).digest(), "big", signed=True)
        self._connection: Connection | None = None

    def __enter__(self) -> ServerLock:
        """Acquire the lock.

        Raises:
            StoreError: if another director holds it.
        """
        self._take()
        self._database.when_back = self._take
        return self

    def _take(self) -> None:
        self._release()
        connection = self._database.dedicated_connection()
        try:
            got = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": self._key}).scalar()
        except DBAPIError as error:
            connection.invalidate()
            raise StoreAwayError(f"{self._database.shown}: the database server can't be reached") from error
        if not got:
            connection.close()
            raise StoreError(f"tournament {self._tournament!r} is being run by another director; nothing was changed")
        self._connection = connection

    def _release(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(DBAPIError):
                self._connection.invalidate()  # closing it for good is what releases the lock
                self._connection.close()
            self._connection = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._database.when_back = lambda: None
        self._release()
