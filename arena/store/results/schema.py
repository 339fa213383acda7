"""The tables of a store, and types of columns whose values are checked when they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy import Column, Connection, ForeignKey, Index, MetaData, Table
from sqlalchemy.dialects import registry
from sqlalchemy.schema import CreateIndex, CreateTable

from arena.base.enums import AnalysisState, CorrectionKind, EventKind, FaultKind
from arena.base.errors import StoreError
from arena.base.text import any_of
from arena.store.results.connection import Repository

T = TypeVar("T")


def expected(*kinds: type) -> Callable[[Any], Any]:
    """Return the check of a column that holds values of these types."""

    def checked(value: Any) -> Any:
        if type(value) not in kinds:
            raise StoreError(f"the database holds {value!r:.80} where {'a number' if int in kinds else 'text'} belongs")
        return value

    return checked


class Checked(sa.TypeDecorator[Any]):
    """A column whose values ``check`` checks when they are read, by any driver."""

    check: Callable[[Any], Any]

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], Any]:
        """Return what every value read is passed through."""
        return self.check


def _checked(impl: type[sa.types.TypeEngine[Any]], *kinds: type) -> type[Checked]:
    members = {"impl": impl, "cache_ok": True, "check": staticmethod(expected(*kinds))}
    return type(impl.__name__, (Checked,), members)


Integer = _checked(sa.Integer, int)
OptionalInteger = _checked(sa.Integer, int, type(None))
BigInteger = _checked(sa.BigInteger, int)
OptionalBigInteger = _checked(sa.BigInteger, int, type(None))
String = _checked(sa.String, str)
OptionalString = _checked(sa.String, str, type(None))
Text = _checked(sa.Text, str)


class Label(Checked):
    """A column of bots (``name@version``), in the same order in every database: by code point."""

    impl = sa.String
    cache_ok = True
    check = staticmethod(expected(str))

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Return the column's type in a database."""
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(sa.String(140, collation))


class Member(Checked):
    """A column of members of an enumeration."""

    impl = sa.String
    cache_ok = True

    def __init__(self, members: type[StrEnum], noun: str, length: int) -> None:
        super().__init__(length)
        self.members, self.noun = members, noun

    def check(self, value: Any) -> StrEnum:
        """Return the member of a value."""
        try:
            return self.members(value)
        except ValueError:
            raise StoreError(
                f"the database holds {value!r:.80} where a {self.noun} belongs; expected {any_of(list(self.members))}"
            ) from None


Arguments = ParamSpec("Arguments")
Rows = TypeVar("Rows", bound=Repository)


def writes(
    method: Callable[Concatenate[Rows, sa.Connection, Arguments], T],
) -> Callable[Concatenate[Rows, Arguments], T]:
    """Run a method of a repository in a transaction that writes: all of it happens, or nothing."""

    @wraps(method)
    def in_transaction(rows: Rows, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> T:
        return rows._database.write(lambda connection: method(rows, connection, *arguments, **named))

    return in_transaction


def is_same_match(table: Table, other: Table) -> sa.ColumnElement[bool]:
    """Return the condition that rows of two tables are about one match."""
    return sa.and_(table.c.tournament_id == other.c.tournament_id, table.c.match == other.c.match)


def value_of(kind: type[T], row: Any, **others: Any) -> T:
    """Return a dataclass from a row: its fields are the columns of the same names, but for those that are given.

    The number of something is the column ``id``.
    """
    dataclass: type[Any] = kind
    names = {field.name for field in fields(dataclass)} - others.keys()
    return kind(**{name: row._mapping["id" if name == "number" else name] for name in names}, **others)


def total_of(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Return the sum of a column of whole numbers, 0 without rows; PostgreSQL adds large ones up to a decimal."""
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), BigInteger)


SCHEMA_VERSION = 8

metadata = MetaData()


def match_key(*names: str) -> list[Column[int]]:
    """Return the columns of a key that begins with a tournament."""
    tournament = Column[int]("tournament_id", ForeignKey("tournaments.id"), primary_key=True, autoincrement=False)
    return [tournament, *(Column(name, Integer, primary_key=True, autoincrement=False) for name in names)]


meta = Table("meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("definition", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("finished_at", OptionalString(40)),
    Column("format", String(32), nullable=False),
    Column("deleted_at", OptionalString(40)),
    Column("deleted_name", OptionalString(64)),
    Column("match_count", Integer, nullable=False, server_default="0"),
    Column("record_count", Integer, nullable=False, server_default="0"),
    Column("record_bytes", BigInteger, nullable=False, server_default="0"),
)

matches = Table(
    "matches",
    metadata,
    *match_key("match"),
    Column("encounter", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("game", Integer, nullable=False),
    Column("seats", Text, nullable=False),
    Column("opening", Integer, nullable=False),
    Column("opening_actions", Text, nullable=False),
    Column("rng_seed", BigInteger, nullable=False),
    Index("matches_by_round", "tournament_id", "round"),
)

records = Table(
    "records",
    metadata,
    *match_key("match"),
    Column("encounter", Integer, nullable=False),
    Column("game", String(200), nullable=False),
    Column("bots", Text, nullable=False),
    Column("ranks", Text, nullable=False),
    Column("termination", String(16), nullable=False),
    Column("start", String(32), nullable=False, key="opening_hash"),
    Column("digest", String(32), nullable=False, key="actions_hash"),
    Column("record", Text, nullable=False),
    Index("records_by_game", "tournament_id", "game", "match"),
    Index("records_by_termination", "tournament_id", "termination", "match"),
)

faults = Table(
    "faults",
    metadata,
    *match_key("match", "seat"),
    Column("game", String(200), nullable=False),
    Column("bot", String(140), nullable=False),
    Column("kind", Member(FaultKind, "kind of fault", 16), nullable=False),
    Index("faults_by_bot", "bot"),
    Index("faults_by_kind", "tournament_id", "kind", "match"),
)

voids = Table(
    "voids",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tournament_id", ForeignKey("tournaments.id"), nullable=False),
    Column("match", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", String(40), nullable=False),
)

bots = Table(
    "bots",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False),
    Column("version", String(64), nullable=False),
    Column("content", String(32), nullable=False, key="digest"),
    Column("entry", Text, nullable=False),
    Column("submitted_at", String(40), nullable=False),
    Index("bots_by_name", "name", "version", unique=True),
)

owners = Table(
    "owners",
    metadata,
    Column("bot", Label, primary_key=True),
    Column("content", String(32), nullable=False, key="digest"),
    Column("person", String(64), nullable=False),
)

corrections = Table(
    "corrections",
    metadata,
    *match_key("number"),
    Column("kind", Member(CorrectionKind, "kind of correction", 16), nullable=False),
    Column("details", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("made_at", String(40), nullable=False),
)

set_aside = Table(
    "set_aside",
    metadata,
    *match_key("match", "correction"),
    *(Column(column.key, column.type, nullable=False) for column in records.c if not column.primary_key),
    Column("faults", Text, nullable=False),
)

skipped = Table(
    "skipped",
    metadata,
    *match_key("match", "correction"),
)

seasons = Table(
    "seasons",
    metadata,
    Column("name", String(64), primary_key=True),
    *match_key(),
)

topics = Table(
    "topics",
    metadata,
    Column("topic", String(80), primary_key=True),
    Column("seq", BigInteger, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("topic", String(80), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Member(EventKind, "kind of event", 16), nullable=False),
    Column("at", String(40), nullable=False),
    Column("body", Text, nullable=False),
    Column("visible_from", OptionalString(40)),
    Index("events_by_time", "at"),
)

seats = Table(
    "seats",
    metadata,
    Column("bot", Label, primary_key=True),
    *match_key("match", "seat", "rival_seat"),
    Column("rival", Label, nullable=False),
    Column("ahead", Integer, nullable=False),
    Column("game", String(200), nullable=False),
    sqlite_with_rowid=False,
)

progress = Table(
    "progress",
    metadata,
    *match_key(),
    Column("at", String(40), nullable=False),
    Column("body", Text, nullable=False),
)

live_matches = Table(
    "live_matches",
    metadata,
    *match_key("match"),
    Column("seq", BigInteger, nullable=False),
    Column("at", String(40), nullable=False),
    Column("body", Text, nullable=False),
)

watches = Table(
    "watches",
    metadata,
    *match_key("match"),
    Column("until", String(40), nullable=False),
)

match_annotations = Table(
    "annotations",
    metadata,
    *match_key("match"),
    Column("actions_hash", String(32), nullable=False),
    Column("accuracy", Text, nullable=False),
    Column("body", Text, nullable=False),
)

analysis_requests = Table(
    "analysis_requests",
    metadata,
    *match_key("match"),
    Column("actions_hash", String(32), nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", Member(AnalysisState, "state of an analysis", 16), nullable=False),
    Column("searched_seconds", Integer, nullable=False),
    Column("arena", String(64), nullable=False),
)


def create_tables(connection: Connection, metadata: MetaData) -> None:
    """Create the tables and indexes that are missing."""
    for statement in _statements(metadata, connection.dialect.name):
        connection.exec_driver_sql(statement)


@cache
def _statements(metadata: MetaData, name: str) -> tuple[str, ...]:
    """Return what creates tables, as a dialect writes it: compiling it takes longer than a file takes to do it."""
    dialect = registry.load(name)()
    statements: list[str] = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table, if_not_exists=True).compile(dialect=dialect)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index, if_not_exists=True).compile(dialect=dialect)) for index in indexes]
    return tuple(statements)
