"""``arena disqualify``: a bot is taken out of a tournament and its table."""

from __future__ import annotations

import click

from arena.base.enums import DisqualifiedMatches
from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import json_option
from arena.cli.tournaments.corrections import print_correction, reason_option


@click.command("disqualify")
@click.argument("tournament")
@click.argument("bot")
@click.option(
    "--rule",
    type=click.Choice([rule.value for rule in DisqualifiedMatches]),
    default=DisqualifiedMatches.ANNUL.value,
    show_default=True,
    help="What becomes of its matches: annul, they count for nobody; keep, they count for its rivals.",
)
@reason_option
@json_option
def command(tournament: str, bot: str, rule: str, reason: str, as_json: bool) -> None:
    """Take BOT out of TOURNAMENT: it is not paired any more, and has no line in the table."""
    from arena.tournament.corrections.absence import disqualify

    with open_home(must_exist=True) as arena_home:
        made = disqualify(arena_home.store, tournament, bot, reason=reason, matches=DisqualifiedMatches(rule))
        print_correction(arena_home.store, tournament, made, as_json)
