"""``arena bots``: the submitted bots."""

from __future__ import annotations

import click

from arena.cli.common import open_home, print_table
from arena.cli.options import format_options
from arena.report.tables import Column

COLUMNS = [
    Column("name", "bot", is_number=False),
    Column("version", "version", is_number=False),
    Column("content", "digest", is_number=False),
    Column("submitted_at", "submitted (UTC)", is_number=False),
]


@click.command("bots")
@format_options
def command(table_format: str) -> None:
    """List the submitted bots, the oldest first."""

    with open_home() as arena_home:
        bots = arena_home.store.submitted_bots()
    print_table(COLUMNS, [bot._asdict() | {"content": bot.digest} for bot in bots], table_format)
    if table_format == "text" and not bots:
        click.echo("\nNo bot has been submitted yet: arena submit PATH")
