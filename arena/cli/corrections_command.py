"""``arena corrections``: the log of corrections of a tournament."""

from __future__ import annotations

import click

from arena.cli.common import format_options, named_or_latest, open_home, print_table


@click.command("corrections")
@click.argument("tournament", required=False)
@format_options
def command(tournament: str | None, table_format: str) -> None:
    """List what has been corrected in TOURNAMENT (by default the latest), and why, the oldest first."""
    from arena.report.corrections_table import corrections_table

    with open_home(must_exist=True) as home:
        stored = named_or_latest(home, tournament)
        set_aside = {
            c.number: home.store.corrections.set_aside_matches(stored, c.number) for c in stored.corrections
        }
    if not stored.corrections and table_format == "text":
        click.echo("Nothing has been corrected.")
        return
    print_table(*corrections_table(stored.corrections, set_aside), table_format)
