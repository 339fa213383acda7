"""Sessions: browsers in which somebody is signed in. A secret is in the browser, and its digest here."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, select

from arena.base.errors import UnwritableError
from arena.store.people.accounts import person_of
from arena.store.people.schema import people, sessions
from arena.store.people.secret import digest_of, new_secret
from arena.store.people.times import DAY_SECONDS, Clock
from arena.store.people.values import Person, Session
from arena.store.results.connection import Database

IDLE_SECONDS = 30 * DAY_SECONDS
LONGEST_SECONDS = 180 * DAY_SECONDS
TOUCH_SECONDS = 60.0
MAX_SESSIONS = 50
"""Of a person; the oldest gives way."""
MAX_DEVICE_CHARACTERS = 200
MAX_ADDRESS_CHARACTERS = 64


class SignedIn(NamedTuple):
    """Somebody who is signed in.

    Attributes:
        person: who.
        session: in which browser.
    """

    person: Person
    session: Session


class Sessions:
    """The sessions in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def begin(self, person: Person, device: str, address: str) -> str:
        """Sign a person in, and return the secret for the browser.

        Args:
            person: whose password was right.
            device: what the browser says it is.
            address: from where it asks.
        """
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
        kept = select(sessions.c.id).where(of_person).order_by(sessions.c.id.desc()).limit(MAX_SESSIONS)

        def begin(connection: Connection) -> None:
            connection.execute(sessions.insert(), row)
            connection.execute(delete(sessions).where(of_person, sessions.c.id.not_in(kept)))
            connection.execute(delete(sessions).where(sessions.c.expires_at <= self._clock.text()))

        self._database.write(begin)
        return secret

    def find(self, secret: str) -> SignedIn | None:
        """Return who is signed in by a secret; None if nobody is, or not any more."""
        query = select(sessions).where(
            sessions.c.digest == digest_of(secret),
            sessions.c.expires_at > self._clock.text(),
            sessions.c.began_at > self._clock.text(-LONGEST_SECONDS),
        )

        def find(connection: Connection) -> SignedIn | None:
            row = connection.execute(query).one_or_none()
            if row is None:
                return None
            owner = select(people).where(people.c.id == row.person_id, people.c.closed_at.is_(None))
            person = connection.execute(owner).one_or_none()
            return SignedIn(person_of(person), _session_of(row)) if person is not None else None

        found = self._database.read(find)
        if found is not None and found.session.seen_at <= self._clock.text(-TOUCH_SECONDS):
            self._touch(found.session)
        return found

    def _touch(self, session: Session) -> None:
        seen = {"seen_at": self._clock.text(), "expires_at": self._clock.text(IDLE_SECONDS)}
        change = sessions.update().where(sessions.c.id == session.number).values(seen)
        with contextlib.suppress(UnwritableError):  # who is signed in can read as before
            self._database.write(lambda connection: connection.execute(change))

    def all(self, person: Person) -> list[Session]:
        """Return the sessions of a person, the latest first."""
        query = (
            select(sessions)
            .where(sessions.c.person_id == person.number, sessions.c.expires_at > self._clock.text())
            .order_by(sessions.c.seen_at.desc(), sessions.c.id.desc())
        )
        return [_session_of(row) for row in self._database.read(lambda connection: connection.execute(query).all())]

    def is_any_from(self, person: Person, address: str) -> bool:
        """Return whether a person is signed in from an address."""
        return any(session.address == address[:MAX_ADDRESS_CHARACTERS] for session in self.all(person))

    def end(self, person: Person, number: int) -> None:
        """End a session of a person; nothing happens if it has ended."""
        change = delete(sessions).where(sessions.c.person_id == person.number, sessions.c.id == number)
        self._database.write(lambda connection: connection.execute(change))

    def end_all(self, person: Person) -> None:
        """Sign a person out everywhere."""
        change = delete(sessions).where(sessions.c.person_id == person.number)
        self._database.write(lambda connection: connection.execute(change))


def _session_of(row: Row[Any]) -> Session:
    return Session(
        number=row.id,
        began_at=row.began_at,
        seen_at=row.seen_at,
        expires_at=row.expires_at,
        device=row.device,
        address=row.address,
    )
