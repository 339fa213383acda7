"""Whether a request that changes something comes from our own pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from arena.loopback import is_loopback
from arena.web.problems import Problem, ProblemError

CROSS_SITE = Problem(
    status=403,
    title="Not from this site",
    error="This was sent by a page of another site; nothing was changed.",
)
NOT_ENCRYPTED = Problem(
    status=403,
    title="Only by https",
    error="Who signs in over a network needs https, or everybody on the way reads the password; nothing was changed.",
)


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
        is_ours = origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    if not is_ours:
        raise ProblemError(CROSS_SITE)


def check_encryption(request: Request) -> None:
    """Refuse to take a password that could be read on its way.

    Raises:
        ProblemError: if it could.
    """
    address = request.client.host if request.client is not None else ""
    if request.url.scheme != "https" and not is_loopback(address):
        raise ProblemError(NOT_ENCRYPTED)
