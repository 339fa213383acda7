"""``arena restore``: take a tournament out of the bin."""

from __future__ import annotations

import click

from arena.analysis.text.tables import printable
from arena.base.text import counted
from arena.cli.terminal.common import open_home, print_json
from arena.cli.terminal.options import json_option


@click.command("restore")
@click.argument("deleted_tournament", metavar="TOURNAMENT")
@click.option("--as", "new_name", metavar="NAME", help="Its name from now on, in place of the one it had.")
@json_option
def command(deleted_tournament: str, new_name: str | None, as_json: bool) -> None:
    """Take TOURNAMENT out of the bin, as it was.

    TOURNAMENT is the name it had; if several had it, the name that `arena tournaments --deleted` shows, such as
    deleted/7.
    """
    from arena.store.housekeeping import restore_tournament

    with open_home(must_exist=True) as arena_home:
        restored = restore_tournament(arena_home, deleted_tournament, new_name)
    if as_json:
        print_json({"tournament": restored.name, "recorded": restored.recorded})
    else:
        click.echo(printable(f"{restored.name} is back, with {counted(restored.recorded, 'record')}."))
