"""``arena seasons``: the named sets of tournaments."""

from __future__ import annotations

import click

from arena.analysis.text.tables import Column
from arena.cli.terminal.common import open_home, print_table
from arena.cli.terminal.options import format_options

COLUMNS = [
    Column("season", "season", is_number=False),
    Column("count", "tournaments", drop_order=1),
    Column("tournaments", "which", is_number=False, wraps=True),
]


@click.command("seasons")
@format_options
def command(table_format: str) -> None:
    """List the seasons, each with its tournaments."""
    with open_home(must_exist=True) as arena_home:
        seasons = arena_home.store.seasons.all()
    is_for_programs = table_format in ("json", "csv")
    rows = [
        {
            "season": season.name,
            "count": len(season.tournaments),
            "tournaments": list(season.tournaments) if is_for_programs else ", ".join(season.tournaments) or "-",
        }
        for season in seasons
    ]
    hint = "" if seasons else "There is no season yet; begin one with: arena season NAME --add TOURNAMENT"
    print_table(COLUMNS, rows, table_format, hint)
