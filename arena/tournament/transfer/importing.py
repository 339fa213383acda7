"""Importing an export."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from arena.store.home import ArenaHome
from arena.store.results.store import Store
from arena.tournament.transfer.combining import combine
from arena.tournament.transfer.export_lines import export_lines
from arena.tournament.transfer.export_reader import ExportReader
from arena.tournament.transfer.results import MergedTournament


def import_records(
    home: ArenaHome,
    lines: Iterable[bytes] | BinaryIO,
    *,
    name: str | None = None,
    external_games: Collection[str] = (),
) -> tuple[MergedTournament, ...]:
    """Take the records of an export, as ``arena export`` prints it, into the tournaments of their names.

    A whole export (``arena export --whole``) has the definition and the schedule as well, so that its tournament need
    not exist here. Records are checked as those of another home are (``merge_home``); in a whole export, no line may
    have been changed. Everything is read before anything is taken.

    Args:
        home: where the records are taken to.
        lines: the export: a binary file, or its lines.
        name: the tournament that takes the records, if it has another name here; None for that in the export.
        external_games: the games from outside the package that may be imported to replay the records of tournaments
            that don't exist here.

    Returns:
        What was taken of each tournament, or why it was refused.

    Raises:
        StoreError: naming the line, if the export is malformed, was cut off or edited; nothing was changed then.
    """
    with (
        tempfile.TemporaryDirectory(prefix="arena-import-", ignore_cleanup_errors=True) as directory,
        closing(Store(Path(directory) / "export.sqlite3")) as staging,
    ):
        reader = ExportReader(staging, home.store, name)
        last_line = 0
        for line in export_lines(lines):
            reader.take(line)
            last_line = line.number
        reader.finish(last_line)
        return tuple(
            combine(home.store, staging.as_source(), found, external_games, staged.place_of)
            for found, staged in reader.tournaments.items()
        )
