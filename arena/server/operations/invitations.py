"""Invitations: made by directors, and used by whoever gets the link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from arena.analysis.text.tables import render_table
from arena.base.errors import InvitationError, RosterError, UsageError
from arena.server.gate.operation import SEVERAL_LINES, Document, Done, Number, Operation, Visit, Who
from arena.server.gate.request import MAX_BODY_BYTES
from arena.server.http.page_response import CSV
from arena.server.http.problems import FieldProblem, Problem, ProblemError
from arena.server.operations.account import begin_session, check_new_password
from arena.server.operations.people import InvitationPage, NewInvitationPage, check_may_moderate, roles_to_give
from arena.site.frame.model import Table
from arena.store.people.rates import Rate
from arena.store.people.roster import MAX_ROSTER_BYTES, roster_of
from arena.store.people.secret import ACCEPTED as PASSWORD_RULE
from arena.store.people.secret import hash_password, is_secret
from arena.store.people.values import ACCEPTED as NAME_RULE
from arena.store.people.values import Permission, Role, rule_of_name

USES = Rate(200, 600.0)
DEFAULT_DAYS = 7

INVITATIONS = Rate(300, 3600.0)
LINKS = Rate(100, 3600.0)
IMPORTS = Rate(100, 3600.0)


Days = Annotated[int, Field(ge=1, le=60)]
"""How long an invitation can be used."""
RosterText = Annotated[
    str, Field(title="One name a line, or CSV", min_length=1, max_length=MAX_ROSTER_BYTES), SEVERAL_LINES
]


@Operation("GET", "/invitations/{secret}", Who.ANYBODY, "invitation", rate=USES)
def show_invitation(visit: Visit, secret: str) -> InvitationPage:
    """The form by which an invitation is used."""
    if not is_secret(secret):
        raise InvitationError
    invitation = visit.people.invitations.find(secret)
    return InvitationPage.of(invitation, secret=secret, name_rule=NAME_RULE, password_rule=PASSWORD_RULE)


@Operation(
    "POST",
    "/invitations/{secret}",
    Who.ANYBODY,
    form="/invitations/{secret}",
    rate=USES,
    takes_password=True,
)
def accept(visit: Visit, secret: str, password: str, name: str = "", again: str | None = None) -> Done:
    """Use an invitation, and sign in."""
    if not is_secret(secret):
        raise InvitationError
    name = visit.people.invitations.find(secret).person or name.strip()
    if rule := rule_of_name(name):
        raise UsageError(f"name {name!r:.80}: {rule}")
    check_new_password(password, again, name, "passwords")
    person = visit.people.invitations.accept(secret, name, hash_password(password))
    return Done(to="/account", sentence=f"{person.name} is {person.role}", session=begin_session(visit, person))


@Operation(
    "POST",
    "/people/invitations",
    Permission.INVITE_AUTHORS,
    "new_invitation",
    form="/people",
    rate=INVITATIONS,
)
def invite(visit: Visit, role: Role = Role.AUTHOR, days: Days = DEFAULT_DAYS) -> NewInvitationPage:
    """Make an invitation."""
    check_may_give(visit, role)
    secret = visit.people.invitations.invite(role, visit.person.name, days)
    return NewInvitationPage(role=role, person=None, link=_link(visit, secret), days=days)


def _roster_problems(error: UsageError, _: Mapping[str, Any], __: bool) -> tuple[FieldProblem, ...]:
    mistakes = error.mistakes if isinstance(error, RosterError) else ()
    return tuple(FieldProblem(field="roster", title=f"line {line}", error=text) for line, text in mistakes)


@Operation(
    "POST",
    "/people/import",
    Permission.INVITE_AUTHORS,
    form="/people",
    rate=IMPORTS,
    media_type="text/csv",
    max_body_bytes=3 * MAX_ROSTER_BYTES + MAX_BODY_BYTES,  # a form writes some letters as three
    fields_refused=_roster_problems,
)
def import_people(visit: Visit, roster: RosterText, days: Days = DEFAULT_DAYS) -> Document:
    """Make accounts for a list of people; return their invitations as CSV."""
    people = roster_of(roster.encode(), roles_to_give(visit.actor))
    secrets = visit.people.invitations.invite_all(people, visit.person.name, days)
    rows = people.rows([_link(visit, secret) for secret in secrets])
    return Document(
        content=f"{render_table(Table.of(rows[0], rows).columns, rows, 'csv')}\n".encode(),
        media_type=CSV,
        name="invitations.csv",
    )


@Operation(
    "POST",
    "/people/{person}/link",
    Permission.MODERATE_AUTHORS,
    "new_invitation",
    form="/people",
    rate=LINKS,
    only_in_browser=True,
)
def invite_again(visit: Visit, person: str) -> NewInvitationPage:
    """Make a link by which a person chooses a password."""
    invited = visit.people.accounts.get(person)
    check_may_moderate(visit.actor, invited)
    secret = visit.people.invitations.invite_person(invited.name, visit.person.name, DEFAULT_DAYS, invited.role)
    return NewInvitationPage(role=invited.role, person=invited.name, link=_link(visit, secret), days=DEFAULT_DAYS)


@Operation("POST", "/people/invitations/{number}/end", Permission.INVITE_AUTHORS)
def end_invitation(visit: Visit, number: Number) -> Done:
    """End an invitation that nobody has used."""
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
