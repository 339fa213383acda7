"""``arena merge``: take what was played in another home."""

from __future__ import annotations

import click

from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import json_option
from arena.cli.tournaments.merged_tournaments import external_game_option, print_merged


@click.command("merge")
@click.argument("other_home")
@click.argument("tournaments", metavar="[TOURNAMENT]...", nargs=-1)
@external_game_option
@json_option
def command(other_home: str, tournaments: tuple[str, ...], external_games: tuple[str, ...], as_json: bool) -> int:
    """Take the tournaments in OTHER_HOME, or only those named, with all that was played there.

    A tournament that is here as well gets the matches that it lacks; where a match was played on both sides, the record
    here stays. Every record is compared with the schedule and replayed by the rules first. OTHER_HOME is only read, may
    be in use, and may have been made by an earlier version. Bots' programs are not taken. It does no harm to merge
    again.
    """
    from arena.tournament.transfer.merging import merge_home

    with open_home() as arena_home:
        return print_merged(merge_home(arena_home, other_home, tournaments, external_games=external_games), as_json)
