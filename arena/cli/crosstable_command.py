"""``arena crosstable``: who scored what against whom."""

from __future__ import annotations

import click

from arena.cli.common import load_standings, named_or_latest, open_home, print_table
from arena.cli.options import format_options, game_option


@click.command("crosstable")
@click.argument("tournament", required=False)
@game_option
@format_options
def command(tournament: str | None, game: str | None, table_format: str) -> None:
    """Show points/matches of each bot against each rival in TOURNAMENT (by default the latest).

    A win is a point, a tie half.
    """
    from arena.analysis.encounters import count_encounters
    from arena.analysis.standings import crosstable
    from arena.report.standings_table import crosstable_table

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        stored.require_game(game)
        scores = crosstable(count_encounters(arena_home.store.results(stored, game)))
        table = load_standings(arena_home, stored.name, game)
    columns, rows = crosstable_table(scores, table.shown_names, formatted=table_format != "json")
    print_table(columns, rows, table_format)
