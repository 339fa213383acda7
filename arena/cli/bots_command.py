"""``arena bots``: the submitted bots."""

from __future__ import annotations

import click

from arena.cli.common import open_home, print_table
from arena.cli.options import format_options
from arena.report.tables import Column

COLUMNS = [
    Column("name", "bot", is_number=False),
    Column("version", "version", is_number=False, drop_order=1),
    Column("content", "digest", is_number=False, drop_order=3),
    Column("submitted_at", "submitted (UTC)", is_number=False, drop_order=2),
]


@click.command("bots")
@format_options
def command(table_format: str) -> None:
    """List the submitted bots, the oldest first."""

    with open_home() as arena_home:
        bots = arena_home.store.submitted_bots()
    rows = [bot._asdict() | {"content": bot.digest} for bot in bots]
    print_table(COLUMNS, rows, table_format, "" if bots else "No bot has been submitted yet: arena submit PATH")
