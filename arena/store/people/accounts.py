"""Accounts: who there is, in which role, and what was done about it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from arena.base.errors import UnknownNameError, UsageError
from arena.base.names import check_reason
from arena.store.people.public_log import add_line
from arena.store.people.schema import invitations, people, sessions, submissions, tokens
from arena.store.people.secret import digest_of
from arena.store.people.submission import FINAL, SubmissionState
from arena.store.people.times import Clock
from arena.store.people.unrated_rows import unrated_matches
from arena.store.people.values import ACCEPTED, LEFT, MEMBER_ROLES, Person, Role, is_person_name, look_alike_key
from arena.store.results.connection import Database


class Accounts:
    """The accounts in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def add(self, name: str, role: Role, by: str) -> Person:
        """Add a person, who can't sign in before an invitation was used.

        Raises:
            UsageError: if nobody may have this name, or somebody has one that looks like it.
        """

        def add(connection: Connection) -> Person:
            person = insert_person(connection, name, role, self._clock.text())
            self._tell(connection, by, f"made an account, role {role},", name, "")
            return person

        return self._database.write(add)

    def all(self) -> list[Person]:
        """Return everybody, by name."""
        rows = self._database.read(lambda connection: connection.execute(select(people)).all())
        return sorted(map(person_of, rows), key=lambda person: person.name)  # servers have orders of their own

    def get(self, name: str) -> Person:
        """Return a person by name in upper or lower case, or raise UnknownNameError."""
        return self._database.read(lambda connection: find_person(connection, name))

    def with_password(self, name: str) -> tuple[Person | None, str | None]:
        """Return the person who may sign in under a name, and the hash of the password; None for whoever may not."""
        query = select(people).where(func.lower(people.c.name) == name.lower(), people.c.closed_at.is_(None))
        row = self._database.read(lambda connection: connection.execute(query).one_or_none())
        return (person_of(row), row.password_hash) if row is not None else (None, None)

    def password_hash(self, person: Person) -> str | None:
        """Return the hash of a person's password; None without one."""
        query = select(people.c.password_hash).where(people.c.id == person.number)
        return self._database.read(lambda connection: connection.execute(query).scalar())

    def set_password(self, person: Person, password_hash: str) -> None:
        """Change a password. All sessions of the person end, and links to choose another one."""

        def change(connection: Connection) -> None:
            connection.execute(people.update().where(people.c.id == person.number).values(password_hash=password_hash))
            for table in (sessions, invitations):
                connection.execute(delete(table).where(table.c.person_id == person.number))

        self._database.write(change)

    def set_role(self, name: str, role: Role, by: str, reason: str) -> Person:
        """Change a person's role from the next request on.

        The person's invitations and the links to choose a password for this account end: their maker might not be
        allowed to make them now.

        Raises:
            UnknownNameError: if there is no such person.
            UsageError: if nobody would be left who can manage people, or the reason is too long.
        """

        _check_role(role)

        def change(connection: Connection) -> Person:
            person = find_person(connection, name)
            if role is not Role.OPERATOR:
                _keep_an_operator(connection, person)
            connection.execute(people.update().where(people.c.id == person.number).values(role=role))
            _end_invitations(connection, person)
            self._tell(connection, by, f"changed the role from {person.role} to {role} of", person.name, reason)
            return find_person(connection, name)

        return self._database.write(change)

    def close(self, name: str, by: str, reason: str) -> Person:
        """Close an account: nobody can sign in with it, and all its sessions, tokens and invitations end.

        Raises:
            UnknownNameError: if there is no such person.
            UsageError: if nobody would be left who can manage people, or the reason is too long.
        """

        def close(connection: Connection) -> Person:
            person = find_person(connection, name)
            _keep_an_operator(connection, person)
            _end_everything(connection, person, self._clock.text())
            connection.execute(people.update().where(people.c.id == person.number).values(closed_at=self._clock.text()))
            self._tell(connection, by, "closed the account of", person.name, reason)
            return find_person(connection, name)

        return self._database.write(close)

    def reopen(self, name: str, by: str, reason: str) -> Person:
        """Open a closed account again; UsageError if it is open, or the reason is too long."""

        def reopen(connection: Connection) -> Person:
            person = find_person(connection, name)
            if person.closed_at is None:
                raise UsageError(f"person {person.name!r}: the account is open")
            connection.execute(people.update().where(people.c.id == person.number).values(closed_at=None))
            self._tell(connection, by, "opened the account again of", person.name, reason)
            return find_person(connection, name)

        return self._database.write(reopen)

    def erase(self, person: Person) -> list[str]:
        """Erase a person who leaves, and return the files of their submissions, which nobody needs any more.

        Everything that is theirs goes, notes and reports of submissions too. The name stays taken, as a digest, and
        results stay.

        Raises:
            UsageError: if nobody would be left who can manage people.
        """
        theirs = submissions.c.person_id == person.number
        nothing = {"file_name": "", "note": "", "reason": "", "report": ""}

        def erase(connection: Connection) -> list[str]:
            _keep_an_operator(connection, person)
            _end_everything(connection, person, self._clock.text())
            connection.execute(delete(unrated_matches).where(unrated_matches.c.person_id == person.number))
            connection.execute(submissions.update().where(theirs).values(nothing))
            connection.execute(
                people.update()
                .where(people.c.id == person.number)
                .values(
                    name=f"{LEFT}{person.number}",
                    look_alike_key=digest_of(look_alike_key(person.name)),
                    password_hash=None,
                    closed_at=self._clock.text(),
                )
            )

            return list(connection.execute(select(submissions.c.upload).where(theirs)).scalars())

        return self._database.write(erase)

    def _tell(self, connection: Connection, by: str, action: str, subject: str, reason: str) -> None:
        if reason:
            check_reason(reason)
        add_line(connection, self._clock.text(), by, action, subject, reason)


def insert_person(connection: Connection, name: str, role: Role, at: str, password_hash: str | None = None) -> Person:
    """Insert a person; UsageError if nobody may have this name, or somebody has one that looks like it."""
    if not is_person_name(name):
        raise UsageError(f"name {name!r:.80}: {ACCEPTED}")
    _check_role(role)
    key = look_alike_key(name)
    keys = (key, digest_of(key))
    taken = connection.execute(select(people.c.name).where(people.c.look_alike_key.in_(keys))).scalar()
    if taken is not None:
        is_same = taken.lower() == name.lower()
        raise UsageError(
            f"name {name!r}: it is taken" if is_same else f"name {name!r}: it looks too much like the name of somebody"
        )
    row = {"name": name, "look_alike_key": key, "role": role, "created_at": at, "password_hash": password_hash}
    connection.execute(people.insert(), row)
    return find_person(connection, name)


def _check_role(role: Role) -> None:
    if role not in MEMBER_ROLES:
        raise UsageError(f"role {str(role)!r}: expected {', '.join(MEMBER_ROLES)}")


def find_person(connection: Connection, name: str) -> Person:
    """Return a person by name in upper or lower case, or raise UnknownNameError."""
    row = connection.execute(select(people).where(func.lower(people.c.name) == name.lower())).one_or_none()
    if row is None:
        names = connection.execute(select(people.c.name).order_by(people.c.name)).scalars()
        raise UnknownNameError("person", name, names)
    return person_of(row)


def lock_person(connection: Connection, number: int) -> None:
    """Let one transaction at a time do something for a person, so that limits hold; in any database."""
    connection.execute(people.update().where(people.c.id == number).values(id=number))


def person_of(row: Row[Any]) -> Person:
    """Return the person of a row of the table ``people``."""
    return Person(
        number=row.id,
        name=row.name,
        role=row.role,
        created_at=row.created_at,
        closed_at=row.closed_at,
        has_password=row.password_hash is not None,
    )


def _keep_an_operator(connection: Connection, person: Person) -> None:
    """Refuse to take away the last operator who can sign in; without any, the command line is the operator."""
    if person.role is not Role.OPERATOR or person.closed_at is not None or not person.has_password:
        return
    connection.execute(people.update().where(people.c.role == Role.OPERATOR).values(role=Role.OPERATOR))  # locks them
    others = select(func.count()).where(
        people.c.role == Role.OPERATOR,
        people.c.closed_at.is_(None),
        people.c.password_hash.is_not(None),
        people.c.id != person.number,
    )
    if not connection.execute(others).scalar():
        raise UsageError(f"person {person.name!r}: this is the last operator who can sign in; make another one first")


def _end_everything(connection: Connection, person: Person, now: str) -> None:
    """Delete what proves that somebody is this person, and their invitations; withdraw their undecided submissions."""
    undecided = (submissions.c.person_id == person.number) & submissions.c.state.not_in(FINAL)
    withdrawn = {"state": SubmissionState.WITHDRAWN, "claim": None, "finished_at": now}
    connection.execute(submissions.update().where(undecided).values(withdrawn))
    for table in (sessions, tokens):
        connection.execute(delete(table).where(table.c.person_id == person.number))
    _end_invitations(connection, person)


def _end_invitations(connection: Connection, person: Person) -> None:
    is_theirs = (invitations.c.person_id == person.number) | (invitations.c.made_by == person.name)
    connection.execute(delete(invitations).where(is_theirs))
