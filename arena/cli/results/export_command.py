"""``arena export``: records as JSON lines."""

from __future__ import annotations

import json

import click

from arena.base.errors import UsageError
from arena.base.stored import from_json_text
from arena.cli.terminal.common import open_home


@click.command("export")
@click.argument("tournament", required=False)
@click.option(
    "--whole", is_flag=True, help="With definition, schedule and corrections, so that another home can import it."
)
@click.option("--set-aside", is_flag=True, help="The records that corrections have set aside, in place of the others.")
@click.option("--json", is_flag=True, expose_value=False, help="Print JSON, and nothing else; it does so anyway.")
def command(tournament: str | None, whole: bool, set_aside: bool) -> None:
    """Print one JSON object for each recorded match of TOURNAMENT, or of all, in the order of the schedule.

    It is the operator's own copy: everything that bots wrote is in it, which in a contest only their authors may read.
    arena publish writes what everybody may have.
    """
    if whole and set_aside:
        raise UsageError("--whole and --set-aside: expected one of them; a whole export has what was set aside as well")
    from arena.store.results.scope import ALL_TOURNAMENTS, Scope
    from arena.tournament.transfer.export_writer import whole_export

    with open_home(must_exist=True) as arena_home:
        within = arena_home.store.tournament(tournament) if tournament is not None else ALL_TOURNAMENTS
        chosen = arena_home.store.tournaments() if isinstance(within, Scope) else [within]
        if whole:
            for stored in chosen:
                for line in whole_export(arena_home.store.as_source(), stored):
                    click.echo(line)
            return
        if set_aside:
            for stored in chosen:
                for match, _, text in arena_home.store.corrections.set_aside(stored):
                    click.echo(json.dumps(from_json_text(text, f"the record of match {match}")))
            return
        for match, text in arena_home.store.record_texts(within):
            click.echo(json.dumps(from_json_text(text, f"the record of match {match}")))
