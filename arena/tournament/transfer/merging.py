"""Merging another home into one's own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

from arena.base.errors import StoreError, UnknownNameError
from arena.base.text import shortened_text
from arena.store.home import ArenaHome
from arena.store.results.foreign import open_foreign
from arena.tournament.transfer.combining import combine
from arena.tournament.transfer.results import MergedTournament

DATABASE = "arena.sqlite3"


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
        home: where they are taken to.
        other: the directory of the other home. It may be in use, of an earlier version, or hostile.
        tournaments: the names of those to take; by default all.
        external_games: the games from outside the package that may be imported to replay the records of tournaments
            that don't exist here.

    Returns:
        What was taken of each tournament, or why it was refused.

    Raises:
        StoreError: if the other home can't be read.
        UnknownNameError: if it has no tournament of a given name.
    """
    path = _database_of(other)
    with (
        tempfile.TemporaryDirectory(prefix="arena-merge-", ignore_cleanup_errors=True) as directory,
        closing(open_foreign(path, Path(directory))) as source,
    ):
        names = source.names()
        for name in tournaments:
            if name not in names:
                raise UnknownNameError("tournament", name, names)
        chosen = [name for name in names if not tournaments or name in tournaments]
        return tuple(combine(home.store, source, name, external_games) for name in chosen)


def _database_of(other: str | os.PathLike[str]) -> Path:
    """Return the database of a home, which is not looked for on a server."""
    try:
        directory = Path(other).resolve()
        is_directory = directory.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # too long a name, a NUL, a ring of links
        reason = getattr(error, "strerror", None) or "this is no path"
        raise StoreError(f"home {shortened_text(str(other))!r}: {reason}") from error
    if not is_directory:
        raise StoreError(f"home {shortened_text(str(other))!r}: expected a directory that holds {DATABASE}")
    return directory / DATABASE
