"""What pages about people show."""

from __future__ import annotations

from arena.server.operations.submissions import SubmissionDetails, SubmissionLine
from arena.site.frame.model import Model
from arena.store.people.unrated_match import MatchState
from arena.store.people.values import Role, Scope


class SignInPage(Model):
    """The form to sign in, with the path of the page that follows."""

    next: str


class InvitationPage(Model):
    """An invitation that can be used.

    Attributes:
        secret: in its address.
        person: whose account it opens; None if whoever comes chooses a name.
        name_rule: which names are accepted.
        password_rule: which passwords are accepted.
    """

    secret: str
    role: Role
    person: str | None
    made_by: str
    expires_at: str
    name_rule: str
    password_rule: str


class SessionLine(Model):
    """A browser in which a person is signed in.

    Attributes:
        number: by which it is ended.
        is_this: whether it is the one that asks.
        device: the name that the browser gives itself.
        address: from where it signed in.
    """

    number: int
    is_this: bool
    began_at: str
    seen_at: str
    device: str
    address: str


class TokenLine(Model):
    """A token of a person.

    Attributes:
        number: by which it is ended.
        is_this: whether it is the one that the program asks with.
        scopes: what it is good for.
        seen_at: when it was last used; None if never.
    """

    number: int
    is_this: bool
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str
    seen_at: str | None


class AccountPage(Model):
    """A person's own account: their sessions and tokens, the latest first, and the scopes that a new token can have."""

    name: str
    role: Role
    created_at: str
    sessions: tuple[SessionLine, ...]
    tokens: tuple[TokenLine, ...]
    scopes: tuple[Scope, ...]
    may_manage: bool
    may_submit: bool
    password_rule: str


class NewTokenPage(Model):
    """A token that was just made, and the address of its site; it is never shown again."""

    name: str
    token: str
    site: str


class PersonLine(Model):
    """A person, as directors see them.

    Attributes:
        closed_at: when the account was closed; None if it is open.
        has_password: whether they have used their invitation.
        may_be_moderated: whether whoever looks may close or open the account.
    """

    name: str
    role: Role
    created_at: str
    closed_at: str | None
    has_password: bool
    may_be_moderated: bool


class InvitationLine(Model):
    """An invitation that nobody has used.

    Attributes:
        number: by which it is ended.
        person: whose account it opens; None if whoever comes chooses a name.
        may_be_ended: whether whoever looks may end it.
    """

    number: int
    role: Role
    person: str | None
    made_by: str
    expires_at: str
    may_be_ended: bool


class PeoplePage(Model):
    """Everybody who has an account, by name, and the unused invitations, the latest first.

    Attributes:
        roles: that whoever looks may give.
        may_change_roles: whether whoever looks may change the role of somebody.
    """

    people: tuple[PersonLine, ...]
    roles: tuple[Role, ...]
    may_change_roles: bool
    invitations: tuple[InvitationLine, ...]


class NewInvitationPage(Model):
    """An invitation that was just made; its link is never shown again.

    Attributes:
        person: whose account it opens; None if whoever comes chooses a name.
        days: how long it can be used.
    """

    role: Role
    person: str | None
    link: str
    days: int


class LogLine(Model):
    """A line of the public log.

    Attributes:
        number: from 1, without gaps.
        subject: to whom or what.
        details: what has become different, or why it was rejected; "" where the action says it all.
    """

    number: int
    at: str
    by: str
    action: str
    subject: str
    reason: str
    details: str


class LogPage(Model):
    """The actions of directors and operators, the latest first.

    Attributes:
        older: the number before which there are more; None without more.
    """

    lines: tuple[LogLine, ...]
    older: int | None


class OwnSubmission(Model):
    """A person's own submission; ``has_upload`` while the file is kept."""

    line: SubmissionLine
    details: SubmissionDetails
    has_upload: bool


class PlayedMatch(Model):
    """A match that a person has played in the browser; it is in no tournament.

    Attributes:
        options: of the game, as JSON.
        seat: of the person.
        acted_at: when the person last did something.
        actions: as JSON.
    """

    game: str
    options: str
    bot: str
    seat: int
    state: MatchState
    begun_at: str
    acted_at: str
    actions: str


class OwnDataPage(Model):
    """All that is stored of a person, for the person; lists have the latest first.

    Attributes:
        bot_names: names of bots that belong to the person.
        older: the number of a submission before which there are more; None without more.
        log: the lines of the public log that name the person.
    """

    account: AccountPage
    bot_names: tuple[str, ...]
    submissions: tuple[OwnSubmission, ...]
    older: int | None
    matches: tuple[PlayedMatch, ...]
    log: tuple[LogLine, ...]
