"""``arena export``: records as JSON lines."""

from __future__ import annotations

import json

import click

from arena.cli.common import home_option
from arena.stored import from_json_text


@click.command("export")
@click.argument("tournament", required=False)
@home_option
def command(tournament: str | None, home: str | None) -> None:
    """Print one JSON object for each recorded match of TOURNAMENT, or of all, in the order of the schedule."""
    from arena.home import ArenaHome

    with ArenaHome(home, must_exist=True) as arena_home:
        stored = arena_home.store.tournament(tournament) if tournament is not None else None
        for match, text in arena_home.store.record_texts(stored):
            click.echo(json.dumps(from_json_text(text, f"the record of match {match}")))
