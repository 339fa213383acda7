"""Reads the log of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select

from arena.base.enums import EventKind
from arena.base.stored import from_json_text, from_stored
from arena.store.results.connection import Database
from arena.store.results.events import MAX_EVENTS, EventDetails
from arena.store.results.schema import events, topics


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event in a log.

    Attributes:
        topic: what it is about.
        seq: its number in the topic, from 1 and without gaps.
        kind: what has changed.
        at: when, UTC, ISO 8601.
        details: more of that.
    """

    topic: str
    seq: int
    kind: EventKind
    at: str
    details: EventDetails


class EventLog:
    """The events in a database. A topic keeps the latest ``MAX_EVENTS``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def topics(self) -> dict[str, int]:
        """Return how many changes each topic has had; their sum grows with every change."""
        rows = self._database.read(lambda connection: connection.execute(select(topics.c.topic, topics.c.seq)).all())
        return dict(tuple(row) for row in rows)

    def after(self, topic: str, seq: int, limit: int = MAX_EVENTS) -> list[StoredEvent]:
        """Return the events of a topic that follow event ``seq``, the oldest first.

        If the first of them is not ``seq + 1``, some have been removed.

        Raises:
            StoreError: if one is malformed.
        """
        chosen = select(events).where(events.c.topic == topic, events.c.seq > seq)
        return self._read(chosen.order_by(events.c.seq).limit(limit))

    def last(self, topic: str, limit: int) -> list[StoredEvent]:
        """Return the last events of a topic, the latest first.

        Raises:
            StoreError: if one is malformed.
        """
        return self._read(select(events).where(events.c.topic == topic).order_by(events.c.seq.desc()).limit(limit))

    def _read(self, query: Select[Any]) -> list[StoredEvent]:
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [stored_event(row) for row in rows]


def stored_event(row: Any) -> StoredEvent:
    """Return an event from its row.

    Raises:
        StoreError: if it is malformed, or a newer arena has written it.
    """
    where = f"event {row.seq} of {row.topic!r}: its details"
    details = from_stored(EventDetails, from_json_text(row.body, where), where)
    return StoredEvent(topic=row.topic, seq=row.seq, kind=row.kind, at=row.at, details=details)
