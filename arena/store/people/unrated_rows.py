"""Unrated matches from their rows, and back."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Row, select

from arena.store.people.times import Clock
from arena.store.people.unrated_match import Choices, Position, UnratedMatch, Wish
from arena.store.people.unrated_schema import unrated_matches as matches
from arena.store.results.connection import Database


class UnratedRows:
    """The rows in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def one(self, which: ColumnElement[bool]) -> UnratedMatch | None:
        """Return a match; None without one."""
        row = self._database.read(lambda connection: connection.execute(select(matches).where(which)).one_or_none())
        return self.match_of(row) if row is not None else None

    def write(self, which: ColumnElement[bool], values: dict[str, Any]) -> bool:
        """Change a match; return whether there was one."""
        statement = matches.update().where(which).values(values).returning(matches.c.id)
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
            wish=Wish(row.wish) if row.wish is not None else None,
            wished_action=row.wished_action,
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
