"""What is known of people, as it comes from the store. Times are UTC, as ISO 8601 to the second."""

from __future__ import annotations

from dataclasses import dataclass

from arena.store.people.roles import Role, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with an account.

    Attributes:
        number: in the database.
        name: by which others know them.
        role: what they are.
        created_at: since when.
        closed_at: when the account was closed; None if it is open.
        has_password: whether they can sign in.
    """

    number: int
    name: str
    role: Role
    created_at: str
    closed_at: str | None
    has_password: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser in which somebody is signed in.

    Attributes:
        number: in the database.
        began_at: since when.
        seen_at: when it last asked for something, to the minute.
        expires_at: when it ends if it asks for nothing.
        device: what the browser says it is.
        address: from where it signed in.
    """

    number: int
    began_at: str
    seen_at: str
    expires_at: str
    device: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A key for programs.

    Attributes:
        number: in the database.
        name: what its owner calls it.
        scopes: what it is good for.
        created_at: since when.
        expires_at: until when.
        seen_at: when it was last used, to the minute; None if never.
    """

    number: int
    name: str
    scopes: frozenset[Scope]
    created_at: str
    expires_at: str
    seen_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A link by which somebody gets an account, once.

    Attributes:
        number: in the database.
        role: what they will be.
        person: whose account it opens; None if whoever comes chooses a name.
        made_by: who made it.
        expires_at: until when it can be used.
    """

    number: int
    role: Role
    person: str | None
    made_by: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class HiddenTournament:
    """A tournament of which somebody may not see all results, nor what was said about it since.

    Attributes:
        name: of the tournament.
        since: the first second that is hidden.
    """

    name: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A line of the public log: what somebody with power over others did.

    Attributes:
        number: from 1, without gaps.
        at: when.
        by: who; "the command line" for somebody at the machine itself.
        action: what, such as "closed the account of".
        subject: to whom or what.
        reason: why.
        details: what has become different, or why it was refused; "" where the action says it all.
        tournament: what it is about, if results may follow from it; None otherwise.
    """

    number: int
    at: str
    by: str
    action: str
    subject: str
    reason: str
    details: str = ""
    tournament: str | None = None
