"""``arena rename``: give a tournament another name."""

from __future__ import annotations

import click

from arena.analysis.text.tables import printable
from arena.cli.terminal.common import open_home, print_json
from arena.cli.terminal.options import json_option


@click.command("rename")
@click.argument("tournament")
@click.argument("name", metavar="NEW")
@json_option
def command(tournament: str, name: str, as_json: bool) -> None:
    """Give TOURNAMENT the name NEW; its log goes with it.

    Its records keep the name they were recorded under. To resume it from a file in which it has its old name:
    arena run FILE --name NEW
    """
    from arena.store.housekeeping import rename_tournament

    with open_home(must_exist=True) as arena_home:
        rename_tournament(arena_home, tournament, name)
    if as_json:
        print_json({"tournament": name, "was": tournament})
    else:
        click.echo(printable(f"{tournament} is named {name} now."))
