"""``arena crosstable``: who scored what against whom."""

from __future__ import annotations

import click

from arena.analysis.text.tables import fitted_table
from arena.base.text import counted
from arena.cli.terminal.common import can_be_printed, named_or_latest, open_home, print_table, text_width
from arena.cli.terminal.options import format_options, game_option


@click.command("crosstable")
@click.argument("tournament", required=False)
@game_option
@format_options
def command(tournament: str | None, game: str | None, table_format: str) -> None:
    """Show points/matches of each bot against each rival in TOURNAMENT (by default the latest).

    A win is a point, a tie half. Where the terminal is too narrow, and all have met equally often, only the points are
    shown.
    """
    from arena.analysis.measures.crosstable import crosstable_of
    from arena.analysis.text.standings_table import crosstable_table

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        stored.require_game(game)
        table = crosstable_of(arena_home.store, stored.name, game, cache_directory=arena_home.cache_directory)
    columns, rows = crosstable_table(table.scores, table.shown_names, formatted=table_format != "json")
    footer = ""
    if table_format == "text" and can_be_printed("½"):
        is_in_parts = "\n\n" in fitted_table(columns, rows, text_width())[0]
        counts = {score.matches for score in table.scores.values()}
        if is_in_parts and len(counts) == 1:
            columns, rows = crosstable_table(table.scores, table.shown_names, points_only=True)
            footer = f"Points in {counted(counts.pop(), 'match')} against each rival."
    print_table(columns, rows, table_format, footer)
