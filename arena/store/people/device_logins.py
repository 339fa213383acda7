"""Signing in a program: it shows a code, a person types it into a browser, and the program gets a token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, select

from arena.errors import UsageError
from arena.names import is_visible_text
from arena.people.roles import Scope, scopes_of
from arena.people.secret import digest_of, new_code, new_secret, normal_code
from arena.people.values import Person
from arena.store.connection import Database
from arena.store.people.accounts import person_of
from arena.store.people.schema import device_logins, people
from arena.store.people.times import Clock
from arena.store.people.tokens import insert_token, scopes_of_text, scopes_text

WAITING_SECONDS = 600.0
TOKEN_DAYS = 90
MAX_WAITING = 1000
MAX_MACHINE_CHARACTERS = 64

UNKNOWN_CODE = "there is no such code, or it has expired; run the command again for another"


class LoginRequest(NamedTuple):
    """What a program receives that asks to be signed in.

    Attributes:
        secret: by which it asks whether somebody has confirmed.
        code: that it shows.
    """

    secret: str
    code: str


class WaitingLogin(NamedTuple):
    """A program that waits for its confirmation.

    Attributes:
        machine: where it runs, as it says.
        scopes: what it wants to do.
    """

    machine: str
    scopes: frozenset[Scope]


class DeviceLogins:
    """The programs that wait, in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def begin(self, machine: str, scopes: Iterable[Scope]) -> LoginRequest:
        """Let a program wait.

        Args:
            machine: where it runs, as it says.
            scopes: what it wants to do.

        Raises:
            UsageError: if the machine's name is not accepted, there is no scope, or too many wait.
        """
        wanted = frozenset(scopes)
        if not 1 <= len(machine) <= MAX_MACHINE_CHARACTERS or not is_visible_text(machine):
            raise UsageError(f"machine {machine!r:.80}: expected 1 to {MAX_MACHINE_CHARACTERS} visible characters")
        if not wanted:
            raise UsageError(f"expected some of the scopes {', '.join(Scope)}")
        request = LoginRequest(new_secret(), new_code())
        row = {
            "digest": digest_of(request.secret),
            "code": request.code,
            "machine": machine,
            "scopes": scopes_text(wanted),
            "expires_at": self._clock.text(WAITING_SECONDS),
        }

        def begin(connection: Connection) -> None:
            connection.execute(delete(device_logins).where(device_logins.c.expires_at <= self._clock.text()))
            if len(connection.execute(select(device_logins.c.code).limit(MAX_WAITING)).all()) >= MAX_WAITING:
                raise UsageError("too many programs wait to be signed in; try again in a few minutes")
            connection.execute(device_logins.insert(), row)

        self._database.write(begin)
        return request

    def find(self, typed_code: str) -> WaitingLogin:
        """Return the program that shows a code.

        Raises:
            UsageError: if none does.
        """
        row = self._database.read(lambda connection: self._waiting(connection, typed_code))
        return WaitingLogin(row.machine, scopes_of_text(row.scopes))

    def confirm(self, typed_code: str, person: Person) -> None:
        """Let the program that shows a code act for a person.

        Raises:
            UsageError: if none shows it, or it wants more than the person may do.
        """

        def confirm(connection: Connection) -> None:
            row = self._waiting(connection, typed_code)
            beyond = scopes_of_text(row.scopes) - set(scopes_of(person.role))
            if beyond:
                raise UsageError(f"a token of an {person.role} can't have the scope {min(beyond)}")
            free = (device_logins.c.code == row.code) & device_logins.c.person_id.is_(None)
            if connection.execute(device_logins.update().where(free).values(person_id=person.number)).rowcount != 1:
                raise UsageError(UNKNOWN_CODE)  # another person was faster

        self._database.write(confirm)

    def _waiting(self, connection: Connection, typed_code: str) -> Row[Any]:
        query = select(device_logins).where(
            device_logins.c.code == (normal_code(typed_code) or ""),
            device_logins.c.person_id.is_(None),
            device_logins.c.expires_at > self._clock.text(),
        )
        row = connection.execute(query).one_or_none()
        if row is None:
            raise UsageError(UNKNOWN_CODE)
        return row

    def take(self, secret: str) -> str | None:
        """Return the token of a program whose code was confirmed, once; None if nobody has confirmed it yet.

        Raises:
            UsageError: if it does not wait any more, or its person has too many tokens.
        """
        mine = device_logins.c.digest == digest_of(secret)

        def waiting(connection: Connection) -> Row[Any]:
            query = select(device_logins).where(mine, device_logins.c.expires_at > self._clock.text())
            row = connection.execute(query).one_or_none()
            if row is None:
                raise UsageError(UNKNOWN_CODE)
            return row

        def take(connection: Connection) -> str:
            row = waiting(connection)
            if connection.execute(delete(device_logins).where(mine)).rowcount != 1:
                raise UsageError(UNKNOWN_CODE)
            person = person_of(connection.execute(select(people).where(people.c.id == row.person_id)).one())
            name = f"arena login on {row.machine}"[:MAX_MACHINE_CHARACTERS]
            return insert_token(connection, self._clock, person, name, scopes_of_text(row.scopes), TOKEN_DAYS)

        is_confirmed = self._database.read(waiting).person_id is not None
        return self._database.write(take) if is_confirmed else None
