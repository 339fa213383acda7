"""Tokens: what programs of a person sign in with. Shown once; its digest is here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, func, select

from arena.base.errors import UnwritableError, UsageError
from arena.base.names import is_visible_text
from arena.store.people.accounts import lock_person, person_of
from arena.store.people.roles import Scope
from arena.store.people.schema import people, tokens
from arena.store.people.secret import digest_of, new_token
from arena.store.people.times import DAY_SECONDS, Clock
from arena.store.people.values import Person, Token
from arena.store.results.connection import Database

MAX_TOKENS = 50
MAX_DAYS = 366
MAX_NAME_CHARACTERS = 64
TOUCH_SECONDS = 60.0


class TokenOwner(NamedTuple):
    """Whose token it is.

    Attributes:
        person: who.
        token: what it is good for.
    """

    person: Person
    token: Token


class Tokens:
    """The tokens in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def make(self, person: Person, name: str, scopes: Iterable[Scope], days: int) -> str:
        """Make a token, and return it; it can't be shown again.

        Args:
            person: whose.
            name: what its owner calls it.
            scopes: what it is good for.
            days: until it expires.

        Raises:
            UsageError: if the name, the scopes or the days are not accepted, or the person has too many.
        """
        return self._database.write(
            lambda connection: insert_token(connection, self._clock, person, name, frozenset(scopes), days)
        )

    def find(self, token: str) -> TokenOwner | None:
        """Return whose token it is; None if it is nobody's, or not any more."""
        query = select(tokens).where(tokens.c.digest == digest_of(token), tokens.c.expires_at > self._clock.text())

        def find(connection: Connection) -> TokenOwner | None:
            row = connection.execute(query).one_or_none()
            if row is None:
                return None
            owner = select(people).where(people.c.id == row.person_id, people.c.closed_at.is_(None))
            person = connection.execute(owner).one_or_none()
            return TokenOwner(person_of(person), _token_of(row)) if person is not None else None

        found = self._database.read(find)
        if found is not None and (found.token.seen_at or "") <= self._clock.text(-TOUCH_SECONDS):
            seen = tokens.update().where(tokens.c.id == found.token.number).values(seen_at=self._clock.text())
            with contextlib.suppress(UnwritableError):  # it can be used to read as before
                self._database.write(lambda connection: connection.execute(seen))
        return found

    def all(self, person: Person) -> list[Token]:
        """Return the tokens of a person, the latest first."""
        query = (
            select(tokens)
            .where(tokens.c.person_id == person.number, tokens.c.expires_at > self._clock.text())
            .order_by(tokens.c.id.desc())
        )
        return [_token_of(row) for row in self._database.read(lambda connection: connection.execute(query).all())]

    def end(self, person: Person, number: int) -> None:
        """End a token of a person; nothing happens if it has ended."""
        change = delete(tokens).where(tokens.c.person_id == person.number, tokens.c.id == number)
        self._database.write(lambda connection: connection.execute(change))


def insert_token(
    connection: Connection, clock: Clock, person: Person, name: str, scopes: frozenset[Scope], days: int
) -> str:
    """Insert a token and return it.

    Raises:
        UsageError: if the name, the scopes or the days are not accepted, or the person has too many.
    """
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not is_visible_text(name):
        raise UsageError(f"name {name!r:.80}: expected 1 to {MAX_NAME_CHARACTERS} visible characters")
    if not scopes:
        raise UsageError(f"a token needs a scope; expected some of {', '.join(Scope)}")
    if not 1 <= days <= MAX_DAYS:
        raise UsageError(f"days = {days}: expected 1 to {MAX_DAYS}")
    now = clock.text()
    lock_person(connection, person.number)
    connection.execute(delete(tokens).where(tokens.c.expires_at <= now))
    count = connection.execute(select(func.count()).where(tokens.c.person_id == person.number)).scalar() or 0
    if count >= MAX_TOKENS:
        raise UsageError(f"there are {count} tokens, as many as a person may have; end one first")
    token = new_token()
    row = {
        "digest": digest_of(token),
        "person_id": person.number,
        "name": name,
        "scopes": scopes_text(scopes),
        "created_at": now,
        "expires_at": clock.text(days * DAY_SECONDS),
    }
    connection.execute(tokens.insert(), row)
    return token


def scopes_text(scopes: Iterable[Scope]) -> str:
    """Return scopes as they are stored."""
    return " ".join(sorted(scopes))


def scopes_of_text(text: str) -> frozenset[Scope]:
    """Return stored scopes; those that a newer arena has written mean nothing here."""
    return frozenset(scope for scope in Scope if scope in text.split())


def _token_of(row: Row[Any]) -> Token:
    return Token(
        number=row.id,
        name=row.name,
        scopes=scopes_of_text(row.scopes),
        created_at=row.created_at,
        expires_at=row.expires_at,
        seen_at=row.seen_at,
    )
