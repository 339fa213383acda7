"""Builds how far a tournament has got."""

from __future__ import annotations

from arena.site.models.progress import Progress
from arena.store.store import Store
from arena.store.values import StoredTournament


def progress_of(store: Store, tournament: StoredTournament) -> Progress | None:
    """Return what is being played of a tournament; None if no director runs it."""
    if tournament.name not in store.directors():
        return None
    return Progress(recorded=tournament.recorded, expected=tournament.scheduled or None)
