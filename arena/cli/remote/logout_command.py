"""``arena logout``: signs out of the site of an arena."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.errors import SiteAwayError, SiteError, UsageError
from arena.cli.terminal.common import print_json
from arena.cli.terminal.options import json_option
from arena.cli.terminal.streams import FAILED, OK

if TYPE_CHECKING:
    from arena.cli.remote.credentials import Credentials
    from arena.cli.remote.site_address import SiteAddress


@click.command("logout")
@click.argument("url", required=False)
@json_option
def command(url: str | None, as_json: bool) -> int:
    """Sign out of the arena at URL: its token is removed here, and ends there.

    Without URL, where you are signed in, if that is one place.
    """
    from arena.cli.remote.account import end_token
    from arena.cli.remote.credentials import Credentials
    from arena.cli.remote.site_client import UNAUTHORIZED, SiteClient

    credentials = Credentials()
    site = _chosen(credentials, url)
    token = credentials.find(site)
    if token is None:
        raise UsageError(f"site {str(site)!r}: you are not signed in there; arena login lists where you are")
    failure = ""
    try:
        end_token(SiteClient(site, token))
    except (SiteError, SiteAwayError) as error:
        has_ended = isinstance(error, SiteError) and error.status == UNAUTHORIZED
        failure = "" if has_ended else str(error)
    credentials.remove(site)
    if as_json:
        print_json({"site": str(site), "has_ended": not failure})
    if failure:
        sentence = f"the token is removed here, but may still be good for something: end it at {site}/account"
        click.echo(f"arena: {printable(failure)}; {sentence}", err=True)
        return FAILED
    if not as_json:
        click.echo(f"You are signed out of {site}.")
    return OK


def _chosen(credentials: Credentials, url: str | None) -> SiteAddress:
    """Return the site to sign out of.

    Raises:
        UsageError: if it is not clear which.
    """
    from arena.cli.remote.site_address import site_address

    if url is not None:
        return site_address(url, may_be_plain=True)
    sites = [one.site for one in credentials.all()]
    if not sites:
        raise UsageError("you are signed in nowhere")
    if len(sites) > 1:
        raise UsageError(f"you are signed in at {', '.join(sites)}; expected one of them after arena logout")
    return site_address(sites[0], may_be_plain=True)
