"""``arena void``: matches are played again."""

from __future__ import annotations

import click

from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, json_option
from arena.cli.tournaments.corrections import print_correction, reason_option


@click.command("void")
@click.argument("tournament")
@click.argument("matches", nargs=-1, required=True, type=WholeNumber(1, MAX_COUNT), metavar="MATCH...")
@reason_option
@json_option
def command(tournament: str, matches: tuple[int, ...], reason: str, as_json: bool) -> None:
    """Void each MATCH of TOURNAMENT, given by its number: the next arena run plays it again.

    It has the same opening and seats. The record that does not count any more is kept: arena export --set-aside.
    """
    from arena.tournament.corrections.void_matches import void_matches

    with open_home(must_exist=True) as arena_home:
        made = void_matches(arena_home.store, tournament, matches, reason=reason)
        print_correction(arena_home.store, tournament, made, as_json)
