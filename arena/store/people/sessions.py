"""How people and their programs stay signed in: sessions of browsers, and tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, delete, select

from arena.base.errors import UnwritableError, UsageError
from arena.base.names import is_printable_text
from arena.store.people.accounts import lock_open_person, person_of
from arena.store.people.schema import TimedRepository, count_rows, people, sessions, tokens
from arena.store.people.secret import digest_of, new_secret, new_token
from arena.store.people.values import DAY_SECONDS, Person, Scope, Session, Token
from arena.store.results.schema import value_of, writes

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


class _Proofs(TimedRepository):
    """Rows by which people prove who they are until some time: each has the digest of a secret."""

    _table: ClassVar[Table]

    def end(self, person: Person, number: int) -> None:
        """End one of a person's by its number; nothing happens if it has ended."""
        self._database.execute(delete(self._table).filter_by(person_id=person.number, id=number))

    def _current(self, *conditions: ColumnElement[bool]) -> Select[Any]:
        return select(self._table).where(self._table.c.expires_at > self._clock.text(), *conditions)

    def _find(self, secret: str, used: dict[str, Any], *conditions: ColumnElement[bool]) -> tuple[Any, Person | None]:
        """Return the row of a secret, and its owner if the account is open; note ``used`` if that was long ago."""
        query = self._current(self._table.c.digest == digest_of(secret), *conditions)

        def read(connection: Connection) -> tuple[Any, Person | None]:
            row = connection.execute(query).one_or_none()
            if row is None:
                return None, None
            owner = select(people).where(people.c.id == row.person_id, people.c.closed_at.is_(None))
            person = connection.execute(owner).one_or_none()
            return row, person_of(person) if person is not None else None

        row, person = self._database.read(read)
        if person is not None and (row.seen_at or "") <= self._clock.text(-TOUCH_SECONDS):
            with contextlib.suppress(UnwritableError):  # a read-only database still lets people read
                self._database.execute(self._table.update().where(self._table.c.id == row.id).values(used))
        return row, person


class Sessions(_Proofs):
    """The sessions in a database."""

    _table = sessions

    @writes
    def begin(
        self, connection: Connection, person: Person, device: str, address: str, checked_hash: str | None = None
    ) -> str:
        """Sign a person in, and return the secret for the browser; ``checked_hash`` as in ``Accounts.set_password``."""
        lock_open_person(connection, person.number, checked_hash)
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
        used = {"seen_at": self._clock.text(), "expires_at": self._clock.text(IDLE_SECONDS)}
        row, person = self._find(secret, used, sessions.c.began_at > self._clock.text(-LONGEST_SECONDS))
        return SignedIn(person, value_of(Session, row)) if person is not None else None

    def all(self, person: Person) -> list[Session]:
        """Return the sessions of a person, the latest first."""
        query = self._current(sessions.c.person_id == person.number)
        rows = self._database.rows(query.order_by(sessions.c.seen_at.desc(), sessions.c.id.desc()))
        return [value_of(Session, row) for row in rows]

    def is_any_from(self, person: Person, address: str) -> bool:
        """Return whether a person is signed in from an address."""
        return any(session.address == address[:MAX_ADDRESS_CHARACTERS] for session in self.all(person))

    def end_all(self, person: Person) -> None:
        """Sign a person out everywhere."""
        self._database.execute(delete(sessions).where(sessions.c.person_id == person.number))


MAX_TOKENS = 50
MAX_DAYS = 366
MAX_NAME_CHARACTERS = 64


class TokenOwner(NamedTuple):
    """The owner of a token."""

    person: Person
    token: Token


class Tokens(_Proofs):
    """The tokens in a database."""

    _table = tokens

    @writes
    def make(self, connection: Connection, person: Person, name: str, scopes: Iterable[Scope], days: int) -> str:
        """Make a token, and return it; it can't be shown again."""
        if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not is_printable_text(name):
            raise UsageError(f"name {name!r:.80}: expected 1 to {MAX_NAME_CHARACTERS} visible characters")
        if not (scopes := frozenset(scopes)):
            raise UsageError(f"a token needs a scope; expected one or more of {', '.join(Scope)}")
        if not 1 <= days <= MAX_DAYS:
            raise UsageError(f"days = {days}: expected 1 to {MAX_DAYS}")
        now = self._clock.text()
        lock_open_person(connection, person.number)
        connection.execute(delete(tokens).where(tokens.c.expires_at <= now))
        count = count_rows(connection, tokens.c.person_id == person.number)
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
        row, person = self._find(token, {"seen_at": self._clock.text()})
        return TokenOwner(person, _token_of(row)) if person is not None else None

    def all(self, person: Person) -> list[Token]:
        """Return the tokens of a person, the latest first."""
        query = self._current(tokens.c.person_id == person.number).order_by(tokens.c.id.desc())
        return [_token_of(row) for row in self._database.rows(query)]


def scopes_of_text(text: str) -> frozenset[Scope]:
    """Return stored scopes; those that a newer arena has written mean nothing here."""
    return frozenset(scope for scope in Scope if scope in text.split())


def _token_of(row: Row[Any]) -> Token:
    return value_of(Token, row, scopes=scopes_of_text(row.scopes))
