"""``arena import``: take the records of an export."""

from __future__ import annotations

from typing import BinaryIO

import click

from arena.base.errors import UsageError
from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import json_option, name_option
from arena.cli.tournaments.merged_tournaments import external_game_option, print_merged


@click.command("import")
@click.argument("file", type=click.File("rb"))
@name_option("that in the file")
@external_game_option
@json_option
def command(file: BinaryIO, name: str | None, external_games: tuple[str, ...], as_json: bool) -> int:
    """Take the records in FILE, which arena export has printed; - reads them from the standard input.

    An export made with --whole brings its tournament along. Any other fills in the matches that a tournament of this
    home lacks. Every record is compared with the schedule and replayed by the rules first; where a match has a record
    here, that stays. A file that was cut off or edited changes nothing. It does no harm to import again.
    """
    from arena.tournament.transfer.export_lines import LineError
    from arena.tournament.transfer.importing import import_records

    with open_home() as arena_home:
        try:
            merged = import_records(arena_home, file, name=name, external_games=external_games)
        except LineError as error:
            raise UsageError(f"{file.name}: {error}; nothing was changed") from error
        return print_merged(merged, as_json)
