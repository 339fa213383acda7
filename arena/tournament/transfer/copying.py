"""Copying tournaments of this home into a home that has nothing else, and is removed in the end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arena.base.bot_text import OPERATOR, Audience
from arena.store.home import DATABASE_FILE, ArenaHome
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.transfer.new_tournament import NewTournament


@contextmanager
def temporary_home() -> Iterator[ArenaHome]:
    """Open an empty home, which is removed in the end; $ARENA_STORE has no influence on it."""
    with tempfile.TemporaryDirectory(prefix="arena-home-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with ArenaHome(place, store=place / DATABASE_FILE, audience=OPERATOR) as home:
            yield home


def copy_tournaments(source: Store, chosen: Sequence[StoredTournament], target: Store, audience: Audience) -> None:
    """Copy tournaments with all that belongs to them, but not where their bots are on this machine.

    Args:
        source: where they are.
        chosen: the tournaments, in the order they get there.
        target: where none of them is.
        audience: what of bots' words it may not read is left out.

    Raises:
        StoreError: if a record is not that of its match.
    """
    for tournament in chosen:
        NewTournament(source.as_source(), tournament).copy(target, audience)
