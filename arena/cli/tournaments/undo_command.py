"""``arena undo``: a correction is undone."""

from __future__ import annotations

import click

from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, json_option
from arena.cli.tournaments.corrections import print_correction, reason_option


@click.command("undo")
@click.argument("tournament")
@click.argument("number", required=False, type=WholeNumber(1, MAX_COUNT))
@reason_option
@json_option
def command(tournament: str, number: int | None, reason: str, as_json: bool) -> None:
    """Undo correction NUMBER of TOURNAMENT; by default the latest. arena corrections lists them.

    The records that it has set aside count again, and what has been played in their place is set aside.
    """
    from arena.tournament.corrections.undoing import undo_correction

    with open_home(must_exist=True) as arena_home:
        made = undo_correction(arena_home.store, tournament, number, reason=reason)
        print_correction(arena_home.store, tournament, made, as_json)
