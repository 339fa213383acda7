"""Merging another home into one's own, and importing an export."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from arena.base.errors import StoreError, UnknownNameError, UsageError, expect
from arena.base.names import as_file_name, check_tournament_name
from arena.base.text import shortened_text
from arena.store.home import DATABASE_FILE, ArenaHome
from arena.store.results.addition import Source, open_foreign
from arena.store.results.store import Store
from arena.tournament.transfer.checks import MALFORMED, MergedTournament, RejectedRecordError
from arena.tournament.transfer.export import ExportReader, export_lines
from arena.tournament.transfer.known_tournament import KnownTournament
from arena.tournament.transfer.new_tournament import NewTournament, temporary_directory

MAX_NAME_CHARACTERS = 64

Place = Callable[[int], str]
"""A function that returns where the record of a match is in an export, as the beginning of a sentence."""


def combine(
    store: Store,
    source: Source,
    name: str,
    external_games: Collection[str] = (),
    place_of: Place = lambda match: "",
    *,
    is_whole: bool = True,
) -> MergedTournament:
    """Take a tournament from elsewhere, or what the tournament of its name lacks here, in one transaction.

    ``place_of`` returns where the record of a match is, for messages. Without ``is_whole`` there are records alone.
    """
    try:
        return _combine(store, source, name, external_games, is_whole)
    except RejectedRecordError as error:
        reason = f"{place_of(error.match)}{error}"
    except UsageError as error:
        reason = str(error)
    except MALFORMED as error:
        reason = f"it is malformed: {type(error).__name__}: {error}"
    return MergedTournament(name=name, refusal=f"tournament {as_file_name(name)!r}: {reason}; nothing of it was taken")


def _combine(
    store: Store, source: Source, name: str, external_games: Collection[str], is_whole: bool
) -> MergedTournament:
    if len(name) > MAX_NAME_CHARACTERS:
        raise StoreError(f"its name is longer than {MAX_NAME_CHARACTERS} characters")
    if store.find_tournament(name) is None:
        check_tournament_name(name, "its name")
    with store.lock(name):
        here, there = store.find_tournament(name), source.tournament(name)
        if here is None:
            return NewTournament(source, there).take(store, external_games)
        if not is_whole:  # it may have been corrected since the export was read
            there = replace(there, definition_text=here.definition_text, corrections=here.corrections)
        return KnownTournament(store, here, source, there).take()


def merge_home(
    home: ArenaHome,
    other: str | os.PathLike[str],
    tournaments: Sequence[str] = (),
    *,
    external_games: Collection[str] = (),
) -> tuple[MergedTournament, ...]:
    """Take the tournaments of another home into this one, with all that was played there.

    The other home is only read. Before a record is taken, it is compared with its match in the schedule and replayed by
    the rules. Where a match was played on both sides, the record here stays. Each tournament is taken in one
    transaction; one that is refused stays as it is here. The programs of bots are not taken.

    Args:
        other: the directory of the other home. It may be in use, of an earlier version, or hostile.
        tournaments: the names of those to take; by default all.
        external_games: the games from outside the package that may be imported to replay the records of tournaments
            that don't exist here.

    Raises:
        StoreError: if the other home can't be read.
        UnknownNameError: if it has no tournament of a given name.
    """
    expect(not isinstance(tournaments, str), "tournaments", tournaments, "a list of names")
    path = _database_of(other)
    with temporary_directory("arena-merge-") as directory, closing(open_foreign(path, directory)) as source:
        names = source.names()
        for name in tournaments:
            if name not in names:
                raise UnknownNameError("tournament", name, names)
        chosen = [name for name in names if not tournaments or name in tournaments]
        return tuple(combine(home.store, source, name, external_games) for name in chosen)


def _database_of(other: str | os.PathLike[str]) -> Path:
    try:
        directory = Path(other).resolve()
        is_directory = directory.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # too long a name, a NUL, a loop of links
        reason = getattr(error, "strerror", None) or "this is no path"
        raise StoreError(f"home {shortened_text(str(other))!r}: {reason}") from error
    if not is_directory:
        raise StoreError(f"home {shortened_text(str(other))!r}: expected a directory that holds {DATABASE_FILE}")
    return directory / DATABASE_FILE


def import_records(
    home: ArenaHome,
    lines: Iterable[bytes] | BinaryIO,
    *,
    name: str | None = None,
    external_games: Collection[str] = (),
) -> tuple[MergedTournament, ...]:
    """Take the records of an export, as ``arena tournament export`` prints it, into the tournaments of their names.

    A whole export (``arena tournament export --whole``) has the definition and the schedule as well, so that its
    tournament need not exist here. Records are checked as those of another home are (``merge_home``); in a whole
    export, no line may have been changed. Everything is read before anything is taken.

    Args:
        lines: the export: a binary file, or its lines.
        name: the tournament that takes the records, if it has another name here; None for that in the export.
        external_games: the games from outside the package that may be imported to replay the records of tournaments
            that don't exist here.

    Raises:
        StoreError: naming the line, if the export is malformed, was cut off or edited; nothing was changed then.
    """
    with (
        temporary_directory("arena-import-") as directory,
        closing(Store(directory / "export.sqlite3")) as staging,
    ):
        reader = ExportReader(staging, home.store, name)
        last_line = 0
        for line in export_lines(lines):
            reader.take(line)
            last_line = line.number
        reader.finish(last_line)
        source = staging.as_source()
        return tuple(
            combine(home.store, source, tournament, external_games, staged.line_prefix, is_whole=staged.has_schedule)
            for tournament, staged in reader.tournaments.items()
        )
