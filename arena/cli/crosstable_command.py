"""``arena crosstable``: who scored what against whom."""

from __future__ import annotations

import click

from arena.cli.common import chosen_format, format_options, home_option, print_table


@click.command("crosstable")
@click.argument("tournament")
@click.option("--game", help="Only the matches of this game.")
@format_options
@home_option
def command(tournament: str, game: str | None, table_format: str, as_json: bool, home: str | None) -> None:
    """Show points/matches of each bot against each other in TOURNAMENT: a win is a point, a tie half."""
    from arena.tournament.arena_home import ArenaHome
    from arena.tournament.standings import crosstable
    from arena.tournament.tables import crosstable_table

    table_format = chosen_format(table_format, as_json)
    with ArenaHome(home) as arena_home:
        if game is not None:
            arena_home.check_game(tournament, game)
        stored = arena_home.store.tournament(tournament)
        cells = crosstable(arena_home.store.results(stored, game))
        labels = stored.labels
        bots = [(labels[line.bot], line.bot) for line in arena_home.standings(tournament, game).lines]
    columns, rows = crosstable_table(cells, bots, for_people=table_format != "json")
    print_table(columns, rows, table_format)
