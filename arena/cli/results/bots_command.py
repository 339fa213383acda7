"""``arena bots``: the submitted bots."""

from __future__ import annotations

import click

from arena.analysis.text.tables import Column, printable
from arena.cli.terminal.common import open_home, print_json, print_table
from arena.cli.terminal.confirmation import confirm, yes_option
from arena.cli.terminal.options import format_options

COLUMNS = [
    Column("name", "bot", is_number=False),
    Column("version", "version", is_number=False, drop_order=1),
    Column("content", "digest", is_number=False, drop_order=3),
    Column("submitted_at", "submitted (UTC)", is_number=False, drop_order=2),
]
AUTHOR = Column("author", "author", is_number=False, drop_order=4)
"""In a home to which people have submitted bots."""


@click.command("bots")
@click.option("--remove", metavar="NAME@VERSION", help="Remove this bot and its files, after asking.")
@yes_option
@format_options
def command(remove: str | None, is_confirmed: bool, table_format: str) -> None:
    """List the submitted bots, the oldest first; or remove one.

    The matches of a removed bot stay where they are, and arena verify still checks them; arena repro asks for its files
    with --bot-path. A bot whose files a tournament needs that is not finished is not removed.
    """
    if remove is not None:
        is_removed = _remove(remove, is_confirmed)
        if table_format == "json":
            print_json({"bot": remove, "is_removed": is_removed})
        elif is_removed:
            click.echo(printable(f"{remove} is removed."))
        return
    with open_home() as arena_home:
        bots, owners = arena_home.store.submitted_bots(), arena_home.store.owners()
    rows = [
        bot._asdict() | {"content": bot.digest, "author": owners.owner(bot.label, bot.digest) or ""} for bot in bots
    ]
    columns = [*COLUMNS, AUTHOR] if owners.by_bot else COLUMNS
    print_table(columns, rows, table_format, "" if bots else "No bot has been submitted yet: arena submit PATH")


def _remove(label: str, is_confirmed: bool) -> bool:
    with open_home(must_exist=True) as arena_home:
        bot = arena_home.bots.removable(label)
        if not confirm(f"Remove bot {bot.label!r} and its files?", is_confirmed):
            return False
        arena_home.bots.remove(label)
        return True
