"""Everybody who has an account, for those who look after them; and the public log of what they did."""

from __future__ import annotations

from pydantic import Field

from arena.community.contests import visibility
from arena.server.gate.actor import Actor
from arena.server.gate.operation import Done, Fields, NoFields, Operation, Reason, Visit, Who
from arena.server.http.problems import Problem, ProblemError
from arena.server.operations.people import InvitationLine, LogLine, LogPage, PeoplePage, PersonLine
from arena.store.people.public_log import PAGE_LENGTH
from arena.store.people.values import MEMBER_ROLES, HiddenTournament, Permission, Person, Role


class Moderation(Fields):
    """Whose account is closed or opened, and why."""

    person: str
    reason: Reason


class RoleChange(Fields):
    """Who becomes what, and why."""

    person: str
    role: Role
    reason: Reason


class LogQuery(Fields):
    """Where in the log."""

    before: int | None = Field(None, ge=1, le=2**31 - 1)


def show_people(visit: Visit) -> PeoplePage:
    """Everybody who has an account."""
    roles = roles_to_give(visit.actor)
    return PeoplePage(
        people=tuple(
            PersonLine.of(person, may_be_moderated=may_moderate(visit.actor, person))
            for person in visit.people.accounts.all()
        ),
        roles=roles,
        may_change_roles=Permission.MANAGE_PEOPLE in visit.actor.permissions,
        invitations=tuple(
            InvitationLine.of(one, may_be_ended=one.role in roles) for one in visit.people.invitations.all()
        ),
    )


def close_account(visit: Visit) -> Done:
    """Close an account."""
    sent: Moderation = visit.fields
    person = visit.people.accounts.get(sent.person)
    check_may_moderate(visit.actor, person)
    visit.people.accounts.close(person.name, visit.person.name, sent.reason)
    return Done(to="/people", sentence=f"closed the account of {person.name}")


def open_account(visit: Visit) -> Done:
    """Open a closed account again."""
    sent: Moderation = visit.fields
    person = visit.people.accounts.get(sent.person)
    check_may_moderate(visit.actor, person)
    visit.people.accounts.reopen(person.name, visit.person.name, sent.reason)
    return Done(to="/people", sentence=f"opened the account of {person.name} again")


def change_role(visit: Visit) -> Done:
    """Change what somebody is."""
    sent: RoleChange = visit.fields
    person = visit.people.accounts.set_role(sent.person, sent.role, visit.person.name, sent.reason)
    return Done(to="/people", sentence=f"{person.name} is {person.role}")


def show_log(visit: Visit) -> LogPage:
    """What directors and operators did, and why."""
    entries = visit.people.log.lines(hidden=hidden_tournaments(visit), before=visit.fields.before, most=PAGE_LENGTH)
    lines = tuple(map(LogLine.of, entries))
    return LogPage(lines=lines, older=lines[-1].number if lines and lines[-1].number > 1 else None)


def roles_to_give(actor: Actor) -> tuple[Role, ...]:
    """Return what somebody may make of others."""
    if Permission.MANAGE_PEOPLE in actor.permissions:
        return MEMBER_ROLES
    return (Role.AUTHOR,) if Permission.INVITE_AUTHORS in actor.permissions else ()


def may_moderate(actor: Actor, person: Person) -> bool:
    """Return whether somebody may close and open the account of a person."""
    wanted = Permission.MODERATE_AUTHORS if person.role is Role.AUTHOR else Permission.MANAGE_PEOPLE
    return wanted in actor.permissions


def check_may_moderate(actor: Actor, person: Person) -> None:
    """Raise ProblemError for what ``may_moderate`` denies."""
    if not may_moderate(actor, person):
        error = f"Your role may not change the account of an {person.role}."
        raise ProblemError(Problem(status=403, title="Not allowed", error=error))


def hidden_tournaments(visit: Visit) -> frozenset[HiddenTournament]:
    """Return the tournaments of which whoever asks may not know all results, nor what is said since."""
    contests = visit.people.contests
    return visibility.hidden_tournaments(contests.all(), visit.actor.permissions, contests.now())


OPERATIONS = (
    Operation("GET", "/people", Permission.MODERATE_AUTHORS, show_people, NoFields, PeoplePage, "people.html.jinja"),
    Operation("POST", "/people/{person}/close", Permission.MODERATE_AUTHORS, close_account, Moderation, form="/people"),
    Operation("POST", "/people/{person}/open", Permission.MODERATE_AUTHORS, open_account, Moderation, form="/people"),
    Operation("POST", "/people/{person}/role", Permission.MANAGE_PEOPLE, change_role, RoleChange, form="/people"),
    Operation("GET", "/log", Who.ANYBODY, show_log, LogQuery, LogPage, "log.html.jinja", is_in_the_open=True),
)
