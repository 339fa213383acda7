"""People for those who look after them, what pages about people show, and the public log."""

from __future__ import annotations

from arena.community.contests import visibility
from arena.server.gate.operation import Done, Number, Operation, Reason, Visit, Who
from arena.server.gate.request import Actor
from arena.server.http.problems import Problem, ProblemError
from arena.server.operations.my_bots import MyBot
from arena.server.operations.puzzles import PuzzleRating
from arena.server.operations.submissions import SubmissionDetails, SubmissionLine
from arena.site.frame.model import Model
from arena.store.people.answers import Vote
from arena.store.people.schema import PAGE_LENGTH
from arena.store.people.unrated_match import MatchState
from arena.store.people.values import MEMBER_ROLES, EmbargoedTournament, Permission, Person, Role, Scope, has_left


class SignInPage(Model):
    """The form to sign in, with the path of the page that follows."""

    next: str


class InvitationPage(Model):
    """An invitation that can be used; without a person, whoever comes chooses a name."""

    secret: str
    role: Role
    person: str | None
    made_by: str
    expires_at: str
    name_rule: str
    password_rule: str


class SessionLine(Model):
    """A browser in which a person is signed in, its address, and the number by which to end the session."""

    number: int
    is_this: bool
    began_at: str
    seen_at: str
    device: str
    address: str


class TokenLine(Model):
    """A token of a person; ``seen_at`` is its last use, None if never."""

    number: int
    is_this: bool
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str
    seen_at: str | None


class AccountPage(Model):
    """A person's own account: their sessions and tokens, the latest first, and the scopes that a new token can have.

    Attributes:
        bots: the latest submitted first; empty for programs that may not submit.
        is_late: whether their ratings are still being computed.
    """

    name: str
    role: Role
    created_at: str
    sessions: tuple[SessionLine, ...]
    tokens: tuple[TokenLine, ...]
    scopes: tuple[Scope, ...]
    may_manage: bool
    may_submit: bool
    password_rule: str
    bots: tuple[MyBot, ...] = ()
    is_late: bool = False
    puzzle_rating: PuzzleRating | None = None


class NewTokenPage(Model):
    """A token that was just made, and the address of its site; it is never shown again."""

    name: str
    token: str
    site: str


class PersonLine(Model):
    """A person, as directors see them; without a password, their invitation was not used yet."""

    name: str
    role: Role
    created_at: str
    closed_at: str | None
    has_password: bool
    has_left: bool
    may_be_moderated: bool


class InvitationLine(Model):
    """An invitation that nobody has used; without a person, whoever comes chooses a name."""

    number: int
    role: Role
    person: str | None
    made_by: str
    expires_at: str
    may_be_ended: bool


class PeoplePage(Model):
    """Everybody who has an account, by name, the unused invitations, and the roles that the reader may give."""

    people: tuple[PersonLine, ...]
    roles: tuple[Role, ...]
    may_change_roles: bool
    invitations: tuple[InvitationLine, ...]


class NewInvitationPage(Model):
    """An invitation that was just made, for some days; its link is never shown again."""

    role: Role
    person: str | None
    link: str
    days: int


class LogLine(Model):
    """A line of the public log, by numbers from 1 without gaps; details are "" where the action says it all."""

    number: int
    at: str
    by: str
    action: str
    subject: str
    reason: str
    details: str


class LogPage(Model):
    """The actions of directors and operators, the latest first; ``older``: more follow before this number."""

    lines: tuple[LogLine, ...]
    older: int | None


class OwnSubmission(Model):
    """A person's own submission; ``has_upload`` while the file is kept."""

    line: SubmissionLine
    details: SubmissionDetails
    has_upload: bool


class PlayedMatch(Model):
    """A match that a person, or their bot as ``challenger``, has played in no tournament; options, actions are JSON."""

    game: str
    options: str
    bot: str
    challenger: str
    seat: int
    state: MatchState
    begun_at: str
    acted_at: str
    actions: str


class AskedQuestion(Model):
    """A question of a person about a contest, and its answer; "" before."""

    contest: str
    at: str
    text: str
    answer: str


class OwnTry(Model):
    """A first answer to a puzzle, which is named by its key."""

    puzzle: str
    is_solved: bool
    at: str


class OwnDataPage(Model):
    """All that is stored of a person, for the person; lists have the latest first."""

    account: AccountPage
    bot_names: tuple[str, ...]
    submissions: tuple[OwnSubmission, ...]
    older: int | None
    matches: tuple[PlayedMatch, ...]
    votes: tuple[Vote, ...]
    puzzle_tries: tuple[OwnTry, ...]
    questions: tuple[AskedQuestion, ...]
    log: tuple[LogLine, ...]


@Operation("GET", "/people", Permission.MODERATE_AUTHORS, "people")
def show_people(visit: Visit) -> PeoplePage:
    """Everybody who has an account."""
    roles = roles_to_give(visit.actor)
    return PeoplePage(
        people=tuple(
            PersonLine.of(person, has_left=is_gone, may_be_moderated=not is_gone and may_moderate(visit.actor, person))
            for person in visit.people.accounts.all()
            for is_gone in [has_left(person.name)]
        ),
        roles=roles,
        may_change_roles=Permission.MANAGE_PEOPLE in visit.actor.permissions,
        invitations=tuple(
            InvitationLine.of(invitation, may_be_ended=invitation.role in roles)
            for invitation in visit.people.invitations.all()
        ),
    )


@Operation("POST", "/people/{person}/close", Permission.MODERATE_AUTHORS, form="/people")
def close_account(visit: Visit, person: str, reason: Reason) -> Done:
    """Close an account."""
    closed = _moderated(visit, person)
    visit.people.accounts.close(closed.name, visit.person.name, reason, closed.role)
    return Done(to="/people", sentence=f"closed the account of {closed.name}")


@Operation("POST", "/people/{person}/open", Permission.MODERATE_AUTHORS, form="/people")
def open_account(visit: Visit, person: str, reason: Reason) -> Done:
    """Open a closed account again."""
    opened = _moderated(visit, person)
    visit.people.accounts.reopen(opened.name, visit.person.name, reason, opened.role)
    return Done(to="/people", sentence=f"opened the account of {opened.name} again")


def _moderated(visit: Visit, name: str) -> Person:
    person = visit.people.accounts.get(name)
    check_may_moderate(visit.actor, person)
    return person


@Operation("POST", "/people/{person}/role", Permission.MANAGE_PEOPLE, form="/people")
def change_role(visit: Visit, person: str, role: Role, reason: Reason) -> Done:
    """Change the role of a person."""
    changed = visit.people.accounts.set_role(person, role, visit.person.name, reason)
    return Done(to="/people", sentence=f"{changed.name} is {changed.role}")


@Operation("GET", "/log", Who.ANYBODY, "log", is_in_the_open=True)
def show_log(visit: Visit, before: Number | None = None) -> LogPage:
    """What directors and operators did, and why."""
    entries = visit.people.log.lines(hidden=embargoed_tournaments(visit), before=before, most=PAGE_LENGTH)
    lines = tuple(map(LogLine.of, entries))
    return LogPage(lines=lines, older=lines[-1].number if lines and lines[-1].number > 1 else None)


def roles_to_give(actor: Actor) -> tuple[Role, ...]:
    """Return the roles that somebody may give to others."""
    if Permission.MANAGE_PEOPLE in actor.permissions:
        return MEMBER_ROLES
    return (Role.AUTHOR,) if Permission.INVITE_AUTHORS in actor.permissions else ()


def may_moderate(actor: Actor, person: Person) -> bool:
    """Return whether somebody may close and open the account of a person."""
    needed = Permission.MODERATE_AUTHORS if person.role is Role.AUTHOR else Permission.MANAGE_PEOPLE
    return needed in actor.permissions


def check_may_moderate(actor: Actor, person: Person) -> None:
    """Raise ProblemError for what ``may_moderate`` denies."""
    if not may_moderate(actor, person):
        error = f"Your role may not change the account of an {person.role}."
        raise ProblemError(Problem(status=403, title="Not allowed", error=error))


def embargoed_tournaments(visit: Visit) -> frozenset[EmbargoedTournament]:
    """Return the tournaments some of whose results, and later log lines, the visitor may not see."""
    contests = visit.people.contests
    return visibility.embargoed_tournaments(contests.all(), visit.actor.permissions, contests.now())
