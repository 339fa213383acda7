"""Signing programs in, such as ``arena login``: the program shows a code, and a person types it into a browser.

It is the device authorization grant of RFC 8628, with JSON of our own.
"""

from __future__ import annotations

from pydantic import Field

from arena.errors import UsageError
from arena.people.roles import Scope
from arena.people.secret import is_secret
from arena.site.models.people import ProgramPage, ProgramRequest, ProgramToken
from arena.store.people.device_logins import UNKNOWN_CODE, WAITING_SECONDS
from arena.store.people.rates import Rate
from arena.web.people.operation import Done, Fields, Operation, Visit, Who

REQUESTS = Rate(200, 600.0)
"""A whole class may sit behind one address."""
CODES = Rate(30, 600.0)
INTERVAL_SECONDS = 2


class NewProgram(Fields):
    """A program that wants to be signed in."""

    machine: str = Field(min_length=1, max_length=64)
    scopes: tuple[Scope, ...] = Field(min_length=1)


class Question(Fields):
    """A program asks for its token."""

    secret: str


class Code(Fields):
    """The code that a program shows."""

    code: str = ""


def begin(visit: Visit) -> ProgramRequest:
    """Let a program wait."""
    sent: NewProgram = visit.fields
    request = visit.people.device_logins.begin(sent.machine, sent.scopes)
    return ProgramRequest(
        secret=request.secret,
        code=request.code,
        confirm_at=f"{visit.site}/programs",
        interval_seconds=INTERVAL_SECONDS,
        expires_in_seconds=int(WAITING_SECONDS),
    )


def ask(visit: Visit) -> ProgramToken:
    """Return the token of a program, once; without one as long as nobody has typed its code.

    Raises:
        UsageError: if it does not wait any more.
    """
    if not is_secret(visit.fields.secret):
        raise UsageError(UNKNOWN_CODE)
    return ProgramToken(token=visit.people.device_logins.take(visit.fields.secret))


def show_program(visit: Visit) -> ProgramPage:
    """Return the form for a code, and what confirming it would allow."""
    code = visit.fields.code.strip()
    if not code:
        return ProgramPage(code="", machine=None, scopes=(), name=visit.person.name)
    waiting = visit.people.device_logins.find(code)
    return ProgramPage(code=code, machine=waiting.machine, scopes=tuple(sorted(waiting.scopes)), name=visit.person.name)


def confirm(visit: Visit) -> Done:
    """Let the program act for whoever confirms."""
    visit.people.device_logins.confirm(visit.fields.code, visit.person)
    return Done(to="/account?signed_in=1", sentence="the program is signed in")


OPERATIONS = (
    Operation(
        method="POST",
        path="/programs/requests",
        summary="Ask for a code, as a program.",
        who=Who.ANYBODY,
        handler=begin,
        fields=NewProgram,
        model=ProgramRequest,
        rate=REQUESTS,
    ),
    Operation(
        method="POST",
        path="/programs/tokens",
        summary="Ask for the token of a program whose code was typed.",
        who=Who.ANYBODY,
        handler=ask,
        fields=Question,
        model=ProgramToken,
    ),
    Operation(
        method="GET",
        path="/programs",
        summary="The form for the code that a program shows.",
        who=Who.MEMBER_IN_BROWSER,
        handler=show_program,
        fields=Code,
        model=ProgramPage,
        template="program.html.jinja",
        rate=CODES,
    ),
    Operation(
        method="POST",
        path="/programs",
        summary="Sign in the program that shows a code.",
        who=Who.MEMBER_IN_BROWSER,
        handler=confirm,
        fields=Code,
        form="/programs",
        rate=CODES,
    ),
)
