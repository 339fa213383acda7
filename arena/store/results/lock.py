"""One director per tournament: a lock the system releases when the director ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from hashlib import blake2b
from pathlib import Path
from types import TracebackType

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from arena.base.errors import StoreAwayError, StoreError, failing_as
from arena.base.names import as_file_name
from arena.store.results.connection import Database

TRIES = 3
TRY_AGAIN_SECONDS = 0.02
"""How long to wait for a file that ``file_lock_holders`` may be testing."""


DirectorLock = AbstractContextManager[object]
"""Held by the director of a tournament while it runs."""


class FileLock:
    """A lock on a file."""

    def __init__(self, path: Path, refusal: str) -> None:
        """Prepare a lock at a path; ``refusal`` is the message if another process holds it."""
        self._path, self._refusal = path, refusal
        self._descriptor = -1

    def __enter__(self) -> FileLock:
        """Acquire the lock; StoreError if another process holds it, or the directory can't be written."""
        with contextlib.ExitStack() as opened, failing_as(StoreError, f"{self._path}: can't be written"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
            opened.callback(os.close, self._descriptor)
            if not self._try_to_lock():
                raise StoreError(f"{self._refusal} ({_holder(self._descriptor)}); nothing was changed")
            if (content := os.pread(self._descriptor, 100, 0).strip()) and not content.isdigit():
                raise StoreError(f"{self._path}: it is no lock of an arena, and stays as it is")
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())
            opened.pop_all()
        return self

    def _try_to_lock(self) -> bool:
        for attempt in range(TRIES):
            if attempt:
                time.sleep(TRY_AGAIN_SECONDS)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
        return False

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def director_file_lock(directory: Path, tournament: str) -> FileLock:
    """Return the lock of a tournament in the directory of an SQLite database."""
    return FileLock(_lock_path(directory, tournament), f"tournament {tournament!r} is being run by another director")


def file_lock_holders(directory: Path, tournaments: Iterable[str]) -> dict[str, str]:
    """Return which tournaments have a director now, and its process."""
    holders = {tournament: _holder_of(_lock_path(directory, tournament)) for tournament in tournaments}
    return {tournament: holder for tournament, holder in holders.items() if holder is not None}


def is_file_locked(path: Path) -> bool:
    """Return whether a process holds the lock on a file now."""
    return _holder_of(path) is not None


def _holder_of(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)  # no pipe holds us up
    except OSError:
        return None  # it was never held
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared for an instant, which a holder prevents
    except BlockingIOError:
        return _holder(descriptor)
    finally:
        os.close(descriptor)
    return None


def _lock_path(directory: Path, tournament: str) -> Path:
    return directory / f"{as_file_name(tournament)}.lock"


def _holder(descriptor: int) -> str:
    return f"process {os.pread(descriptor, 100, 0).decode(errors='replace').strip()}"


class ServerLock:
    """An advisory lock of a PostgreSQL server, bound to a connection; acquired again after a lost connection."""

    def __init__(self, database: Database, tournament: str) -> None:
        self._database = database
        self._tournament = tournament
        self._key = _server_key(tournament)
        self._before = database.when_back
        self._connection: Connection | None = None

    def __enter__(self) -> ServerLock:
        """Acquire the lock; StoreError if another director holds it."""
        self._take()
        self._before, self._database.when_back = self._database.when_back, self._take_again
        return self

    def _take_again(self) -> None:
        self._before()
        self._take()

    def _take(self) -> None:
        self._release()
        connection = self._database.dedicated_connection()
        try:
            holder = f"process {os.getpid()} on {socket.gethostname()}"
            query = text("SELECT pg_try_advisory_lock(:key), set_config('application_name', :holder, false)")
            got = connection.execute(query, {"key": self._key, "holder": holder}).scalar()
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
        self._database.when_back = self._before
        if self._connection is not None and not isinstance(error, StoreAwayError):
            with contextlib.suppress(DBAPIError):  # the server notices a closed connection only a little later
                self._connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": self._key})
        self._release()


def server_lock_holders(database: Database, tournaments: Iterable[str]) -> dict[str, str]:
    """Return which tournaments have a director now, and its process and machine."""
    rows = database.rows(_HELD_LOCKS)
    holders = {high << 32 | low: name or "a director" for high, low, name in rows}
    keys = {tournament: _server_key(tournament) % 2**64 for tournament in tournaments}
    return {tournament: holders[key] for tournament, key in keys.items() if key in holders}


_HELD_LOCKS = text(
    "SELECT held.classid, held.objid, session.application_name FROM pg_locks AS held"
    " JOIN pg_stat_activity AS session ON session.pid = held.pid"
    " JOIN pg_database AS here ON here.oid = held.database AND here.datname = current_database()"
    " WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1"
)


def _server_key(tournament: str) -> int:
    return int.from_bytes(blake2b(f"arena {tournament}".encode(), digest_size=8).digest(), "big", signed=True)
