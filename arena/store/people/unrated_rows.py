"""Unrated matches in the database: their tables, and their rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, ForeignKey, Index, Row, Table, select

from arena.store.people.schema import metadata
from arena.store.people.times import Clock
from arena.store.people.unrated_match import Choices, MatchState, PlayRequest, Position, UnratedMatch
from arena.store.results.columns import Integer, Member, OptionalInteger, OptionalString, String, Text
from arena.store.results.connection import Database

# The tables of matches that people play in the browser.

unrated_matches = Table(
    "unrated_matches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("secret", String(64), nullable=False, unique=True),
    Column("person_id", OptionalInteger, ForeignKey("people.id")),
    Column("network", String(64), nullable=False),
    Column("game", String(300), nullable=False),
    Column("options", Text, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("bot", String(200), nullable=False),
    Column("bot_digest", String(100), nullable=False),
    Column("per_action_milliseconds", Integer, nullable=False),
    Column("state", Member(MatchState, "state", 16), nullable=False),
    Column("actions", Text, nullable=False),
    Column("plies", Integer, nullable=False),
    Column("view", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("wish", OptionalString(16)),
    Column("wished_action", String(200), nullable=False),
    Column("answer", Text, nullable=False),
    Column("begun_at", String(40), nullable=False),
    Column("acted_at", String(40), nullable=False),
    Column("slot_until", OptionalString(40)),
    Column("held_seconds", Integer, nullable=False),
    Column("claim", OptionalString(64)),
    Column("claimed_until", OptionalString(40)),
    Column("tries", Integer, nullable=False),
    Index("unrated_matches_by_slot", "slot_until"),
    Index("unrated_matches_by_person", "person_id", "id"),
    Index("unrated_matches_by_time", "acted_at"),
    sqlite_autoincrement=True,
)

play_menu = Table(
    "play_menu",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("at", String(40), nullable=False),
)


# Unrated matches from their rows, and back.


class UnratedRows:
    """The rows in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def one(self, which: ColumnElement[bool]) -> UnratedMatch | None:
        """Return a match; None without one."""
        row = self._database.read(
            lambda connection: connection.execute(select(unrated_matches).where(which)).one_or_none()
        )
        return self.match_of(row) if row is not None else None

    def write(self, which: ColumnElement[bool], values: dict[str, Any]) -> bool:
        """Change a match; return whether there was one."""
        statement = unrated_matches.update().where(which).values(values).returning(unrated_matches.c.id)
        return self._database.write(lambda connection: connection.execute(statement).scalar()) is not None

    def match_of(self, row: Row[Any]) -> UnratedMatch:
        """Return the match of a row."""
        return UnratedMatch(
            number=row.id,
            secret=row.secret,
            person=row.person_id,
            choices=Choices(
                game=row.game,
                options=row.options,
                seat=row.seat,
                bot=row.bot,
                per_action_milliseconds=row.per_action_milliseconds,
            ),
            position=Position(state=row.state, actions=row.actions, plies=row.plies, view=row.view, reason=row.reason),
            bot_digest=row.bot_digest,
            request=PlayRequest(row.wish) if row.wish is not None else None,
            requested_action=row.wished_action,
            answer=row.answer,
            begun_at=row.begun_at,
            acted_at=row.acted_at,
            has_slot=row.slot_until is not None and row.slot_until > self._clock.text(),
        )


def values_of(position: Position) -> dict[str, Any]:
    """Return what the row of a match has of its position."""
    return {
        "state": position.state,
        "actions": position.actions,
        "plies": position.plies,
        "view": position.view,
        "reason": position.reason,
    }
