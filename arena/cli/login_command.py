"""``arena login``: signs in at the site of an arena, for commands that ask it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from arena.cli.common import print_table, sentences_text
from arena.cli.group import FAILED, OK
from arena.cli.options import format_options
from arena.cli.site_options import plain_http_option
from arena.errors import SiteAwayError, SiteError, UsageError
from arena.people.roles import Scope
from arena.people.secret import is_token
from arena.report.tables import Column, Row, printable
from arena.text import duration_text

if TYPE_CHECKING:
    from arena.client.account import Account
    from arena.client.program_login import ShownCode
    from arena.client.site_client import SiteClient

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
@click.option(
    "--scope",
    "scopes",
    type=click.Choice([str(scope) for scope in Scope]),
    multiple=True,
    default=[str(Scope.READ), str(Scope.SUBMIT)],
    show_default=True,
    help="What the token is good for; repeatable.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the first page in a browser.")
@click.option(
    "--token", "token_source", metavar="-", help="Read a token from stdin instead, for machines without people."
)
@plain_http_option
@format_options
def command(
    url: str | None,
    scopes: tuple[str, ...],
    is_opened: bool,
    token_source: str | None,
    plain_http: bool,
    table_format: str,
) -> int:
    """Sign in at the arena at URL; without URL, list where you are signed in.

    \b
    arena login https://arena.example.org
    arena login https://arena.example.org --token - < token.txt

    A code is shown, which you type into a browser where you are signed in. The token that comes of it is kept in
    ~/.config/arena/credentials.json, or where $ARENA_CREDENTIALS says; `arena logout` ends it. A token in $ARENA_TOKEN
    is used in place of all that are kept.
    """
    if token_source not in (None, "-"):
        raise UsageError("--token: expected -, and the token on stdin; others could see it on the command line")
    if url is None:
        return _list(table_format)
    _warn_of_environment()
    from arena.client.account import account_of
    from arena.client.credentials import Credentials
    from arena.client.site_address import site_address
    from arena.client.site_client import SiteClient

    site = site_address(url, plain_http)
    credentials = Credentials()
    earlier = credentials.find(site)  # a file that can't be used is better known before somebody types a code
    token = _typed_token() if token_source else _confirmed_token(SiteClient(site), scopes, is_opened)
    client = SiteClient(site, token)
    account = account_of(client)
    credentials.put(site, token)
    if earlier not in (None, token):
        _end(SiteClient(site, earlier))
    if table_format == "text":
        click.echo(sentences_text(_signed_in(client, account)))
    else:
        print_table(COLUMNS, [_row(client, account, table_format)], table_format)
    return OK


def _confirmed_token(client: SiteClient, scopes: tuple[str, ...], is_opened: bool) -> str:
    from arena.client.program_login import begin_login, wait_for_token

    shown = begin_login(client, [Scope(scope) for scope in scopes])
    click.echo(_instruction(shown), err=True)
    if is_opened:
        click.launch(shown.filled_in_at)
    return wait_for_token(client, shown)


def _instruction(shown: ShownCode) -> str:
    return (
        f"Open {shown.confirm_at} and type the code\n\n    {shown.code}\n\n"
        f"It can be used for {duration_text(shown.expires_in_seconds)}. Confirm no code that you did not ask for"
        " yourself. (Ctrl-C ends the wait)"
    )


def _typed_token() -> str:
    """Return the token on stdin.

    Raises:
        UsageError: if there is no token.
    """
    text = sys.stdin.buffer.readline(MAX_TOKEN_CHARACTERS).decode(errors="replace").strip()
    if not is_token(text):
        raise UsageError("--token -: there is no token on stdin; expected arena_ and 49 more characters")
    return text


def _end(client: SiteClient) -> None:
    """End an earlier token; a site that can't do it now must not spoil the new one."""
    from arena.client.account import end_token

    try:
        end_token(client)
    except (SiteError, SiteAwayError):
        return


def _list(table_format: str) -> int:
    """Print where somebody is signed in; fail if a site could not be asked."""
    from arena.client.account import account_of
    from arena.client.credentials import Credentials
    from arena.client.site_address import site_address
    from arena.client.site_client import SiteClient

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
    hint = "" if rows else "You are signed in nowhere; sign in with: arena login URL"
    print_table(COLUMNS, rows, table_format, hint)
    for failure in failures:
        click.echo(f"arena: {printable(failure)}", err=True)
    return FAILED if failures else OK


def _row(client: SiteClient, account: Account | None, table_format: str) -> Row:
    row: Row = {"site": str(client.site), "name": None, "role": None, "scopes": None, "until": None}
    if account is not None:
        scopes = list(account.scopes) if table_format == "json" else ", ".join(account.scopes)
        row |= {"name": account.name, "role": account.role, "scopes": scopes, "until": account.expires_at[:10]}
    return row


def _signed_in(client: SiteClient, account: Account) -> str:
    return (
        f"You are signed in at {client.site} as {account.name} ({account.role}), until {account.expires_at[:10]};"
        f" good for: {', '.join(account.scopes)}."
    )


def _warn_of_environment() -> None:
    from arena.client.signed_in import TOKEN_VARIABLE, token_in_environment

    if token_in_environment() is not None:
        click.echo(f"arena: ${TOKEN_VARIABLE} is set, and is used in place of the tokens that are kept", err=True)
