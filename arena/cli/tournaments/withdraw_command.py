"""``arena withdraw``: a bot leaves a tournament."""

from __future__ import annotations

import click

from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import json_option
from arena.cli.tournaments.corrections import print_correction, reason_option


@click.command("withdraw")
@click.argument("tournament")
@click.argument("bot")
@reason_option
@json_option
def command(tournament: str, bot: str, reason: str, as_json: bool) -> None:
    """Let BOT leave TOURNAMENT: it is not paired any more, and its recorded matches stay.

    In a Swiss its rivals get the point of a bye; in a knockout its rival advances.
    """
    from arena.tournament.corrections.absence import withdraw

    with open_home(must_exist=True) as arena_home:
        made = withdraw(arena_home.store, tournament, bot, reason=reason)
        print_correction(arena_home.store, tournament, made, as_json)
