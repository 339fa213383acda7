"""The database of another home, which may be in use, of an earlier version, damaged or hostile.

It is copied into a private directory, and only the copy is opened: nothing is written next to the original, and a copy
of an earlier version is migrated. Values have a bound, and nothing in the file is executed.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from arena.base.errors import StoreError
from arena.base.text import size_text
from arena.store.results.addition import Source
from arena.store.results.connection import Database, reason_of
from arena.store.results.statements import count_rows_again
from arena.store.results.whole_database import back_up, bring_up_to_date

MAX_DATABASE_BYTES = 64 * 2**30
MAX_VALUE_BYTES = 16 * 2**20
MAX_SCHEMA_ENTRIES = 1000
COPY_BYTES = 2**20
OTHERS_SECONDS = 10
"""How long a copy waits for the other programs of a database."""
TRIES = 5
"""How often to try to copy a database that other programs are changing."""

_ACTIVE = re.compile(r"\b(as|check|generated|virtual|where)\b", re.IGNORECASE)
"""Words that no schema of an arena has: SQLite would evaluate their expressions when it reads the tables."""


def open_foreign(path: Path, directory: Path) -> Source:
    """Copy an SQLite database into an empty directory that nobody else can write to, and open the copy.

    StoreError if it is no arena's, is damaged, too large, or made by a newer arena.
    """
    copy = directory / "copy.sqlite3"
    _check_space(path, directory)
    try:
        _copy(path, copy)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {reason_of(error)}") from error
    except OSError as error:
        raise StoreError(f"{path}: can't be copied: {error.strerror}") from error
    check_copy(copy, path)
    database = Database(copy, shown=str(path), max_value_bytes=MAX_VALUE_BYTES)
    try:
        bring_up_to_date(database)
        database.write(count_rows_again)
    except BaseException:
        database.close()
        raise
    return Source(database)


def check_copy(copy: Path, path: Path) -> None:
    """Check a copy, which nobody else can change, of a database at ``path``, before anything is read from it.

    StoreError if it is damaged, or has something that no arena's database has.
    """
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.text_factory = lambda data: data.decode(errors="replace")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
            connection.execute("PRAGMA trusted_schema = OFF")
            _check_schema(connection, path)
            _check_pages(connection, path)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {reason_of(error)}") from error
    except UnicodeError as error:  # in what SQLite says of a damaged schema
        raise StoreError(f"{path}: {reason_of('malformed')}") from error


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _sizes(path: Path) -> dict[str, tuple[int, int]]:
    """Return the size and the time of the last change of each of a database's files."""
    sizes = {}
    for ending in ("", "-wal", "-shm", "-journal"):
        file = _beside(path, ending)
        try:
            status = file.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(f"{file}: can't be read: {error.strerror}") from error
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{file}: expected an ordinary file")
        sizes[ending] = (status.st_size, status.st_mtime_ns)
    if "" not in sizes:
        raise StoreError(f"{path.parent}: there is no arena database here (arena.sqlite3); expected an arena's home")
    return sizes


def _check_space(path: Path, directory: Path) -> None:
    needed = sum(size for size, _ in _sizes(path).values())
    free = shutil.disk_usage(directory).free
    if needed > MAX_DATABASE_BYTES:
        raise StoreError(f"{path}: it has {size_text(needed)}; expected at most {size_text(MAX_DATABASE_BYTES)}")
    if needed > free:
        raise StoreError(
            f"{path}: a copy needs {size_text(needed)} in {directory.parent}, which has {size_text(free)} left;"
            " $TMPDIR names another directory"
        )


def _copy(path: Path, copy: Path) -> None:
    """Copy a database as it was at one instant."""
    for _ in range(TRIES):
        before = _sizes(path)
        if before.get("-journal", (0, 0))[0]:  # it may name files that SQLite would remove
            raise StoreError(
                f"{path}: another program is changing it, or was ended in the middle of it; open it there first"
            )
        if "-shm" in before:  # a program has it open, or was killed
            back_up(path, copy, OTHERS_SECONDS)
            return
        for ending in ("", "-wal"):
            _beside(copy, ending).unlink(missing_ok=True)
            if ending in before:
                _copy_file(_beside(path, ending), _beside(copy, ending))
        if _sizes(path) == before:
            return
    raise StoreError(f"{path}: it changes while it is copied; try again when nothing is run there")


def _copy_file(path: Path, target: Path) -> None:
    """Copy a file, and no more than the bound, even if it has grown since its size was read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as source, target.open("xb") as copy:
        left = MAX_DATABASE_BYTES
        while left > 0 and (data := source.read(min(COPY_BYTES, left))):
            left -= copy.write(data)


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError if the database has anything but tables and indexes of stored values."""
    query = f"SELECT type, name, coalesce(sql, '') FROM sqlite_master LIMIT {MAX_SCHEMA_ENTRIES}"
    for kind, name, sql in connection.execute(query):
        is_plain = isinstance(sql, str) and not _ACTIVE.search(sql)
        if kind not in ("table", "index") or not is_plain or (kind == "index" and sql.count("(") > 1):
            raise StoreError(f"{path}: the {kind} {name!r:.80} is no part of an arena's database")


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError if pages are damaged, or used twice, so that a small file would hold endless rows."""
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != ("ok",):
        raise StoreError(f"{path}: {reason_of('malformed')}")
