"""``arena rename``: give a tournament another name."""

from __future__ import annotations

import click

from arena.cli.common import open_home, print_json
from arena.cli.options import json_option
from arena.report.tables import printable


@click.command("rename")
@click.argument("tournament")
@click.argument("new")
@json_option
def command(tournament: str, new: str, as_json: bool) -> None:
    """Give TOURNAMENT the name NEW; its log goes with it.

    Its records keep the name they were recorded under. To resume it from a file in which it has its old name:
    arena run FILE --name NEW
    """
    from arena.housekeeping import rename_tournament

    with open_home(must_exist=True) as arena_home:
        rename_tournament(arena_home, tournament, new)
    if as_json:
        print_json({"tournament": new, "was": tournament})
    else:
        click.echo(printable(f"{tournament} is named {new} now."))
