"""Invitations: made by directors, and used by whoever gets the link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from arena.analysis.text.tables import render_table
from arena.base.errors import InvitationError, RosterError, UsageError
from arena.server.gate.operation import Document, Done, Fields, Numbered, Operation, Visit, Who
from arena.server.gate.request import MAX_BODY_BYTES
from arena.server.http.page_response import CSV
from arena.server.http.problems import FieldProblem, Problem, ProblemError
from arena.server.operations.account import begin_session
from arena.server.operations.people import InvitationPage, NewInvitationPage, check_may_moderate, roles_to_give
from arena.site.frame.model import Table
from arena.store.people.rates import Rate
from arena.store.people.roster import MAX_ROSTER_BYTES, roster_of
from arena.store.people.secret import ACCEPTED as PASSWORD_RULE
from arena.store.people.secret import check_password, hash_password, is_secret
from arena.store.people.values import ACCEPTED as NAME_RULE
from arena.store.people.values import Permission, Role, is_person_name

USES = Rate(200, 600.0)
DEFAULT_DAYS = 7

INVITATIONS = Rate(300, 3600.0)
LINKS = Rate(100, 3600.0)
IMPORTS = Rate(100, 3600.0)


class InvitationPath(Fields):
    """The address of an invitation."""

    secret: str


class Acceptance(Fields):
    """The name and the password that an invited person chooses."""

    secret: str
    name: str = ""
    password: str
    again: str | None = None


class NewInvitation(Fields):
    """The role that an invitation gives, and for how many days it can be used."""

    role: Role = Role.AUTHOR
    days: int = Field(DEFAULT_DAYS, ge=1, le=60)


class Imported(Fields):
    """A list of people who get accounts."""

    SEVERAL_LINES = ("roster",)
    roster: str = Field(title="One name a line, or CSV", min_length=1, max_length=MAX_ROSTER_BYTES)
    days: int = Field(DEFAULT_DAYS, ge=1, le=60)


class NewLink(Fields):
    """The person who gets a link to choose a password."""

    person: str


@Operation("GET", "/invitations/{secret}", Who.ANYBODY, InvitationPath, InvitationPage, "invitation", rate=USES)
def show_invitation(visit: Visit) -> InvitationPage:
    """The form by which an invitation is used."""
    secret = visit.fields.secret
    if not is_secret(secret):
        raise InvitationError
    invitation = visit.people.invitations.find(secret)
    return InvitationPage.of(invitation, secret=secret, name_rule=NAME_RULE, password_rule=PASSWORD_RULE)


@Operation(
    "POST",
    "/invitations/{secret}",
    Who.ANYBODY,
    Acceptance,
    form="/invitations/{secret}",
    rate=USES,
    takes_password=True,
)
def accept(visit: Visit) -> Done:
    """Use an invitation, and sign in."""
    sent: Acceptance = visit.fields
    if not is_secret(sent.secret):
        raise InvitationError
    invitation = visit.people.invitations.find(sent.secret)
    name = invitation.person or sent.name.strip()
    if not is_person_name(name):
        raise UsageError(f"name {name!r:.80}: {NAME_RULE}")
    check_password(sent.password, name)
    if sent.again is not None and sent.again != sent.password:
        raise UsageError("the two passwords differ")
    person = visit.people.invitations.accept(sent.secret, name, hash_password(sent.password))
    return Done(to="/account", sentence=f"{person.name} is {person.role}", session=begin_session(visit, person))


@Operation(
    "POST",
    "/people/invitations",
    Permission.INVITE_AUTHORS,
    NewInvitation,
    NewInvitationPage,
    "new_invitation",
    form="/people",
    rate=INVITATIONS,
)
def invite(visit: Visit) -> NewInvitationPage:
    """Make an invitation."""
    sent: NewInvitation = visit.fields
    check_may_give(visit, sent.role)
    secret = visit.people.invitations.invite(sent.role, visit.person.name, sent.days)
    return NewInvitationPage(role=sent.role, person=None, link=_link(visit, secret), days=sent.days)


def _roster_problems(error: UsageError, _: Mapping[str, Any], __: bool) -> tuple[FieldProblem, ...]:
    mistakes = error.mistakes if isinstance(error, RosterError) else ()
    return tuple(FieldProblem(field="roster", title=f"line {line}", error=text) for line, text in mistakes)


@Operation(
    "POST",
    "/people/import",
    Permission.INVITE_AUTHORS,
    Imported,
    form="/people",
    rate=IMPORTS,
    media_type="text/csv",
    max_body_bytes=3 * MAX_ROSTER_BYTES + MAX_BODY_BYTES,  # a form writes some letters as three
    fields_refused=_roster_problems,
)
def import_people(visit: Visit) -> Document:
    """Make accounts for a list of people; return their invitations as CSV."""
    sent: Imported = visit.fields
    roster = roster_of(sent.roster.encode(), roles_to_give(visit.actor))
    secrets = visit.people.invitations.invite_all(roster, visit.person.name, sent.days)
    rows = roster.rows([_link(visit, secret) for secret in secrets])
    return Document(
        content=f"{render_table(Table.of(rows[0], rows).columns, rows, 'csv')}\n".encode(),
        media_type=CSV,
        name="invitations.csv",
    )


@Operation(
    "POST",
    "/people/{person}/link",
    Permission.MODERATE_AUTHORS,
    NewLink,
    NewInvitationPage,
    "new_invitation",
    form="/people",
    rate=LINKS,
    only_in_browser=True,
)
def invite_again(visit: Visit) -> NewInvitationPage:
    """Make a link by which a person chooses a password."""
    person = visit.people.accounts.get(visit.fields.person)
    check_may_moderate(visit.actor, person)
    secret = visit.people.invitations.invite_person(person.name, visit.person.name, DEFAULT_DAYS)
    return NewInvitationPage(role=person.role, person=person.name, link=_link(visit, secret), days=DEFAULT_DAYS)


@Operation("POST", "/people/invitations/{number}/end", Permission.INVITE_AUTHORS, Numbered)
def end_invitation(visit: Visit) -> Done:
    """End an invitation that nobody has used."""
    number = visit.fields.number
    invitation = next((candidate for candidate in visit.people.invitations.all() if candidate.number == number), None)
    if invitation is not None:
        check_may_give(visit, invitation.role)
        visit.people.invitations.end(number, visit.person.name)
    return Done(to="/people", sentence="the invitation has ended")


def check_may_give(visit: Visit, role: Role) -> None:
    """Raise ProblemError if the visitor may not give this role."""
    if role not in roles_to_give(visit.actor):
        raise ProblemError(Problem(status=403, title="Not allowed", error=f"Your role may not make anybody {role}."))


def _link(visit: Visit, secret: str) -> str:
    return f"{visit.site}/invitations/{secret}"
