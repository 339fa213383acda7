"""Accounts: who there is, in which role, and the invitations by which people get their accounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, exists, func, or_, select, type_coerce

from arena.base.errors import InvitationError, RosterError, UnknownNameError, UsageError
from arena.base.names import check_reason
from arena.store.people.answers import puzzle_tries, votes
from arena.store.people.contest_messages import forget_person
from arena.store.people.roster import Roster, counted_people
from arena.store.people.schema import (
    TimedRepository,
    add_line,
    count_rows,
    invitations,
    people,
    sessions,
    submissions,
    tokens,
)
from arena.store.people.secret import digest_of, new_secret
from arena.store.people.unrated_match import matches as unrated_matches
from arena.store.people.values import (
    DAY_SECONDS,
    FINAL,
    LEFT,
    MEMBER_ROLES,
    Invitation,
    Person,
    Role,
    SubmissionState,
    has_left,
    look_alike_key,
    rule_of_name,
)
from arena.store.results.schema import OptionalString, value_of, writes


class Accounts(TimedRepository):
    """The accounts in a database."""

    @writes
    def add(self, connection: Connection, name: str, role: Role, by: str) -> Person:
        """Add a person, who can't sign in before an invitation was used."""
        person = insert_person(connection, name, role, self._clock.text())
        self._log(connection, by, f"made an account, role {role},", name, "")
        return person

    def all(self) -> list[Person]:
        """Return everybody, by name."""
        rows = self._database.rows(select(people))
        return sorted(map(person_of, rows), key=lambda person: person.name)  # servers have orders of their own

    def get(self, name: str) -> Person:
        """Return a person by name in upper or lower case, or raise UnknownNameError."""
        return self._database.read(lambda connection: find_person(connection, name))

    def with_password(self, name: str) -> tuple[Person | None, str | None]:
        """Return the person who may sign in under a name, and the hash of the password; None for whoever may not."""
        query = select(people).where(func.lower(people.c.name) == name.lower(), people.c.closed_at.is_(None))
        row = self._database.row(query)
        return (person_of(row), row.password_hash) if row is not None else (None, None)

    def password_hash(self, person: Person) -> str | None:
        """Return the hash of a person's password; None without one."""
        query = select(people.c.password_hash).where(people.c.id == person.number)
        return self._database.scalar(query)

    @writes
    def set_password(
        self, connection: Connection, person: Person, password_hash: str, checked_hash: str | None = None
    ) -> None:
        """Change a password. All sessions of the person end, and links to choose another one.

        ``checked_hash`` is that of the password which was right a moment ago, if one was asked for.
        """
        lock_open_person(connection, person.number, checked_hash)
        connection.execute(people.update().where(people.c.id == person.number).values(password_hash=password_hash))
        for table in (sessions, invitations):
            connection.execute(delete(table).where(table.c.person_id == person.number))

    @writes
    def set_role(self, connection: Connection, name: str, role: Role, by: str, reason: str) -> Person:
        """Change a person's role from the next request on.

        The person's invitations and the links to choose a password for this account end: their maker might not be
        allowed to make them now.
        """
        _check_role(role)
        person = _find_present(connection, name)
        if role is not Role.OPERATOR:
            _keep_an_operator(connection, person)
        connection.execute(people.update().where(people.c.id == person.number).values(role=role))
        _end_invitations(connection, person)
        self._log(connection, by, f"changed the role from {person.role} to {role} of", person.name, reason)
        return find_person(connection, name)

    @writes
    def close(
        self, connection: Connection, name: str, by: str, reason: str, checked_role: Role | None = None
    ) -> Person:
        """Close an account: nobody can sign in with it, and all its sessions, tokens and invitations end.

        ``checked_role`` is the role of the person as it was when whoever closes the account was found to be allowed to.
        """
        person = _find_present(connection, name, checked_role)
        _keep_an_operator(connection, person)
        _end_access(connection, person, self._clock.text())
        connection.execute(people.update().where(people.c.id == person.number).values(closed_at=self._clock.text()))
        self._log(connection, by, "closed the account of", person.name, reason)
        return find_person(connection, name)

    @writes
    def reopen(
        self, connection: Connection, name: str, by: str, reason: str, checked_role: Role | None = None
    ) -> Person:
        """Open a closed account again, as ``close`` does; UsageError if it is open, or the reason is too long."""
        person = _find_present(connection, name, checked_role)
        if person.closed_at is None:
            raise UsageError(f"person {person.name!r}: the account is open already")
        connection.execute(people.update().where(people.c.id == person.number).values(closed_at=None))
        self._log(connection, by, "opened the account again of", person.name, reason)
        return find_person(connection, name)

    @writes
    def erase(self, connection: Connection, person: Person) -> list[str]:
        """Erase a person who leaves, and return the files of their submissions, which nobody needs any more.

        Everything that is theirs goes, notes and reports of submissions too. The name stays taken, as a digest, and
        results stay.
        """
        theirs = submissions.c.person_id == person.number
        nothing = {"file_name": "", "note": "", "reason": "", "report": ""}
        _keep_an_operator(connection, person)
        _end_access(connection, person, self._clock.text())
        forget_person(connection, person.number)
        for table in (unrated_matches, votes, puzzle_tries):
            connection.execute(delete(table).where(table.c.person_id == person.number))
        connection.execute(submissions.update().where(theirs).values(nothing))
        left = {
            "name": f"{LEFT}{person.number}",
            "look_alike_key": digest_of(look_alike_key(person.name)),
            "password_hash": None,
            "closed_at": self._clock.text(),
        }
        connection.execute(people.update().where(people.c.id == person.number).values(left))
        return list(connection.execute(select(submissions.c.upload).where(theirs)).scalars())

    def _log(self, connection: Connection, by: str, action: str, subject: str, reason: str) -> None:
        if reason:
            check_reason(reason)
        add_line(connection, self._clock.text(), by, action, subject, reason)


def insert_person(connection: Connection, name: str, role: Role, at: str, password_hash: str | None = None) -> Person:
    """Insert a person; UsageError if nobody may have this name, or somebody has one that looks like it."""
    if rule := rule_of_name(name):
        raise UsageError(f"name {name!r:.80}: {rule}")
    _check_role(role)
    key = look_alike_key(name)
    keys = (key, digest_of(key))
    similar_name = connection.execute(select(people.c.name).where(people.c.look_alike_key.in_(keys))).scalar()
    if similar_name is not None:
        is_same = similar_name.lower() == name.lower()
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


def _find_present(connection: Connection, name: str, checked_role: Role | None = None) -> Person:
    """Return a person by name whose account can be changed: nobody becomes somebody who has left."""
    person = find_person(connection, name)
    if checked_role not in (None, person.role):
        raise UsageError(f"person {person.name!r}: the role has just been changed; try again")
    if has_left(person.name):
        raise UsageError(f"person {person.name!r}: this person has left, and the account is erased for good")
    return person


def lock_open_person(connection: Connection, number: int, checked_hash: str | None = None) -> None:
    """Let one transaction at a time do something for a person, so that limits hold; in any database.

    Raises:
        UsageError: if the account is closed, or its password is not the checked one any more.
    """
    connection.execute(people.update().where(people.c.id == number).values(id=number))
    now = connection.execute(select(people.c.closed_at, people.c.password_hash).where(people.c.id == number)).one()
    if now.closed_at is not None:
        raise UsageError("the account is closed")
    if checked_hash not in (None, now.password_hash):
        raise UsageError("the password has just been changed")


def person_of(row: Row[Any]) -> Person:
    """Return the person of a row of the table ``people``."""
    return value_of(Person, row, has_password=row.password_hash is not None)


def _keep_an_operator(connection: Connection, person: Person) -> None:
    """Refuse to remove the last operator who can sign in; with none, only the command line would remain."""
    if person.role is not Role.OPERATOR or person.closed_at is not None or not person.has_password:
        return
    connection.execute(people.update().where(people.c.role == Role.OPERATOR).values(role=Role.OPERATOR))  # locks them
    can_sign_in = people.c.closed_at.is_(None) & people.c.password_hash.is_not(None)
    if not count_rows(connection, people.c.role == Role.OPERATOR, can_sign_in, people.c.id != person.number):
        raise UsageError(f"person {person.name!r}: this is the last operator who can sign in; make another one first")


def _end_access(connection: Connection, person: Person, now: str) -> None:
    """Delete a person's sessions, tokens and invitations, and withdraw their undecided submissions."""
    undecided = (submissions.c.person_id == person.number) & submissions.c.state.not_in(FINAL)
    withdrawn = {"state": SubmissionState.WITHDRAWN, "claim": None, "finished_at": now}
    connection.execute(submissions.update().where(undecided).values(withdrawn))
    for table in (sessions, tokens):
        connection.execute(delete(table).where(table.c.person_id == person.number))
    _end_invitations(connection, person)


def _end_invitations(connection: Connection, person: Person) -> None:
    is_theirs = (invitations.c.person_id == person.number) | (invitations.c.made_by == person.name)
    connection.execute(delete(invitations).where(is_theirs))


MAX_DAYS = 60


class Invitations(TimedRepository):
    """The invitations in a database."""

    @writes
    def invite(self, connection: Connection, role: Role, by: str, days: int) -> str:
        """Make an invitation for whoever gets it, who chooses a name; return its secret."""
        add_line(connection, self._clock.text(), by, "made an invitation for", f"a new {role}", "")
        return self._insert(connection, role, None, by, days)

    @writes
    def invite_person(
        self, connection: Connection, name: str, by: str, days: int, checked_role: Role | None = None
    ) -> str:
        """Make an invitation by which a person chooses a first or new password; return its secret. Earlier ones end.

        ``checked_role`` as in ``Accounts.close``.
        """
        person = _find_present(connection, name, checked_role)
        if person.closed_at is not None:
            raise UsageError(f"person {person.name!r}: the account is closed; open it again first")
        connection.execute(delete(invitations).where(invitations.c.person_id == person.number))
        add_line(connection, self._clock.text(), by, "made a link to choose a password for", person.name, "")
        return self._insert(connection, person.role, person, by, days)

    @writes
    def invite_all(
        self,
        connection: Connection,
        roster: Roster,
        by: str,
        days: int,
        deliver: Callable[[list[str]], None] = lambda _: None,
    ) -> list[str]:
        """Make an account and an invitation for each person on a roster, or none; return the secrets in its order.

        ``deliver`` gets them before anything is committed: if it raises, nobody has an account.

        Raises:
            RosterError: with all that is wrong with any line.
        """
        mistakes, secrets, now = list(roster.mistakes), [], self._clock.text()
        for newcomer in roster.newcomers:
            try:
                person = insert_person(connection, newcomer.name, newcomer.role, now)
            except UsageError as error:
                mistakes.append((newcomer.line, str(error)))
            else:
                secrets.append(self._insert(connection, newcomer.role, person, by, days))
        if mistakes:
            raise RosterError(mistakes)
        add_line(connection, now, by, "made accounts from a list for", counted_people(roster.newcomers), "")
        deliver(secrets)
        return secrets

    def _insert(self, connection: Connection, role: Role, person: Person | None, by: str, days: int) -> str:
        if not 1 <= days <= MAX_DAYS:
            raise UsageError(f"days = {days}: expected 1 to {MAX_DAYS}")
        secret = new_secret()
        row = {"digest": digest_of(secret), "role": role, "person_id": person and person.number, "made_by": by}
        connection.execute(invitations.insert(), row | {"expires_at": self._clock.text(days * DAY_SECONDS)})
        return secret

    def all(self) -> list[Invitation]:
        """Return the invitations that can be used, the latest first."""
        query = self._usable_invitations().order_by(invitations.c.id.desc())
        return [_invitation_of(row) for row in self._database.rows(query)]

    @writes
    def end(self, connection: Connection, number: int, by: str) -> None:
        """End an invitation; nothing happens if it can't be used any more."""
        row = connection.execute(self._usable_invitations().where(invitations.c.id == number)).one_or_none()
        if row is None:
            return
        connection.execute(delete(invitations).where(invitations.c.id == number))
        add_line(connection, self._clock.text(), by, "ended an invitation for", row.name or f"a new {row.role}", "")

    def find(self, secret: str) -> Invitation:
        """Return an invitation that can be used, or raise InvitationError, for every reason the same."""
        return _invitation_of(self._database.read(lambda connection: self._usable_row(connection, secret)))

    @writes
    def accept(self, connection: Connection, secret: str, name: str, password_hash: str) -> Person:
        """Use an invitation, and return the person who can now sign in.

        The name has no meaning if the invitation is for somebody who has one.

        Raises:
            InvitationError: if the invitation can't be used, also because somebody has just used it.
            UsageError: if the name is rejected; the invitation can still be used.
        """
        now = self._clock.text()
        row = self._usable_row(connection, secret)
        is_free = (invitations.c.id == row.id) & invitations.c.used_at.is_(None)
        if connection.execute(invitations.update().where(is_free).values(used_at=now)).rowcount != 1:
            raise InvitationError
        if row.person_id is None:
            return insert_person(connection, name, row.role, now, password_hash)
        mine = people.c.id == row.person_id
        connection.execute(people.update().where(mine).values(password_hash=password_hash))
        connection.execute(delete(sessions).where(sessions.c.person_id == row.person_id))
        return person_of(connection.execute(select(people).where(mine)).one())

    def _usable_row(self, connection: Connection, secret: str) -> Row[Any]:
        query = self._usable_invitations().where(invitations.c.digest == digest_of(secret))
        row = connection.execute(query).one_or_none()
        if row is None:
            raise InvitationError
        return row

    def _usable_invitations(self) -> Select[Any]:
        """Return the query of the invitations that can be used, with the names of those they are for.

        Whoever loses the account or the role may have made one a moment later, by a request that was being answered.
        """
        maker = people.alias()
        is_for_author = (maker.c.role == Role.DIRECTOR) & (invitations.c.role == Role.AUTHOR)
        may_give = maker.c.closed_at.is_(None) & or_(maker.c.role == Role.OPERATOR, is_for_author)
        return (
            select(invitations, type_coerce(people.c.name, OptionalString).label("name"))
            .outerjoin(people)
            .where(invitations.c.used_at.is_(None), invitations.c.expires_at > self._clock.text())
            .where(~exists().where(maker.c.name == invitations.c.made_by, ~may_give))
        )


def _invitation_of(row: Row[Any]) -> Invitation:
    return value_of(Invitation, row, person=row.name)
