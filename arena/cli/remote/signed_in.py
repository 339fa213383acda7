"""Clients of sites where one is signed in, for commands."""

from __future__ import annotations

import os

from arena.base.errors import UsageError
from arena.cli.remote.credentials import Credentials
from arena.cli.remote.site_address import site_address
from arena.cli.remote.site_client import SiteClient
from arena.store.people.secret import is_token

TOKEN_VARIABLE = "ARENA_TOKEN"


def token_in_environment() -> str | None:
    """Return the token in $ARENA_TOKEN; None without one.

    Raises:
        UsageError: if it is no token.
    """
    text = os.environ.get(TOKEN_VARIABLE, "").strip()
    if text and not is_token(text):
        raise UsageError(f"${TOKEN_VARIABLE} is no token of an arena; expected arena_ and 49 more characters")
    return text or None


def for_site(url: str, may_be_plain: bool = False) -> SiteClient:
    """Return a client of a site, with the token in $ARENA_TOKEN, or else the one that ``arena login`` has kept.

    Args:
        url: the address of the site.
        may_be_plain: whether a token from the environment may be sent to another machine without encryption. Where
            somebody has signed in, that was decided then.

    Raises:
        UsageError: if it is no address, or nobody is signed in there.
    """
    token = token_in_environment()
    if token is not None:
        return SiteClient(site_address(url, may_be_plain), token)
    site = site_address(url, may_be_plain=True)
    token = Credentials().find(site)
    if token is None:
        raise UsageError(f"site {str(site)!r}: you are not signed in there; sign in with: arena login {site}")
    return SiteClient(site, token)
