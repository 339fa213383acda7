"""How people and their programs stay signed in: sessions of browsers, and tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, delete, func, select

from arena.base.errors import UnwritableError, UsageError
from arena.base.names import is_printable_text
from arena.store.people.accounts import lock_person, person_of
from arena.store.people.schema import TimedRepository, people, sessions, tokens
from arena.store.people.secret import digest_of, new_secret, new_token
from arena.store.people.values import DAY_SECONDS, Person, Scope, Session, Token
from arena.store.results.schema import value_of, writes

# What a browser says it is, in a few words.

_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def device_text(user_agent: str) -> str:
    """Return a browser and its system; the beginning of what it says if neither is known.

    >>> device_text("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
    'Firefox on Linux'
    >>> device_text("curl/8.5.0")
    'curl/8.5.0'
    """
    browser = next((name for sign, name in _BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), "")
    return " on ".join(filter(None, (browser, system))) or user_agent[:40] or "unknown"


# Sessions: browsers in which somebody is signed in. A secret is in the browser, and its digest here.

IDLE_SECONDS = 30 * DAY_SECONDS
LONGEST_SECONDS = 180 * DAY_SECONDS
TOUCH_SECONDS = 60.0
MAX_SESSIONS = 50
"""Of a person; the oldest gives way."""
MAX_DEVICE_CHARACTERS = 200
MAX_ADDRESS_CHARACTERS = 64


class SignedIn(NamedTuple):
    """Somebody who is signed in, and the browser."""

    person: Person
    session: Session


class Sessions(TimedRepository):
    """The sessions in a database."""

    @writes
    def begin(self, connection: Connection, person: Person, device: str, address: str) -> str:
        """Sign a person in whose password was right, and return the secret for the browser."""
        secret = new_secret()
        row = {
            "digest": digest_of(secret),
            "person_id": person.number,
            "began_at": self._clock.text(),
            "seen_at": self._clock.text(),
            "expires_at": self._clock.text(IDLE_SECONDS),
            "device": device[:MAX_DEVICE_CHARACTERS],
            "address": address[:MAX_ADDRESS_CHARACTERS],
        }
        of_person = sessions.c.person_id == person.number
        newest = select(sessions.c.id).where(of_person).order_by(sessions.c.id.desc()).limit(MAX_SESSIONS)
        connection.execute(sessions.insert(), row)
        connection.execute(delete(sessions).where(of_person, sessions.c.id.not_in(newest)))
        connection.execute(delete(sessions).where(sessions.c.expires_at <= self._clock.text()))
        return secret

    def find(self, secret: str) -> SignedIn | None:
        """Return who is signed in by a secret; None if nobody is, or not any more."""
        query = select(sessions).where(
            sessions.c.digest == digest_of(secret),
            sessions.c.expires_at > self._clock.text(),
            sessions.c.began_at > self._clock.text(-LONGEST_SECONDS),
        )

        row, person = self._database.read(lambda connection: _with_owner(connection, query))
        signed_in = SignedIn(person, value_of(Session, row)) if person is not None else None
        if signed_in is not None and signed_in.session.seen_at <= self._clock.text(-TOUCH_SECONDS):
            self._touch(signed_in.session)
        return signed_in

    def _touch(self, session: Session) -> None:
        times = {"seen_at": self._clock.text(), "expires_at": self._clock.text(IDLE_SECONDS)}
        change = sessions.update().where(sessions.c.id == session.number).values(times)
        with contextlib.suppress(UnwritableError):  # a read-only database still lets people read
            self._database.execute(change)

    def all(self, person: Person) -> list[Session]:
        """Return the sessions of a person, the latest first."""
        query = (
            select(sessions)
            .where(sessions.c.person_id == person.number, sessions.c.expires_at > self._clock.text())
            .order_by(sessions.c.seen_at.desc(), sessions.c.id.desc())
        )
        return [value_of(Session, row) for row in self._database.rows(query)]

    def is_any_from(self, person: Person, address: str) -> bool:
        """Return whether a person is signed in from an address."""
        return any(session.address == address[:MAX_ADDRESS_CHARACTERS] for session in self.all(person))

    def end(self, person: Person, number: int) -> None:
        """End a session of a person; nothing happens if it has ended."""
        change = delete(sessions).where(sessions.c.person_id == person.number, sessions.c.id == number)
        self._database.execute(change)

    def end_all(self, person: Person) -> None:
        """Sign a person out everywhere."""
        change = delete(sessions).where(sessions.c.person_id == person.number)
        self._database.execute(change)


def _with_owner(connection: Connection, query: Select[Any]) -> tuple[Any, Person | None]:
    """Return the row of a session or token, and its owner, if the account is open."""
    row = connection.execute(query).one_or_none()
    if row is None:
        return None, None
    owner = select(people).where(people.c.id == row.person_id, people.c.closed_at.is_(None))
    person = connection.execute(owner).one_or_none()
    return row, person_of(person) if person is not None else None


# Tokens: what programs of a person sign in with. Shown once; its digest is here.

MAX_TOKENS = 50
MAX_DAYS = 366
MAX_NAME_CHARACTERS = 64


class TokenOwner(NamedTuple):
    """The owner of a token."""

    person: Person
    token: Token


class Tokens(TimedRepository):
    """The tokens in a database."""

    @writes
    def make(self, connection: Connection, person: Person, name: str, scopes: Iterable[Scope], days: int) -> str:
        """Make a token, and return it; it can't be shown again."""
        if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not is_printable_text(name):
            raise UsageError(f"name {name!r:.80}: expected 1 to {MAX_NAME_CHARACTERS} visible characters")
        if not (scopes := frozenset(scopes)):
            raise UsageError(f"a token needs a scope; expected some of {', '.join(Scope)}")
        if not 1 <= days <= MAX_DAYS:
            raise UsageError(f"days = {days}: expected 1 to {MAX_DAYS}")
        now = self._clock.text()
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
            "scopes": " ".join(sorted(scopes)),
            "created_at": now,
            "expires_at": self._clock.text(days * DAY_SECONDS),
        }
        connection.execute(tokens.insert(), row)
        return token

    def find(self, token: str) -> TokenOwner | None:
        """Return whose token it is; None if it is nobody's, or not any more."""
        query = select(tokens).where(tokens.c.digest == digest_of(token), tokens.c.expires_at > self._clock.text())

        row, person = self._database.read(lambda connection: _with_owner(connection, query))
        owner = TokenOwner(person, _token_of(row)) if person is not None else None
        if owner is not None and (owner.token.seen_at or "") <= self._clock.text(-TOUCH_SECONDS):
            update = tokens.update().where(tokens.c.id == owner.token.number).values(seen_at=self._clock.text())
            with contextlib.suppress(UnwritableError):  # a read-only database still lets the token read
                self._database.execute(update)
        return owner

    def all(self, person: Person) -> list[Token]:
        """Return the tokens of a person, the latest first."""
        query = (
            select(tokens)
            .where(tokens.c.person_id == person.number, tokens.c.expires_at > self._clock.text())
            .order_by(tokens.c.id.desc())
        )
        return [_token_of(row) for row in self._database.rows(query)]

    def end(self, person: Person, number: int) -> None:
        """End a token of a person; nothing happens if it has ended."""
        change = delete(tokens).where(tokens.c.person_id == person.number, tokens.c.id == number)
        self._database.execute(change)


def scopes_of_text(text: str) -> frozenset[Scope]:
    """Return stored scopes; those that a newer arena has written mean nothing here."""
    return frozenset(scope for scope in Scope if scope in text.split())


def _token_of(row: Row[Any]) -> Token:
    return value_of(Token, row, scopes=scopes_of_text(row.scopes))
