"""The tables of people, and how they are read. Of secrets they have digests alone."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Index,
    MetaData,
    Table,
    false,
    func,
    not_,
    or_,
    select,
)
from sqlalchemy.schema import SchemaItem

from arena.store.people.values import Clock, EmbargoedTournament, LogEntry, Role, SubmissionState
from arena.store.results.connection import Database, Repository
from arena.store.results.schema import (
    BigInteger,
    Integer,
    Member,
    OptionalBigInteger,
    OptionalInteger,
    OptionalString,
    String,
    Text,
)

SCHEMA_VERSION = 5


class TimedRepository(Repository):
    """A repository that writes the time with its rows, or compares it with theirs."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._clock = clock


metadata = MetaData()


def numbered(name: str, *parts: SchemaItem) -> Table:
    """Return a table whose rows have numbers, of which none is given a second time."""
    return Table(name, metadata, Column("id", Integer, primary_key=True), *parts, sqlite_autoincrement=True)


SUBMITTING = "submitting"
"""The key in ``people_meta`` of what is locked by submissions, and by whoever must know all of them up to now."""

meta = Table(
    "people_meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False)
)

people = numbered(
    "people",
    Column("name", String(64), nullable=False, unique=True),
    Column("look_alike_key", String(64), nullable=False, unique=True),
    Column("role", Member(Role, "role", 16), nullable=False),
    Column("password_hash", OptionalString(200)),
    Column("created_at", String(40), nullable=False),
    Column("closed_at", OptionalString(40)),
)

sessions = numbered(
    "sessions",
    Column("digest", String(64), nullable=False, unique=True),
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("began_at", String(40), nullable=False),
    Column("seen_at", String(40), nullable=False),
    Column("expires_at", String(40), nullable=False),
    Column("device", String(200), nullable=False),
    Column("address", String(64), nullable=False),
    Index("sessions_by_person", "person_id"),
)

tokens = numbered(
    "tokens",
    Column("digest", String(64), nullable=False, unique=True),
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("name", String(64), nullable=False),
    Column("scopes", String(64), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("expires_at", String(40), nullable=False),
    Column("seen_at", OptionalString(40)),
    Index("tokens_by_person", "person_id"),
)

invitations = numbered(
    "invitations",
    Column("digest", String(64), nullable=False, unique=True),
    Column("role", Member(Role, "role", 16), nullable=False),
    Column("person_id", OptionalInteger, ForeignKey("people.id")),
    Column("made_by", String(64), nullable=False),
    Column("expires_at", String(40), nullable=False),
    Column("used_at", OptionalString(40)),
)

submissions = numbered(
    "submissions",
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("upload", String(64), nullable=False, unique=True),
    Column("digest", String(64), nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("file_name", String(200), nullable=False),
    Column("note", Text, nullable=False),
    Column("state", Member(SubmissionState, "state", 16), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("finished_at", OptionalString(40)),
    Column("bot", OptionalString(140)),
    Column("reason", Text, nullable=False),
    Column("report", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("turn", OptionalInteger),
    Column("claimed_at", OptionalString(40)),
    Column("copy_bytes", OptionalBigInteger),
    Column("claim", OptionalString(64)),
    Column("claimed_until", OptionalString(40)),
    Index("submissions_by_state", "state", "id"),
    Index("submissions_by_person", "person_id", "id"),
)

bot_owners = Table(
    "bot_owners",
    metadata,
    Column("look_alike_key", String(200), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("person_id", ForeignKey("people.id"), nullable=False),
)

log = Table(
    "log",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", String(40), nullable=False),
    Column("by", String(64), nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("reason", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("tournament", OptionalString(64)),
)

rates = Table(
    "rates",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("free_at_milliseconds", BigInteger, nullable=False),
)


def count_rows(connection: Connection, *conditions: ColumnElement[bool]) -> int:
    """Return how many rows fulfil conditions on one table."""
    return int(connection.execute(select(func.count()).where(*conditions)).scalar_one())


# The public log: written in the transaction of what it tells, and never changed.

PAGE_LENGTH = 100


def add_line(
    connection: Connection,
    at: str,
    by: str,
    action: str,
    subject: str,
    reason: str,
    tournament: str | None = None,
    details: str = "",
) -> None:
    """Write a line, in a transaction that makes the change.

    A new line about a tournament is held back while its results are embargoed.
    """
    connection.execute(meta.update().where(meta.c.key == "log").values(value="1"))  # one writer at a time
    last = connection.execute(select(func.coalesce(func.max(log.c.number), 0))).scalar_one()
    row = {"number": last + 1, "at": at, "by": by, "action": action, "subject": subject, "reason": reason}
    connection.execute(log.insert(), row | {"details": details, "tournament": tournament})


class PublicLog(Repository):
    """Reads the log."""

    def lines(
        self, *, hidden: Collection[EmbargoedTournament], before: int | None = None, most: int = PAGE_LENGTH
    ) -> list[LogEntry]:
        """Return the latest lines, the latest first, without the new ones about hidden tournaments.

        The numbers have no gaps, which would tell that something is held back.
        """
        held_back = ((log.c.tournament == tournament.name) & (log.c.at >= tournament.since) for tournament in hidden)
        is_visible = log.c.tournament.is_(None) | not_(or_(false(), *held_back))

        def read(connection: Connection) -> list[LogEntry]:
            count = connection.execute(select(func.count()).select_from(log).where(is_visible)).scalar_one()
            last = count if before is None else min(count, before - 1)
            first = max(0, last - most)
            page = select(log).where(is_visible).order_by(log.c.number).offset(first).limit(last - first)
            lines = (row._mapping for row in connection.execute(page))
            return [LogEntry(**{**line, "number": number}) for number, line in enumerate(lines, first + 1)][::-1]

        return self._database.read(read)
