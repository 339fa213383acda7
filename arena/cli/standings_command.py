"""``arena standings``: the table of a tournament."""

from __future__ import annotations

import click

from arena.cli.common import chosen_format, format_options, home_option, print_standings


@click.command("standings")
@click.argument("tournament")
@click.option("--game", help="Only the matches of this game.")
@format_options
@home_option
def command(tournament: str, game: str | None, table_format: str, as_json: bool, home: str | None) -> None:
    """Show the table of TOURNAMENT, the best bot first."""
    from arena.tournament.arena_home import ArenaHome

    table_format = chosen_format(table_format, as_json)
    with ArenaHome(home) as arena_home:
        if game is not None:
            arena_home.check_game(tournament, game)
        table = arena_home.standings(tournament, game)
    print_standings(table, table_format)
