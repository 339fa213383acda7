"""Renaming, deleting and restoring tournaments, with their logs; what a director plays now is left alone."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.names import check_tournament_name
from arena.store.home import ArenaHome, standings_path
from arena.store.results.values import StoredTournament


def rename_tournament(home: ArenaHome, name: str, new_name: str) -> StoredTournament:
    """Rename a tournament and its log; its records keep the name they were recorded under.

    Raises:
        UnknownNameError: if there is no such tournament.
        DefinitionError: if a tournament may not have the new name.
        StoreError: if the new name is used already, or a director is running the tournament.
        UsageError: if its log can't be moved.
    """
    check_tournament_name(new_name, "new name", home.bots)
    home.store.tournament(name)
    if name == new_name:
        raise UsageError(f"tournament {name!r} has this name already")
    with ExitStack() as locks:
        for locked in (name, new_name):
            locks.enter_context(home.store.lock(locked))
        before = home.store.tournament(name)
        renamed = home.store.rename(before, new_name)
        _forget_standings(home, before)
        move_log(home.log_path(name), home.log_path(new_name))
        return renamed


def delete_tournament(home: ArenaHome, name: str) -> StoredTournament:
    """Move a tournament into the trash, from which ``restore_tournament`` brings it back.

    It counts nowhere any more, and another tournament may have its name.

    Raises:
        UnknownNameError: if there is no such tournament.
        StoreError: if a director is running it.
        UsageError: if its log can't be moved.
    """
    home.store.tournament(name)
    with home.store.lock(name):
        tournament = home.store.tournament(name)
        home.store.delete(tournament)
        _forget_standings(home, tournament)
        move_log(home.log_path(name), home.log_path(tournament.bin_name))
        return home.store.deleted_tournament(tournament.bin_name)


def restore_tournament(home: ArenaHome, name: str, new_name: str | None = None) -> StoredTournament:
    """Take a tournament out of the trash, with all its matches, into the seasons it was in.

    Args:
        home: where it is.
        name: its old name, or the one it has in the trash.
        new_name: by default the old one.

    Raises:
        UnknownNameError: if the trash has no such tournament.
        DefinitionError: if a tournament may not have the new name.
        StoreError: if the name is used already, or several in the trash had it.
        UsageError: if its log can't be moved.
    """
    deleted = home.store.deleted_tournament(name)
    if new_name is not None:
        check_tournament_name(new_name, "new name", home.bots)
    back = deleted.name if new_name is None else new_name
    with home.store.lock(deleted.bin_name), home.store.lock(back):
        restored = home.store.restore(home.store.deleted_tournament(deleted.bin_name), back)
        move_log(home.log_path(deleted.bin_name), home.log_path(back))
        return restored


def erase_tournament(home: ArenaHome, name: str) -> None:
    """Remove a tournament in the trash forever, by its old name or its name there, with its records and its log.

    Raises:
        UnknownNameError: if the trash has no such tournament.
        StoreError: if several in the trash had this name.
        UsageError: if its log can't be removed.
    """
    deleted = home.store.deleted_tournament(name)
    with home.store.lock(deleted.bin_name):
        home.store.erase(home.store.deleted_tournament(deleted.bin_name))
    log = home.log_path(deleted.bin_name)
    try:
        log.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{log}: the tournament is erased, but its log can't be: {error.strerror}") from error


def _forget_standings(home: ArenaHome, tournament: StoredTournament) -> None:
    standings_path(home.cache_directory, tournament.name).unlink(missing_ok=True)


def move_log(source: Path, target: Path) -> None:
    """Move a log; where the target has one already, the moved one follows it."""
    try:
        if not source.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as lines, target.open("ab") as log:
            shutil.copyfileobj(lines, log)
        source.unlink()
    except OSError as error:
        raise UsageError(f"{source}: the tournament is stored, but its log can't be moved: {error.strerror}") from error
