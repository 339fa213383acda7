"""A person's own account: signing in and out, sessions, tokens, password, and all that is stored of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated

from pydantic import BeforeValidator, Field

from arena.base.bot_text import Audience
from arena.base.errors import UsageError
from arena.community.submissions.upload_directory import tell_owners
from arena.server.gate.gate import spend
from arena.server.gate.operation import Done, Number, Operation, ToShow, Visit, Who
from arena.server.gate.responses import place_of_ours
from arena.server.http.addresses import network_of
from arena.server.http.page_value import Snapshots
from arena.server.operations.bot_logs import audience_of, reads_bot
from arena.server.operations.my_bots import MyBot, my_bots, person_pages
from arena.server.operations.people import (
    AccountPage,
    AskedQuestion,
    LogLine,
    NewTokenPage,
    OwnDataPage,
    OwnSubmission,
    OwnTry,
    PlayedMatch,
    SessionLine,
    SignInPage,
    TokenLine,
    embargoed_tournaments,
)
from arena.server.operations.puzzles import rating_of
from arena.server.operations.submissions import details_of, line_of
from arena.site.frame.model import Model
from arena.site.pages.bot_profile_model import PersonPage
from arena.store.people.rates import Rate
from arena.store.people.secret import ACCEPTED as PASSWORD_RULE
from arena.store.people.secret import check_password, hash_password, is_right
from arena.store.people.sessions import device_text
from arena.store.people.submissions import LISTED
from arena.store.people.unrated_match import UnratedMatch
from arena.store.people.values import Permission, Person, Scope, Submission, Token, scopes_of

FROM_AN_ADDRESS = Rate(200, 600.0)
"""A whole class may share an address."""
FOR_A_NAME_FROM_AN_ADDRESS = Rate(10, 600.0)
FOR_A_NAME = Rate(100, 3600.0)
"""From everywhere, but not from where the person is signed in: nobody else can keep them out there."""

WRONG = "the name or the password is not right"


@Operation("GET", "/sign-in", Who.ANYBODY, "sign_in")
def show_sign_in(visit: Visit, next: str = "/") -> SignInPage:
    """The form to sign in."""
    return SignInPage(next=place_of_ours(next))


@Operation("POST", "/sign-in", Who.ANYBODY, rate=FROM_AN_ADDRESS, form="/sign-in", takes_password=True)
def sign_in(visit: Visit, name: str, password: str, next: str = "/") -> Done:
    """Sign in.

    A wrong password and an unknown name get the same sentence, after the same time.
    """
    name = name.strip().lower()[:100]
    person, stored = visit.people.accounts.with_password(name)
    # a name that was typed can have anything in it, such as an address
    limits = [(f"sign-in from {network_of(visit.address)} as {name}", FOR_A_NAME_FROM_AN_ADDRESS)]
    if person is None or not visit.people.sessions.is_any_from(person, visit.address):
        limits.append((f"sign-in as {name}", FOR_A_NAME))
    for key, rate in limits:
        spend(visit.people, key, rate)
    if not is_right(password, stored) or person is None:
        raise UsageError(WRONG)
    for key, _ in limits:
        visit.people.rates.forget(key)
    return Done(to=place_of_ours(next), sentence="signed in", session=begin_session(visit, person, stored))


def begin_session(visit: Visit, person: Person, checked_hash: str | None = None) -> str:
    """Sign a person in, and return the secret of the new session; the one that the browser had ends."""
    _end_session(visit)
    return visit.people.sessions.begin(person, visit.device, visit.address, checked_hash)


def _end_session(visit: Visit) -> None:
    if visit.actor.person is not None and visit.actor.session is not None:
        visit.people.sessions.end(visit.actor.person, visit.actor.session)


@Operation("POST", "/sign-out", Who.ANYBODY)
def sign_out(visit: Visit) -> Done:
    """Sign out."""
    _end_session(visit)
    return Done(to="/", sentence="signed out", session="")


PASSWORD_TRIES = Rate(10, 600.0)
DEFAULT_TOKEN_DAYS = 90


def _as_list(sent: object) -> object:
    return [sent] if isinstance(sent, str) else sent


@Operation("GET", "/account", Who.MEMBER, "account")
def show_account(visit: Visit) -> AccountPage | ToShow:
    """Your own account, and the ratings of your bots."""
    may_see_bots = visit.actor.session is not None or Permission.SUBMIT in visit.actor.permissions

    def finish(models: Sequence[Model | None]) -> AccountPage:
        page = next((model for model in models if isinstance(model, PersonPage)), None)
        shown = _account(visit, my_bots(visit, page) if may_see_bots else ())
        return shown.model_copy(update={"is_late": None in models})

    pages = person_pages(visit) if may_see_bots else ()
    return ToShow(home=visit.homes.public_place, pages=pages, finish=finish)


def _account(visit: Visit, bots: tuple[MyBot, ...] = ()) -> AccountPage:
    person = visit.person
    return AccountPage.of(
        person,
        sessions=tuple(
            SessionLine.of(session, is_this=session.number == visit.actor.session, device=device_text(session.device))
            for session in visit.people.sessions.all(person)
        ),
        tokens=tuple(_token(token, visit) for token in visit.people.tokens.all(person)),
        scopes=scopes_of(person.role),
        may_manage=Permission.MODERATE_AUTHORS in visit.actor.permissions,
        may_submit=Permission.SUBMIT in visit.actor.permissions,
        password_rule=PASSWORD_RULE,
        bots=bots,
        puzzle_rating=rating_of(visit, person.number),
    )


@Operation("POST", "/account/sessions/{number}/end", Who.MEMBER_IN_BROWSER)
def end_session(visit: Visit, number: Number) -> Done:
    """Sign out in another browser."""
    visit.people.sessions.end(visit.person, number)
    return Done(to="/account", sentence="the session has ended")


@Operation("POST", "/account/sessions/end", Who.MEMBER_IN_BROWSER)
def end_all_sessions(visit: Visit) -> Done:
    """Sign out everywhere."""
    visit.people.sessions.end_all(visit.person)
    return Done(to="/sign-in", sentence="all sessions have ended", session="")


@Operation("POST", "/account/password", Who.MEMBER_IN_BROWSER, form="/account", takes_password=True)
def change_password(visit: Visit, present: str, password: str, again: str | None = None) -> Done:
    """Change the password."""
    checked_hash = check_present(visit, present)
    check_new_password(password, again, visit.person.name, "new passwords")
    new_hash = hash_password(password)
    visit.people.accounts.set_password(visit.person, new_hash, checked_hash)
    secret = visit.people.sessions.begin(visit.person, visit.device, visit.address, new_hash)
    return Done(to="/account", sentence="the password is changed", session=secret)


@Operation("POST", "/account/tokens", Who.MEMBER_IN_BROWSER, "new_token", form="/account")
def make_token(
    visit: Visit,
    name: Annotated[str, Field(min_length=1, max_length=64)],
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1), BeforeValidator(_as_list)],
    days: Annotated[int, Field(ge=1, le=366)] = DEFAULT_TOKEN_DAYS,
) -> NewTokenPage:
    """Make a token."""
    beyond = set(scopes) - set(scopes_of(visit.person.role))
    if beyond:
        raise UsageError(f"a token of yours can't have the scope {min(beyond)}")
    token = visit.people.tokens.make(visit.person, name, scopes, days)
    return NewTokenPage(name=name, token=token, site=visit.site)


@Operation("POST", "/account/tokens/{number}/end", Who.MEMBER_IN_BROWSER)
def end_token(visit: Visit, number: Number) -> Done:
    """End a token."""
    visit.people.tokens.end(visit.person, number)
    return Done(to="/account", sentence="the token has ended")


@Operation("POST", "/account/token/end", Who.PROGRAM)
def end_this_token(visit: Visit) -> Done:
    """End the token that the program asks with."""
    number = visit.actor.token
    assert number is not None
    visit.people.tokens.end(visit.person, number)
    return Done(to="/sign-in", sentence="the token has ended")


def check_new_password(password: str, again: str | None, name: str, passwords: str) -> None:
    """Raise UsageError for a password that a person can't have, or that differs when it is typed again."""
    check_password(password, name)
    if again is not None and again != password:
        raise UsageError(f"the two {passwords} differ")


def check_present(visit: Visit, password: str) -> str | None:
    """Return the hash of the person's password, or raise UsageError if this is another; ProblemError if tried often."""
    spend(visit.people, f"password of {visit.person.number}", PASSWORD_TRIES)
    stored = visit.people.accounts.password_hash(visit.person)
    if not is_right(password, stored):
        raise UsageError("the present password is not right")
    return stored


def _token(token: Token, visit: Visit) -> TokenLine:
    return TokenLine.of(token, is_this=token.number == visit.actor.token, scopes=tuple(sorted(token.scopes)))


MAX_LOG_LINES = 10_000


@Operation("GET", "/account/data", Who.MEMBER_IN_BROWSER, "own_data")
def show_own_data(visit: Visit, before: Number | None = None) -> OwnDataPage:
    """All that is stored of whoever asks."""
    submitted = visit.people.submissions.of(visit.person, before)
    entries = visit.people.log.lines(hidden=embargoed_tournaments(visit), most=MAX_LOG_LINES)
    name, audience = visit.person.name, audience_of(visit)
    contests = {contest.number: contest.name for contest in visit.people.contests.all()}
    return OwnDataPage(
        account=_account(visit),
        bot_names=tuple(visit.people.submissions.names_of(visit.person)),
        submissions=tuple(_own_submission(submission, visit) for submission in submitted),
        older=submitted[-1].number if len(submitted) >= LISTED else None,
        matches=tuple(
            _played_match(match, audience) for match in visit.people.unrated_matches.of_person(visit.person.number)
        ),
        votes=tuple(visit.people.votes.found(person_id=visit.person.number)),
        puzzle_tries=tuple(map(OwnTry.of, visit.people.puzzle_tries.found(person_id=visit.person.number))),
        questions=tuple(
            AskedQuestion.of(question, contest=contests[question.contest])
            for question in visit.people.contest_messages.asked_by(visit.person.number)
        ),
        log=tuple(LogLine.of(entry) for entry in entries if name in (entry.by, entry.subject)),
    )


@Operation("POST", "/account/erase", Who.MEMBER_IN_BROWSER, form="/account", takes_password=True)
def leave(visit: Visit, present: str) -> Done:
    """Erase your own account."""
    check_present(visit, present)
    for name in visit.people.accounts.erase(visit.person):
        visit.uploads.remove(name)
    _forget_name(visit)
    return Done(to="/", sentence="the account is erased", session="")


def _forget_name(visit: Visit) -> None:
    """Remove the name of whoever has left from homes, and from pages that are kept for the next start of a server."""
    public = visit.homes.public()
    with ExitStack() as opened:
        embargoed = [
            opened.enter_context(visit.homes.embargoed(contest.name)) for contest in visit.people.contests.all()
        ]
        tell_owners(visit.people, public.store, [home.store for home in embargoed if home is not None])
    Snapshots(public.cache_directory).clear()


def _own_submission(submission: Submission, visit: Visit) -> OwnSubmission:
    return OwnSubmission(
        line=line_of(submission, visit),
        details=details_of(submission, visit),
        has_upload=visit.uploads.path(submission.upload).is_file(),
    )


def _played_match(match: UnratedMatch, audience: Audience) -> PlayedMatch:
    return PlayedMatch.of(
        match,
        match.choices,
        state=match.position.state,
        actions=match.position.actions if reads_bot(audience, match.choices.bot) else _without_notes(match),
    )


def _without_notes(match: UnratedMatch) -> str:
    """Return the actions of a match as JSON; what the bot noted is for its author."""
    actions = [[seat, action, seconds, None] for seat, action, seconds, *_ in json.loads(match.position.actions)]
    return json.dumps(actions)
