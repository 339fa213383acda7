"""``arena corrections``: the log of corrections of a tournament."""

from __future__ import annotations

import click

from arena.analysis.text.tables import printable
from arena.base.text import counted, minute_text
from arena.cli.terminal.common import named_or_latest, open_home, print_table, print_wrapped
from arena.cli.terminal.options import format_options


@click.command("corrections")
@click.argument("tournament", required=False)
@format_options
def command(tournament: str | None, table_format: str) -> None:
    """List what has been corrected in TOURNAMENT (by default the latest), and why, the oldest first."""
    from arena.analysis.text.corrections_table import corrections_table

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        set_aside = arena_home.store.corrections.set_aside_counts(stored)
    columns, rows = corrections_table(stored.corrections, set_aside)
    if table_format != "text":
        print_table(columns, rows, table_format)
        return
    if not rows:
        click.echo(printable(f"Nothing has been corrected in {stored.name}."))
    for row in rows:
        undone = f" (undone by {row['undone_by']})" if row["undone_by"] is not None else ""
        head = f"{row['number']:3}. "
        aside = f", {counted(row['set_aside'], 'record')} set aside" if row["set_aside"] else ""
        print_wrapped(head, len(head), printable(f"{row['correction']}{undone}"))
        print_wrapped(" " * len(head), len(head), f"{minute_text(row['made_at'])} UTC{aside}")
        print_wrapped(" " * len(head), len(head), printable(f"Reason: {row['reason']}"))
