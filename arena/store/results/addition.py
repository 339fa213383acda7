"""What is added to a database from another one, and the database of another home, which may be hostile."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, select

from arena.base.definition import Definition
from arena.base.enums import EventKind
from arena.base.errors import StoreError
from arena.base.records import ScheduledMatch
from arena.base.text import size_text
from arena.store.results.connection import Database, reason_of
from arena.store.results.correction_log import SetAside, Skipped, correction_row
from arena.store.results.events import about_matches, add_event
from arena.store.results.rows import RecordRow, as_json
from arena.store.results.schema import (
    corrections,
    matches,
    metadata,
    records,
    seasons,
    set_aside,
    skipped,
    tournaments,
    voids,
)
from arena.store.results.statements import (
    Counters,
    add_to_counters,
    chunks,
    count_rows_again,
    insert_lines,
    insert_records,
    scheduled_match,
)
from arena.store.results.tournament_reader import TournamentReader
from arena.store.results.values import Correction, StoredTournament
from arena.store.results.whole_database import back_up, bring_up_to_date

# A database from which tournaments are taken into another one, or exported whole: every row, as it is stored.
#
# Rows are read one by one: the database may come from another person.


class VoidTry(NamedTuple):
    """A try that ended because the arena failed, why and when (UTC, ISO 8601)."""

    match: int
    reason: str
    at: str


class Source(TournamentReader):
    """The tournaments of a database with all that is stored of them."""

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def lines(self, tournament: StoredTournament) -> Iterator[ScheduledMatch]:
        """Yield the whole schedule, in order."""
        definition = tournament.definition
        query = select(matches).where(matches.c.tournament_id == tournament.number).order_by(matches.c.match)
        return (scheduled_match(row, definition) for row in self._database.each(query))

    def record_texts(self, tournament: StoredTournament) -> Iterator[tuple[int, str]]:
        """Yield the number of each match that has a record, and the record as it is stored, in order."""
        query = select(records.c.match, records.c.record).where(records.c.tournament_id == tournament.number)
        return ((row.match, row.record) for row in self._database.each(query.order_by(records.c.match)))

    def voids(self, tournament: StoredTournament) -> Iterator[VoidTry]:
        """Yield the void tries, the oldest first."""
        query = select(voids.c.match, voids.c.reason, voids.c.at).where(voids.c.tournament_id == tournament.number)
        return (VoidTry(*row) for row in self._database.each(query.order_by(voids.c.id)))

    def set_aside(self, tournament: StoredTournament) -> Iterator[SetAside]:
        """Yield the records that corrections have set aside, by match."""
        key = (set_aside.c.match, set_aside.c.correction)
        query = select(*key, set_aside.c.record).where(set_aside.c.tournament_id == tournament.number).order_by(*key)
        return (SetAside(*row) for row in self._database.each(query))

    def skipped(self, tournament: StoredTournament) -> Iterator[Skipped]:
        """Yield the matches that corrections have taken out of the schedule, by match."""
        key = (skipped.c.match, skipped.c.correction)
        query = select(*key).where(skipped.c.tournament_id == tournament.number).order_by(*key)
        return (Skipped(*row) for row in self._database.each(query))


RECORDS_AT_A_TIME = 20
"""Records of another home may be large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is added; its iterables are read while it is written.

    Attributes:
        tournament: the number of the tournament that it is added to; None for a new one.
        definition: the tournament's, afterwards.
        created_at: of a new tournament: UTC, ISO 8601.
        finished_at: None if it is not finished.
        voids: tries without a result.
        corrections: the log of a new tournament.
        set_aside: of a new tournament: the records that don't count, each with the number of its correction.
        skipped: of a new tournament: the matches that are not played.
        replaces: the whole tournament that it is added to, which keeps its number; as if it were a new one.
    """

    tournament: int | None
    definition: Definition
    created_at: str
    finished_at: str | None
    lines: Iterable[ScheduledMatch] = ()
    records: Iterable[RecordRow] = ()
    voids: Iterable[VoidTry] = ()
    corrections: Sequence[Correction] = ()
    set_aside: Iterable[tuple[int, RecordRow]] = ()
    skipped: Iterable[Skipped] = ()
    replaces: bool = False


def insert_addition(connection: Connection, addition: Addition) -> None:
    """Write what is added."""
    number = _tournament(connection, addition)
    insert_lines(connection, number, addition.lines)
    recorded: list[int] = []
    for rows in chunks(addition.records, RECORDS_AT_A_TIME):
        insert_records(connection, number, rows)
        recorded += (row.match for row in rows)
    key = {"tournament_id": number}
    for tries in chunks(addition.voids):
        connection.execute(voids.insert(), [{**key, **void._asdict()} for void in tries])
    for logged in chunks(addition.corrections):
        connection.execute(corrections.insert(), [{**key, **correction_row(line)} for line in logged])
    for pairs in chunks(addition.set_aside, RECORDS_AT_A_TIME):
        connection.execute(set_aside.insert(), [{**key, **_row_aside(*pair)} for pair in pairs])
        add_to_counters(connection, number, Counters(record_bytes=sum(len(row.record) for _, row in pairs)))
    for left_out in chunks(addition.skipped):
        connection.execute(skipped.insert(), [{**key, **line._asdict()} for line in left_out])
    add_event(connection, number, EventKind.IMPORTED, about_matches(recorded))


def _tournament(connection: Connection, addition: Addition) -> int:
    definition = addition.definition
    values: dict[str, Any] = {"definition": as_json(definition.to_json()), "finished_at": addition.finished_at}
    if addition.tournament is None:
        new = {"name": definition.name, "created_at": addition.created_at, "format": definition.format}
        key = connection.execute(tournaments.insert(), {**values, **new}).inserted_primary_key
        return int(key[0]) if key is not None else 0
    if addition.replaces:
        remove_contents(connection, addition.tournament, but=(seasons,))
        values |= Counters()._asdict()
    connection.execute(tournaments.update().where(tournaments.c.id == addition.tournament).values(**values))
    return addition.tournament


def remove_contents(connection: Connection, tournament: int, but: Collection[Table] = ()) -> None:
    """Remove what belongs to a tournament except its own row and the rows in tables ``but``, in a transaction."""
    for table in metadata.sorted_tables:
        if "tournament_id" in table.c and table not in but:
            connection.execute(table.delete().where(table.c.tournament_id == tournament))


def _row_aside(correction: int, row: RecordRow) -> dict[str, Any]:
    return {**row._asdict(), "correction": correction, "faults": as_json(row.faults)}


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
            " set $TMPDIR to another directory"
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
