"""Builds how far a tournament has got."""

from __future__ import annotations

from collections.abc import Sequence

from arena.site.pages.progress_model import PlayingMatch, Progress
from arena.store.results.live_state import PlayedNow
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

MAX_PLAYING = 8
"""Matches that are being played, in a page."""


def progress_of(store: Store, tournament: StoredTournament) -> Progress | None:
    """Return what is being played of a tournament; None if no director runs it."""
    if tournament.name not in store.directors():
        return None
    stored = store.live_state(tournament).progress()
    if stored is None:
        return Progress(recorded=tournament.recorded, expected=tournament.scheduled or None)
    run = stored.progress
    return Progress(
        recorded=max(run.recorded, tournament.recorded),
        expected=run.expected,
        matches_per_second=run.matches_per_second,
        seconds_left=run.seconds_left,
        estimated_at=None if run.seconds_left is None else stored.at,
        status=run.status,
        playing=_playing(store, tournament, run.playing),
    )


def _playing(store: Store, tournament: StoredTournament, matches: Sequence[PlayedNow]) -> tuple[PlayingMatch, ...]:
    names = list(tournament.definition.shown_names.values())
    live = store.live_state(tournament)
    found = []
    for one in matches[:MAX_PLAYING]:
        line, state = store.scheduled_match(tournament, one.match), live.live_summary(one.match)
        found.append(
            PlayingMatch(
                match=one.match,
                names=tuple(names[seat] for seat in line.seats),
                ply=None if state is None else state.summary.plies,
            )
        )
    return tuple(sorted(found, key=lambda one: one.ply is None))
