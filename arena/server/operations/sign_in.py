"""Signing in and out."""

from __future__ import annotations

from arena.base.errors import UsageError
from arena.server.gate.gate import too_often
from arena.server.gate.operation import Done, Fields, Operation, Visit, Who
from arena.server.gate.responses import place_of_ours
from arena.server.http.client_address import network_of
from arena.server.operations.people import SignInPage
from arena.store.people.passwords import is_right
from arena.store.people.rates import Rate
from arena.store.people.values import Person

FROM_AN_ADDRESS = Rate(200, 600.0)
"""A whole class may sit behind one."""
FOR_A_NAME_FROM_AN_ADDRESS = Rate(10, 600.0)
FOR_A_NAME = Rate(100, 3600.0)
"""From everywhere, but not from where the person is signed in: nobody else can keep them out there."""

WRONG = "the name or the password is not right"


class SignInQuery(Fields):
    """Where to go on."""

    next: str = "/"


class SignIn(Fields):
    """Who says they are who."""

    name: str
    password: str
    next: str = "/"


def show_sign_in(visit: Visit) -> SignInPage:
    """Return the form."""
    return SignInPage(next=place_of_ours(visit.fields.next))


def sign_in(visit: Visit) -> Done:
    """Begin a session.

    Raises:
        UsageError: if the password is wrong or there is no such person: the same sentence, after the same time.
        ProblemError: if it was tried too often.
    """
    sent: SignIn = visit.fields
    name = sent.name.strip().lower()[:100]
    person, stored = visit.people.accounts.with_password(name)
    limits = [(f"sign-in {name} {network_of(visit.address)}", FOR_A_NAME_FROM_AN_ADDRESS)]
    if person is None or not visit.people.sessions.is_any_from(person, visit.address):
        limits.append((f"sign-in {name}", FOR_A_NAME))
    for key, rate in limits:
        wait = visit.people.rates.take(key, rate)
        if wait:
            raise too_often(wait)
    if not is_right(sent.password, stored) or person is None:
        raise UsageError(WRONG)
    for key, _ in limits:
        visit.people.rates.forget(key)
    return Done(to=place_of_ours(sent.next), sentence="signed in", session=begin_session(visit, person))


def begin_session(visit: Visit, person: Person) -> str:
    """Sign a person in, and return the secret of the new session; the one that the browser had ends."""
    _end_session(visit)
    return visit.people.sessions.begin(person, visit.device, visit.address)


def _end_session(visit: Visit) -> None:
    if visit.actor.person is not None and visit.actor.session is not None:
        visit.people.sessions.end(visit.actor.person, visit.actor.session)


def sign_out(visit: Visit) -> Done:
    """End the session of the browser."""
    _end_session(visit)
    return Done(to="/", sentence="signed out", session="")


OPERATIONS = (
    Operation(
        method="GET",
        path="/sign-in",
        summary="The form to sign in.",
        who=Who.ANYBODY,
        handler=show_sign_in,
        fields=SignInQuery,
        model=SignInPage,
        template="sign_in.html.jinja",
    ),
    Operation(
        method="POST",
        path="/sign-in",
        summary="Sign in.",
        who=Who.ANYBODY,
        handler=sign_in,
        fields=SignIn,
        rate=FROM_AN_ADDRESS,
        form="/sign-in",
        takes_password=True,
    ),
    Operation(method="POST", path="/sign-out", summary="Sign out.", who=Who.ANYBODY, handler=sign_out),
)
