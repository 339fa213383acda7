"""Whether a request that changes something comes from our own pages."""

from __future__ import annotations

from starlette.requests import Request

from arena.base.programs.loopback import is_loopback
from arena.server.http.problems import Problem, ProblemError

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
    """Refuse a request that another site made a browser send.

    Raises:
        ProblemError: if it did.
    """
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
    """Refuse a request whose secrets could be read on its way.

    Who asks this machine by another name than its own comes through a proxy, and nobody knows how they reach that.

    Raises:
        ProblemError: if they could.
    """
    address = request.client.host if request.client is not None else ""
    if request.url.scheme != "https" and not (is_loopback(address) and is_loopback(request.url.hostname or "")):
        raise ProblemError(NOT_ENCRYPTED)
