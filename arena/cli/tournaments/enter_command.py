"""``arena enter``: a bot enters a tournament that has begun."""

from __future__ import annotations

import click

from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import json_option
from arena.cli.tournaments.corrections import bot_to_enter, print_correction, reason_option


@click.command("enter")
@click.argument("tournament")
@click.argument("bot")
@click.option("--as", "name", metavar="NAME", help="Its name in this tournament, in place of its own.")
@click.option("--args", default="", help="Arguments added to its command.")
@click.option("--challenger", is_flag=True, help="Enter a gauntlet as a challenger, and not in the field.")
@reason_option
@json_option
def command(
    tournament: str, bot: str, name: str | None, args: str, challenger: bool, reason: str, as_json: bool
) -> None:
    """Let BOT, a path or a submitted bot, enter TOURNAMENT, a round robin or a gauntlet that has begun.

    BOT has to pass its check. The next arena run plays its matches, from the same openings as everybody's. The
    tournament file may stay as it is.
    """
    from arena.tournament.corrections.bots import enter_late

    with open_home(must_exist=True) as arena_home:
        entrant = bot_to_enter(arena_home, bot, args, name)
        made = enter_late(arena_home.store, tournament, entrant, reason=reason, is_challenger=challenger)
        print_correction(arena_home.store, tournament, made, as_json)
