"""``arena site people``: accounts and roles; and what the commands that change the database of people share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from arena.analysis.text.tables import Column, printable, render_table, row_of
from arena.base.checked_files import read_file
from arena.base.errors import RosterError, UsageError, failing_as
from arena.base.text import counted
from arena.cli.terminal.common import check_directories, print_table
from arena.cli.terminal.global_options import Subcommands, global_option
from arena.cli.terminal.options import A_PATH, WholeNumber, confirm, format_options, wide_option, yes_option
from arena.cli.terminal.streams import FAILED, OK, WRONG_USE
from arena.store.home import open_people, own_databases
from arena.store.people.roster import counted_people, roster_of
from arena.store.people.values import MEMBER_ROLES, Role, has_left

if TYPE_CHECKING:
    from arena.store.people.people_store import PeopleStore
    from arena.store.people.values import Person


COMMAND_LINE = "the command line"
"""The name of the command line in the public log."""

required_reason_option = click.option("--reason", required=True, metavar="TEXT", help="Why, for the public log.")


def opened_people() -> PeopleStore:
    """Open the database of people of the chosen home; the caller closes it."""
    return open_people(global_option("home"))


INVITATION_DAYS = 7
MAX_INVITATION_DAYS = 60
LOCAL_SITE = "http://127.0.0.1:8000"

COLUMNS = [
    Column("name", "name", is_number=False),
    Column("role", "role", is_number=False),
    Column("since", "since", is_number=False, drop_order=2),
    Column("account", "account", is_number=False, drop_order=1),
]

LOG_COLUMNS = [
    Column("at", "at", is_number=False, drop_order=1),
    Column("by", "by", is_number=False),
    Column("action", "what", is_number=False, wraps=True),
    Column("subject", "whom", is_number=False),
    Column("reason", "why", is_number=False, wraps=True),
    Column("details", "details", is_number=False, wraps=True, drop_order=2),
]

role_option = click.option(
    "--role",
    type=click.Choice([str(role) for role in MEMBER_ROLES]),
    default=Role.AUTHOR.value,
    show_default=True,
    help="What they may do.",
)
reason_option = click.option("--reason", default="", metavar="TEXT", help="Why, for the public log.")


def _checked_site(_context: click.Context, _option: click.Parameter, site: str) -> str:
    from arena.cli.remote.credentials import site_address

    return str(site_address(site, may_be_plain=True))


site_option = click.option(
    "--site",
    default=LOCAL_SITE,
    show_default=True,
    metavar="URL",
    callback=_checked_site,
    help="Where `arena serve` is reached.",
)
days_option = click.option(
    "--days",
    type=WholeNumber(1, MAX_INVITATION_DAYS),
    default=INVITATION_DAYS,
    show_default=True,
    help="How many days the link can be used.",
)


@click.group("people", cls=Subcommands, invoke_without_command=True)
@wide_option
@click.pass_context
def people_command(context: click.Context) -> None:
    """Add people to an arena that others may enter, and say what they may do.

    \b
    arena site people add ada --role director
    arena serve --open-to authors

    People have accounts in a database of their own, in the home's people.sqlite3 or where $ARENA_PEOPLE says. Everybody
    who can run this command there can do all of this; everything else is in the browser.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_people)


@people_command.command("list")
@format_options
def list_people(table_format: str = "text") -> None:
    """List everybody who has an account."""
    with opened_people() as people:
        everybody = people.accounts.all()
    rows = [
        {"name": person.name, "role": person.role.value, "since": person.created_at[:10], "account": _account(person)}
        for person in everybody
    ]
    empty = "Nobody has an account yet; add somebody with: arena site people add NAME --role director"
    print_table(COLUMNS, rows, table_format, empty=empty)


@people_command.command("add")
@click.argument("name")
@role_option
@site_option
@days_option
def add(name: str, role: str, site: str, days: int) -> None:
    """Add a person, and print the link by which they choose a password.

    The link can be used once. Names that look alike count as the same.
    """
    with opened_people() as people:
        person = people.accounts.add(name, Role(role), COMMAND_LINE)
        secret = people.invitations.invite_person(person.name, COMMAND_LINE, days)
    role_text = _with_article(person.role)
    click.echo(f"{person.name} is {role_text} now, and can choose a password for {counted(days, 'day')} at:")
    click.echo(_link(site, secret))


@people_command.command("import")
@click.argument("roster", type=A_PATH)
@click.option(
    "--invitations",
    "out",
    required=True,
    metavar="FILE",
    type=A_PATH,
    help="The CSV file to write, with a link for each person.",
)
@site_option
@days_option
def import_people(roster: Path, out: Path, site: str, days: int) -> int:
    """Add everybody on ROSTER, a CSV file.

    The links by which they choose their passwords go into another CSV file.

    \b
    arena site people import roster.csv --invitations invitations.csv

    A roster has a name on each line, or columns with headings: name, role (author if it is empty), and any others,
    which are copied beside the links. If a line is wrong, nobody is added.
    """
    data = read_file(roster, UsageError, "a CSV file")
    check_directories(out)
    try:
        read = roster_of(data)
        with opened_people() as people, _new_file(out) as file:

            def write(secrets: list[str]) -> None:
                rows = read.rows([_link(site, secret) for secret in secrets])
                columns = [Column(key, key, is_number=False) for key in rows[0]]
                file.seek(0)
                file.write(render_table(columns, rows, "csv") + "\n")
                file.flush()
                os.fsync(file.fileno())

            people.invitations.invite_all(read, COMMAND_LINE, days, write)
    except RosterError as error:
        for line, sentence in error.mistakes:
            click.echo(f"arena: {printable(f'{roster}: line {line}: {sentence}')}", err=True)
        return WRONG_USE
    added = counted_people(read.newcomers)
    click.echo(f"Added {added}. Links to choose a password at {printable(site)}, for {counted(days, 'day')},", nl=False)
    click.echo(f" are in {printable(str(out))}")
    return OK


@contextmanager
def _new_file(path: Path) -> Iterator[TextIO]:
    """Make a file that only its owner reads; it is removed if the work fails."""
    with failing_as(UsageError, f"{str(path)!r} can't be written"):
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            raise UsageError(
                f"{str(path)!r} can't be written: it exists, and may have links that are still needed"
            ) from None
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                yield file
        except BaseException:
            path.unlink(missing_ok=True)
            raise


@people_command.command("link")
@click.argument("person")
@site_option
@days_option
def link(person: str, site: str, days: int) -> None:
    """Print a new link by which PERSON chooses a password.

    For a password that was forgotten, or a link that was lost.
    """
    with opened_people() as people:
        secret = people.invitations.invite_person(person, COMMAND_LINE, days)
    click.echo(f"{printable(person)} can choose a password for {counted(days, 'day')} at:\n{_link(site, secret)}")


@people_command.command("role")
@click.argument("person")
@click.argument("role", type=click.Choice([str(role) for role in MEMBER_ROLES]))
@reason_option
def role(person: str, role: str, reason: str) -> None:
    """Change what PERSON may do."""
    with opened_people() as people:
        changed = people.accounts.set_role(person, Role(role), COMMAND_LINE, reason)
    click.echo(printable(f"{changed.name} is {_with_article(changed.role)} now."))


@people_command.command("close")
@click.argument("person")
@reason_option
@yes_option
def close(person: str, reason: str, is_confirmed: bool) -> int:
    """Close the account of PERSON.

    All sessions and tokens end, and nobody can sign in with it.
    """
    with opened_people() as people:
        account = people.accounts.get(person)
        if not confirm(f"Close the account of {account.name}, {_with_article(account.role)}?", is_confirmed):
            return FAILED
        people.accounts.close(account.name, COMMAND_LINE, reason)
    click.echo(
        printable(f"The account of {account.name} is closed; open it again with: arena site people open {account.name}")
    )
    return OK


@people_command.command("open")
@click.argument("person")
@reason_option
def reopen(person: str, reason: str) -> None:
    """Open a closed account again."""
    with opened_people() as people:
        opened = people.accounts.reopen(person, COMMAND_LINE, reason)
    click.echo(printable(f"The account of {opened.name} is open again."))


@people_command.command("adopt")
def adopt() -> None:
    """Let this home have the databases of another on servers.

    `arena serve` refuses databases that belong to another home, whose site would take the submissions of this one. If
    that home is gone, or was restored here, this command lets the site of this one work on them, and no other.
    """
    servers = own_databases(global_option("home"), global_option("store"), is_adopted=True)
    if not servers:
        raise UsageError("the databases of this home are files in it; so there is nothing to adopt")
    for server in servers:
        click.echo(printable(f"{server} belongs to this home now."))


@people_command.command("log")
@format_options
def log(table_format: str) -> None:
    """List what was done about people, the latest first."""
    with opened_people() as people:
        entries = people.log.lines(hidden=())
    rows = [row_of(LOG_COLUMNS, entry) for entry in entries]
    print_table(LOG_COLUMNS, rows, table_format, empty="Nothing was done yet.")


def _account(person: Person) -> str:
    if person.closed_at is not None:
        return "has left" if has_left(person.name) else "closed"
    return "open" if person.has_password else "invited"


def _with_article(role: Role) -> str:
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"


def _link(site: str, secret: str) -> str:
    return f"{site}/invitations/{secret}"
