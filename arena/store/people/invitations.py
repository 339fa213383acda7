"""Invitations: links by which people get their accounts, each used once; also for those who forgot their password."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, Select, delete, select, type_coerce

from arena.base.errors import InvitationError, UsageError
from arena.store.people.accounts import find_person, insert_person, person_of
from arena.store.people.public_log import add_line
from arena.store.people.schema import invitations, people, sessions
from arena.store.people.secret import digest_of, new_secret
from arena.store.people.times import DAY_SECONDS, Clock
from arena.store.people.values import Invitation, Person, Role
from arena.store.results.columns import OptionalString
from arena.store.results.connection import Database

MAX_DAYS = 60


class Invitations:
    """The invitations in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def invite(self, role: Role, by: str, days: int) -> str:
        """Make an invitation for whoever gets it, who chooses a name; return its secret."""

        def invite(connection: Connection) -> str:
            add_line(connection, self._clock.text(), by, "made an invitation for", f"a new {role}", "")
            return self._insert(connection, role, None, by, days)

        return self._database.write(invite)

    def invite_person(self, name: str, by: str, days: int) -> str:
        """Make an invitation by which a person chooses a first or new password; return its secret. Earlier ones end.

        Raises:
            UnknownNameError: if there is no such person.
            UsageError: if the account is closed, or the days are not accepted.
        """

        def invite(connection: Connection) -> str:
            person = find_person(connection, name)
            if person.closed_at is not None:
                raise UsageError(f"person {person.name!r}: the account is closed")
            connection.execute(delete(invitations).where(invitations.c.person_id == person.number))
            add_line(connection, self._clock.text(), by, "made a link to choose a password for", person.name, "")
            return self._insert(connection, person.role, person, by, days)

        return self._database.write(invite)

    def _insert(self, connection: Connection, role: Role, person: Person | None, by: str, days: int) -> str:
        if not 1 <= days <= MAX_DAYS:
            raise UsageError(f"days = {days}: expected 1 to {MAX_DAYS}")
        secret = new_secret()
        row = {
            "digest": digest_of(secret),
            "role": role,
            "person_id": person.number if person is not None else None,
            "made_by": by,
            "expires_at": self._clock.text(days * DAY_SECONDS),
        }
        connection.execute(invitations.insert(), row)
        return secret

    def all(self) -> list[Invitation]:
        """Return the invitations that can be used, the latest first."""
        query = self._usable().order_by(invitations.c.id.desc())
        return [_invitation_of(row) for row in self._database.read(lambda connection: connection.execute(query).all())]

    def end(self, number: int, by: str) -> None:
        """End an invitation; nothing happens if it can't be used any more."""

        def end(connection: Connection) -> None:
            row = connection.execute(self._usable().where(invitations.c.id == number)).one_or_none()
            if row is None:
                return
            connection.execute(delete(invitations).where(invitations.c.id == number))
            add_line(connection, self._clock.text(), by, "ended an invitation for", row.name or f"a new {row.role}", "")

        self._database.write(end)

    def find(self, secret: str) -> Invitation:
        """Return an invitation that can be used, or raise InvitationError, for every reason the same."""
        return _invitation_of(self._database.read(lambda connection: self._open(connection, secret)))

    def accept(self, secret: str, name: str, password_hash: str) -> Person:
        """Use an invitation, and return the person who can now sign in.

        The name has no meaning if the invitation is for somebody who has one.

        Raises:
            InvitationError: if the invitation can't be used, also because somebody has just used it.
            UsageError: if the name is rejected; the invitation can still be used.
        """
        now = self._clock.text()

        def accept(connection: Connection) -> Person:
            row = self._open(connection, secret)
            is_free = (invitations.c.id == row.id) & invitations.c.used_at.is_(None)
            if connection.execute(invitations.update().where(is_free).values(used_at=now)).rowcount != 1:
                raise InvitationError
            if row.person_id is None:
                return insert_person(connection, name, row.role, now, password_hash)
            mine = people.c.id == row.person_id
            connection.execute(people.update().where(mine).values(password_hash=password_hash))
            connection.execute(delete(sessions).where(sessions.c.person_id == row.person_id))
            return person_of(connection.execute(select(people).where(mine)).one())

        return self._database.write(accept)

    def _open(self, connection: Connection, secret: str) -> Row[Any]:
        query = self._usable().where(invitations.c.digest == digest_of(secret))
        row = connection.execute(query).one_or_none()
        if row is None:
            raise InvitationError
        return row

    def _usable(self) -> Select[Any]:
        return (
            select(invitations, type_coerce(people.c.name, OptionalString).label("name"))
            .outerjoin(people)
            .where(invitations.c.used_at.is_(None), invitations.c.expires_at > self._clock.text())
        )


def _invitation_of(row: Row[Any]) -> Invitation:
    return Invitation(number=row.id, role=row.role, person=row.name, made_by=row.made_by, expires_at=row.expires_at)
