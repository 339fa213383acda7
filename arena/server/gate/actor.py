"""Who asks: from the cookie of a browser or the token of a program, and from our own pages only."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from arena.base.programs.systemd import is_loopback
from arena.server.http.problems import Problem, ProblemError
from arena.store.people.people_store import PeopleStore
from arena.store.people.secret import is_secret, is_token
from arena.store.people.values import PERMISSIONS, Permission, Person, Role, permissions_of_token

# Who asks: from the cookie of a browser, or the token of a program.
#
# A browser sends its cookie with whatever other sites make it ask for, a program its token only where it wants to. So
# what a cookie proves counts for requests that come from our own pages alone (``origin.py``).

MAX_COOKIE_CHARACTERS = 4000
COOKIE_SECONDS = 180 * 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks, and what they may do: a person in a browser (with a session), a program (with a token), a visitor."""

    person: Person | None
    permissions: frozenset[Permission]
    session: int | None = None
    token: int | None = None

    @property
    def number(self) -> int | None:
        """Of the person in the database; None for a visitor."""
        return self.person.number if self.person is not None else None


VISITOR = Actor(person=None, permissions=PERMISSIONS[Role.VISITOR])


def actor_of(request: Request, people: PeopleStore) -> Actor:
    """Return who asks, from the database.

    Raises:
        ProblemError: for a token that is nobody's: a program must not go on as a visitor.
    """
    authorization = request.headers.get("authorization")
    if authorization is not None:
        return _of_token(authorization, people)
    secret = session_secret(request)
    found = people.sessions.find(secret) if secret is not None else None
    if found is None:
        return VISITOR
    return Actor(person=found.person, permissions=PERMISSIONS[found.person.role], session=found.session.number)


def _of_token(authorization: str, people: PeopleStore) -> Actor:
    scheme, _, token = authorization.partition(" ")
    owner = people.tokens.find(token) if scheme.lower() == "bearer" and is_token(token) else None
    if owner is None:
        sentence = "The token is not right, or has expired; make another one on your account page"
        raise ProblemError(Problem(status=401, title="Sign in first", error=sentence))
    permissions = permissions_of_token(owner.person.role, owner.token.scopes)
    return Actor(person=owner.person, permissions=permissions, token=owner.token.number)


def session_secret(request: Request) -> str | None:
    """Return the secret in the cookie of a browser; None without one."""
    header = "; ".join(request.headers.getlist("cookie"))
    if len(header) > MAX_COOKIE_CHARACTERS:
        return None
    # not by http.cookies: what another program on this host has set may be no cookie by its rules
    pairs = [pair.strip().partition("=") for pair in header.split(";")]
    ours = [value for name, _, value in pairs if name == cookie_name(request)]
    return ours[0] if len(ours) == 1 and is_secret(ours[0]) else None  # of two, one was set by a stranger


def cookie_name(request: Request) -> str:
    """Return the cookie's name: with ``__Host-`` browsers keep it for this very host, and off plain http."""
    return "__Host-arena" if request.url.scheme == "https" else "arena-here"


def cookie_of(request: Request, secret: str | None) -> str:
    """Return the header that sets the cookie; with None, the one that removes it."""
    secure = "; Secure" if request.url.scheme == "https" else ""
    age = COOKIE_SECONDS if secret is not None else 0
    return f"{cookie_name(request)}={secret or ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}"


# Whether a request that changes something comes from our own pages.

CROSS_SITE = Problem(
    status=403,
    title="Not from this site",
    error="This was sent by a page of another site; nothing was changed.",
)
NOT_ENCRYPTED = Problem(
    status=403,
    title="Only by https",
    error="Accounts are reached over a network by https alone, or everybody on the way could read passwords; behind"
    " a proxy, its director names it: arena serve --trusted-proxy ADDRESS",
)


def site_of(request: Request) -> str:
    """Return the address of the site as the request has it; its host is one that the site answers to."""
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def check_origin(request: Request) -> None:
    """Raise ProblemError for a request that another site made a browser send."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        is_ours = site in ("same-origin", "none")
    else:
        origin = request.headers.get("origin")
        # browsers too old for either header send no cookie with what another site posts: SameSite=Lax
        is_ours = origin is None or origin.lower() == site_of(request).lower()
    if not is_ours:
        raise ProblemError(CROSS_SITE)


def check_encryption(request: Request) -> None:
    """Raise ProblemError for a request whose secrets others could read on the way.

    Who asks this machine by another name than its own comes through a proxy, and nobody knows how they reach that.
    """
    address = request.client.host if request.client is not None else ""
    if request.url.scheme != "https" and not (is_loopback(address) and is_loopback(request.url.hostname or "")):
        raise ProblemError(NOT_ENCRYPTED)
