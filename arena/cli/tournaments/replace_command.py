"""``arena replace``: an entrant gets new files."""

from __future__ import annotations

import click

from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import json_option
from arena.cli.tournaments.corrections import bot_to_enter, print_correction, reason_option


@click.command("replace")
@click.argument("tournament")
@click.argument("bot")
@click.argument("new")
@click.option("--args", default="", help="Arguments added to its command.")
@reason_option
@json_option
def command(tournament: str, bot: str, new: str, args: str, reason: str, as_json: bool) -> None:
    """Give the entrant BOT of TOURNAMENT the files of NEW: a path, or a submitted bot.

    NEW has to pass its check. The records of BOT's matches are set aside, and the next arena run plays these again;
    all other results stay. The tournament file may stay as it is.
    """
    from arena.tournament.corrections.bots import replace_bot

    with open_home(must_exist=True) as arena_home:
        made = replace_bot(arena_home.store, tournament, bot, bot_to_enter(arena_home, new, args), reason=reason)
        print_correction(arena_home.store, tournament, made, as_json)
