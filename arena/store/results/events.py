"""The log of events, by topic, and signals that something may have been committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select, text
from sqlalchemy.exc import DBAPIError

from arena.base.enums import EventKind
from arena.base.errors import StoreAwayError, StoreError
from arena.base.stored import from_stored_text
from arena.store.results.connection import DRIVER_ERRORS, Database, Repository, reason_of
from arena.store.results.rows import details_json
from arena.store.results.schema import events, topics, value_of
from arena.store.results.values import utc_now

# The log of events: what has changed, by topic.
#
# Every change of a tournament adds an event to its topic in its own transaction. The number of an event is taken from
# the topic's row, which stays locked until the transaction ends: numbers have no gaps, and come in the order of the
# commits, also with several writers. Topics without events, such as that of seasons, only count.

MAX_EVENTS = 1000
"""How many events a topic keeps; readers who are further behind read everything again."""
PRUNE_EVERY = 100
MAX_MATCHES = 500
"""How many matches an event names."""

BOTS, SEASONS, ERASED, OWNERS = "bots", "seasons", "erased", "owners"
"""Topics that only count: of the submitted bots, of the seasons, what the topics of erased tournaments counted, and how
often another person's name, or none, is to be shown with a bot."""

_ADVANCE = text(
    "INSERT INTO topics (topic, seq) VALUES (:topic, :by) ON CONFLICT (topic) DO UPDATE SET seq = topics.seq + :by"
)
_SEQ = select(topics.c.seq).where(topics.c.topic == bindparam("topic"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDetails:
    """What an event is about; which fields are set depends on its kind.

    Attributes:
        matches: the last matches that it concerns, at most ``MAX_MATCHES``; ``match_count`` has the number of all.
        round: the first round that was added to the schedule.
    """

    matches: tuple[int, ...] = ()
    match_count: int = 0
    round: int | None = None
    correction: int | None = None
    name: str | None = None


NO_DETAILS = EventDetails()


def tournament_topic(tournament: int) -> str:
    """Return the topic of a tournament."""
    return f"tournament/{tournament}"


def live_topic(tournament: int) -> str:
    """Return the topic of the matches of a tournament that are watched while they are played."""
    return f"live/{tournament}"


def advance(connection: Connection, topic: str, by: int = 1) -> int:
    """Count a change of a topic; return its number."""
    connection.execute(_ADVANCE, {"topic": topic, "by": by})
    return int(connection.execute(_SEQ, {"topic": topic}).scalar_one())


def add_event(
    connection: Connection, tournament: int, kind: EventKind, details: EventDetails = NO_DETAILS, at: str | None = None
) -> int:
    """Add an event to the log of a tournament, in the transaction of the change; return its number in the topic."""
    topic = tournament_topic(tournament)
    seq = advance(connection, topic)
    row = {"topic": topic, "seq": seq, "kind": kind, "at": at or utc_now(), "body": details_json(details)}
    connection.execute(events.insert(), row)
    if seq % PRUNE_EVERY == 0:
        connection.execute(events.delete().where(events.c.topic == topic, events.c.seq <= seq - MAX_EVENTS))
    return seq


def about_matches(matches: Sequence[int], **others: Any) -> EventDetails:
    """Return the details of an event about some matches."""
    return EventDetails(matches=tuple(matches[-MAX_MATCHES:]), match_count=len(matches), **others)


def remove_topics(connection: Connection, tournament: int) -> None:
    """Remove the topics of a tournament that is erased; the sum of all topics grows all the same."""
    names = [tournament_topic(tournament), live_topic(tournament)]
    counted = sum(connection.execute(select(topics.c.seq).where(topics.c.topic.in_(names))).scalars())
    connection.execute(events.delete().where(events.c.topic.in_(names)))
    connection.execute(topics.delete().where(topics.c.topic.in_(names)))
    advance(connection, ERASED, counted + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event in a log; ``seq`` is its number in its topic, from 1 and without gaps."""

    topic: str
    seq: int
    kind: EventKind
    at: str
    details: EventDetails


class EventLog(Repository):
    """The events in a database. A topic keeps the latest ``MAX_EVENTS``."""

    def topics(self) -> dict[str, int]:
        """Return how many changes each topic has had; their sum grows with every change."""
        return dict(self._database.rows(select(topics.c.topic, topics.c.seq)))

    def after(self, topic: str, seq: int, limit: int = MAX_EVENTS) -> list[StoredEvent]:
        """Return the events of a topic that follow event ``seq``, the oldest first.

        If the first of them is not ``seq + 1``, some have been removed.
        """
        chosen = select(events).where(events.c.topic == topic, events.c.seq > seq)
        return self._read(chosen.order_by(events.c.seq).limit(limit))

    def last(self, topic: str, limit: int) -> list[StoredEvent]:
        """Return the last events of a topic, the latest first."""
        return self._read(select(events).where(events.c.topic == topic).order_by(events.c.seq.desc()).limit(limit))

    def recorded_matches(self, tournament: int) -> frozenset[int]:
        """Return the matches that had a record by the kept events since a tournament was created or imported."""
        matches = set[int]()
        for event in self.last(tournament_topic(tournament), MAX_EVENTS):
            if event.kind is not EventKind.ANNOTATED:  # which may still be about the earlier tournament of a number
                matches.update(event.details.matches)
            if event.kind in (EventKind.CREATED, EventKind.IMPORTED):  # another one may have had its number
                break
        return frozenset(matches)

    def _read(self, query: Select[Any]) -> list[StoredEvent]:
        return [stored_event(row) for row in self._database.rows(query)]


def stored_event(row: Any) -> StoredEvent:
    """Return an event from its row; StoreError if it is malformed, or a newer arena has written it."""
    details = from_stored_text(EventDetails, row.body, f"event {row.seq} of {row.topic!r}: its details")
    return value_of(StoredEvent, row, details=details)


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


LOOK_SECONDS = 5.0
"""The most from a look to the next without a commit: a contest begins when its time has come."""


class Commits:
    """Whether it is time to read some databases again: after a commit, and regularly, as time passes too."""

    def __init__(self, signals: Sequence[CommitSignal], now: Callable[[], float] = lambda: time.monotonic()) -> None:
        """Take the first look at databases, whose signals are closed with this."""
        self._signals, self._now = signals, now
        self._last_texts: list[str] = []
        self._look_at = now()

    def are_new(self) -> bool:
        """Return whether something may have been committed since the last time, or that is long ago."""
        texts = [signal.read() for signal in self._signals]
        if texts == self._last_texts and self._now() < self._look_at:
            return False
        self._last_texts, self._look_at = texts, self._now() + LOOK_SECONDS
        return True

    def close(self) -> None:
        """Close the signals."""
        for signal in self._signals:
            signal.close()
