"""``arena standings``: the table of a tournament."""

from __future__ import annotations

import click

from arena.cli.common import chosen_format, format_options, home_option, named_or_latest, print_standings


@click.command("standings")
@click.argument("tournament", required=False)
@click.option("--game", help="Only the matches of this game.")
@format_options
@home_option
def command(tournament: str | None, game: str | None, table_format: str, as_json: bool, home: str | None) -> None:
    """Show the table of TOURNAMENT (by default the latest), the best bot first."""
    from arena.tournament.arena_home import ArenaHome

    table_format = chosen_format(table_format, as_json)
    with ArenaHome(home, must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        arena_home.check_game(stored, game)
        table = arena_home.standings(stored.name, game)
    print_standings(table, table_format)
