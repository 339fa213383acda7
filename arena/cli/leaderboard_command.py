"""``arena leaderboard``: the ratings of all bots of a game over all tournaments."""

from __future__ import annotations

import click

from arena.cli.common import chosen_format, format_options, home_option, print_standings


@click.command("leaderboard")
@click.argument("game")
@format_options
@home_option
def command(game: str, table_format: str, as_json: bool, home: str | None) -> None:
    """Rate every bot that has played GAME, over all tournaments. A new version of a bot is a new player."""
    from arena.games import find_game
    from arena.tournament.arena_home import ArenaHome

    find_game(game)
    table_format = chosen_format(table_format, as_json)
    with ArenaHome(home, must_exist=True) as arena_home:
        table = arena_home.standings(game=game)
    print_standings(table, table_format)
