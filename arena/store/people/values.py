"""What is known of people: names, roles, permissions and submissions; and times from a clock that tests can set."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from arena.base.bot_text import BotText
from arena.base.names import letters_alike

MAX_CHARACTERS = 32

ACCEPTED = (
    f"expected 2 to {MAX_CHARACTERS} letters a-z or A-Z and digits, with single '-', '_' or '.' between them,"
    " beginning with a letter"
)

LEFT = "left-"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")
_RESERVED = frozenset(
    {"admin", "arena", "everybody", "human", "import", "invitations"}  # addresses below /people
    | {"nobody", "root", "somebody", "system", "visitor"}
)


def rule_of_name(text: str) -> str:
    """Return what is expected in place of a text that may not be the name of a person; "" if it may."""
    if not 2 <= len(text) <= MAX_CHARACTERS or _NAME.fullmatch(text) is None:
        return ACCEPTED
    is_reserved = text.lower() in _RESERVED or has_left(text.lower())
    return "the arena keeps this name for itself; expected another" if is_reserved else ""


def has_left(name: str) -> bool:
    """Return whether a name is that of somebody who has left."""
    return name.startswith(LEFT)


def look_alike_key(name: str) -> str:
    """Return what names that can be mistaken for each other have in common: no two people have the same."""
    return letters_alike(re.sub("[-_. ]", "", name))


class Role(StrEnum):
    """What a person is in an arena. Whoever is not signed in is a visitor."""

    VISITOR = "visitor"
    AUTHOR = "author"
    DIRECTOR = "director"
    OPERATOR = "operator"


MEMBER_ROLES = (Role.AUTHOR, Role.DIRECTOR, Role.OPERATOR)
"""The roles that a person can be given."""


class Permission(StrEnum):
    """Something that not everybody may do."""

    PLAY = "play"
    """Play against bots."""
    SUBMIT = "submit"
    """Submit bots, and see what is known of one's own."""
    DIRECT = "direct"
    """Make and change contests."""
    INVITE_AUTHORS = "invite authors"
    MODERATE_AUTHORS = "moderate authors"
    """Close the accounts of authors, and open them again."""
    MANAGE_PEOPLE = "manage people"
    """Invite anybody, change roles, and close any account."""


_AUTHOR = frozenset({Permission.PLAY, Permission.SUBMIT})
_DIRECTOR = _AUTHOR | {Permission.DIRECT, Permission.INVITE_AUTHORS, Permission.MODERATE_AUTHORS}

PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.VISITOR: frozenset({Permission.PLAY}),
    Role.AUTHOR: _AUTHOR,
    Role.DIRECTOR: _DIRECTOR,
    Role.OPERATOR: frozenset(Permission),
}


class Scope(StrEnum):
    """What a token is good for."""

    READ = "read"
    SUBMIT = "submit"
    PLAY = "play"
    DIRECT = "direct"


SCOPE_PERMISSIONS: dict[Scope, frozenset[Permission]] = {
    Scope.READ: frozenset(),
    Scope.SUBMIT: frozenset({Permission.SUBMIT}),
    Scope.PLAY: frozenset({Permission.PLAY}),
    Scope.DIRECT: _DIRECTOR - _AUTHOR,
}


def scopes_of(role: Role) -> tuple[Scope, ...]:
    """Return the scopes that a token of somebody with this role can have."""
    return tuple(scope for scope in Scope if SCOPE_PERMISSIONS[scope] <= PERMISSIONS[role])


def permissions_of_token(role: Role, scopes: frozenset[Scope]) -> frozenset[Permission]:
    """Return what a token may do: never more than the person it belongs to may do now."""
    granted = frozenset[Permission]().union(*(SCOPE_PERMISSIONS[scope] for scope in scopes))
    return granted & PERMISSIONS[role]


# What is known of people, as it comes from the store. Times are UTC, as ISO 8601 to the second.


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with an account; without a password they can't sign in."""

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
        seen_at: its last request, to the minute.
        expires_at: when it ends without requests.
        device: its description of itself.
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
    """A key for programs; ``seen_at``, its last use, is to the minute."""

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
        person: whose account it opens; None if whoever comes chooses a name.
    """

    number: int
    role: Role
    person: str | None
    made_by: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class EmbargoedTournament:
    """A tournament of which somebody sees neither results nor log lines from the second ``since`` on."""

    name: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A line of the public log: what somebody with power over others did.

    Attributes:
        number: from 1, without gaps.
        by: who; "the command line" for somebody at the machine itself.
        action: such as "closed the account of".
        details: what has changed, or why it was rejected; "" where the action tells it.
        tournament: what it is about, if results may follow from it.
    """

    number: int
    at: str
    by: str
    action: str
    subject: str
    reason: str
    details: str = ""
    tournament: str | None = None


DAY_SECONDS = 24 * 60 * 60.0

Now = Callable[[], float]
"""Returns the time as seconds since 1970."""


class Clock:
    """Times as text, in the order of time."""

    def __init__(self, now: Now = lambda: time.time()) -> None:
        self.now = now

    @staticmethod
    def between(earlier: str, later: str) -> float:
        """Return the seconds between two stored times."""
        return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()

    def text(self, seconds_from_now: float = 0.0) -> str:
        """Return a time, UTC, as ISO 8601 to the second."""
        return datetime.fromtimestamp(self.now() + seconds_from_now, UTC).isoformat(timespec="seconds")


class SubmissionState(StrEnum):
    """How far a submission is."""

    WAITING = "waiting"
    CHECKING = "checking"
    ACCEPTED = "accepted"
    REJECTED = "refused"
    WITHDRAWN = "withdrawn"
    """By its author, who does not want it to play."""
    FAILED = "failed"
    """The arena could not check it; that is no fault of the author."""


HINT = "to fix it: "
"""How the last line of the report about a bot that was rejected begins, if it is known how to fix it."""

_TIMEOUT = re.compile(
    r"[^:]+ is rejected: in [^:]+ at ply \d+: "
    r"(?:timeout: |start: before it was ready: (?:no answer|did not read what it was sent|the answer came)\b)"
)


def is_timeout(reason: str) -> bool:
    """Return whether a bot was rejected because it took too long, which may be the machine's fault."""
    return _TIMEOUT.match(reason) is not None


UNFINISHED = (SubmissionState.WAITING, SubmissionState.CHECKING)
FINAL = (SubmissionState.ACCEPTED, SubmissionState.REJECTED, SubmissionState.WITHDRAWN, SubmissionState.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSubmission:
    """What lists show of a submission.

    Attributes:
        bot: its name@version; None before its manifest was read. For the author alone unless it was accepted.
    """

    number: int
    author: str
    state: SubmissionState
    created_at: str
    finished_at: str | None
    bot: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission(ListedSubmission):
    """A submission, with what is for its author alone.

    Attributes:
        upload: the name of the file with the bytes that came.
        digest: SHA-256 of them.
        reason: why it was rejected or failed, in a sentence; "" otherwise.
        report: what was tried, line by line.
    """

    upload: str
    digest: str
    size_bytes: int
    file_name: str
    note: str
    reason: BotText[str]
    report: BotText[str]

    @property
    def subject(self) -> str:
        """What the audience of its check log reads, in place of a bot: it may have become none."""
        return f"submission {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSubmission:
    """A submission that a checker has taken.

    Attributes:
        upload: the name of the file with the bytes that came.
        bot: its name@version, if an earlier try has found that out.
        tries: how often it was taken, with this time.
    """

    number: int
    person: int
    author: str
    upload: str
    file_name: str
    bot: str | None
    created_at: str
    tries: int
