"""``arena site login`` and ``arena site logout``: for commands that ask the site of an arena."""

from __future__ import annotations

import sys
from contextlib import suppress

import click

from arena.analysis.text.tables import Column, Row, printable, row_of
from arena.base.errors import SiteAwayError, SiteError, UsageError
from arena.cli.remote.credentials import Credentials, SiteAddress, site_address
from arena.cli.remote.site_client import (
    TOKEN_VARIABLE,
    UNAUTHORIZED,
    Account,
    SiteClient,
    account_of,
    end_token,
    token_in_environment,
)
from arena.cli.terminal.common import print_json, print_table, sentences_text
from arena.cli.terminal.options import format_options, json_option, plain_http_option
from arena.cli.terminal.streams import FAILED, OK
from arena.store.people.secret import is_token

MAX_TOKEN_CHARACTERS = 200

COLUMNS = [
    Column("site", "site", is_number=False),
    Column("name", "name", is_number=False),
    Column("role", "role", is_number=False, drop_order=2),
    Column("scopes", "good for", is_number=False, drop_order=1),
    Column("until", "until", is_number=False),
]


@click.command("login")
@click.argument("url", required=False)
@click.option("--token", "token_source", metavar="-", hidden=True)
@plain_http_option
@format_options
def login_command(
    url: str | None,
    token_source: str | None,
    plain_http: bool,
    table_format: str,
) -> int:
    """Sign in at the arena at URL; without URL, list where you are signed in.

    \b
    arena site login https://arena.example.org
    arena site login https://arena.example.org < token.txt

    It asks for a token, which you make on your account page there. The token is kept in
    ~/.config/arena/credentials.json, or where $ARENA_CREDENTIALS says; `arena site logout` ends it. A token in
    $ARENA_TOKEN is used in place of all that are kept.
    """
    if token_source not in (None, "-"):
        raise UsageError("--token: expected -, and the token on stdin; others could see it on the command line")
    if url is None:
        return _list(table_format)
    _warn_of_environment()

    site = site_address(url, plain_http)
    credentials = Credentials()
    earlier = credentials.find(site)  # a file that can't be used is better known before somebody makes a token
    token = _read_token(site)
    client = SiteClient(site, token)
    account = account_of(client)
    credentials.put(site, token)
    if earlier not in (None, token):
        with suppress(SiteError, SiteAwayError):
            end_token(SiteClient(site, earlier))
    if table_format == "text":
        who = f"You are signed in at {client.site} as {account.name} ({account.role})"
        until = f"until {account.expires_at[:10]}; scopes: {', '.join(account.scopes)}."
        click.echo(sentences_text(f"{who}, {until}"))
    else:
        print_table(COLUMNS, [_row(client, account, table_format)], table_format)
    return OK


def _read_token(site: SiteAddress) -> str:
    if sys.stdin.isatty():
        click.echo(f"Make a token at {site}/account and paste it here; it is not shown. (Ctrl-C ends this)", err=True)
        text = click.prompt("Token", default="", show_default=False, hide_input=True, err=True).strip()
    else:
        text = sys.stdin.buffer.readline(MAX_TOKEN_CHARACTERS).decode(errors="replace").strip()
    if not is_token(text):
        raise UsageError("this is no token of an arena; expected arena_ and 49 more characters")
    return text


def _list(table_format: str) -> int:
    _warn_of_environment()
    rows: list[Row] = []
    failures = []
    for credential in Credentials().all():
        client = SiteClient(site_address(credential.site, may_be_plain=True), credential.token)
        try:
            rows.append(_row(client, account_of(client), table_format))
        except (SiteError, SiteAwayError) as error:
            rows.append(_row(client, None, table_format))
            failures.append(str(error))
    print_table(COLUMNS, rows, table_format, empty="You are signed in nowhere; sign in with: arena site login URL")
    for failure in failures:
        click.echo(f"arena: {printable(failure)}", err=True)
    return FAILED if failures else OK


def _row(client: SiteClient, account: Account | None, table_format: str) -> Row:
    if account is None:
        return dict.fromkeys((column.key for column in COLUMNS), None) | {"site": str(client.site)}
    scopes = list(account.scopes) if table_format == "json" else ", ".join(account.scopes)
    return row_of(COLUMNS, account, site=str(client.site), scopes=scopes, until=account.expires_at[:10])


def _warn_of_environment() -> None:
    if token_in_environment() is not None:
        click.echo(f"arena: ${TOKEN_VARIABLE} is set, and is used in place of the tokens that are kept", err=True)


@click.command("logout")
@click.argument("url", required=False)
@json_option
def logout_command(url: str | None, as_json: bool) -> int:
    """Sign out of the arena at URL: its token is removed here, and ends there.

    Without URL, where you are signed in, if that is one place.
    """
    credentials = Credentials()
    site = _chosen(credentials, url)
    token = credentials.find(site)
    if token is None:
        raise UsageError(f"site {str(site)!r}: you are not signed in there; arena site login lists where you are")
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
        sentence = f"the token is removed here, but it may still be valid: end it at {site}/account"
        click.echo(f"arena: {printable(failure)}; {sentence}", err=True)
        return FAILED
    if not as_json:
        click.echo(f"You are signed out of {site}.")
    return OK


def _chosen(credentials: Credentials, url: str | None) -> SiteAddress:
    if url is not None:
        return site_address(url, may_be_plain=True)
    sites = [credential.site for credential in credentials.all()]
    if not sites:
        raise UsageError("you are signed in nowhere")
    if len(sites) > 1:
        raise UsageError(f"you are signed in at {', '.join(sites)}; expected one of them after arena site logout")
    return site_address(sites[0], may_be_plain=True)
