"""Builds the first page."""

from __future__ import annotations

from arena.home import ArenaHome
from arena.site.models.overview import ListedTournament, OverviewPage, OverviewParameters
from arena.store.states import ListedTournament as Listed
from arena.store.states import listed_tournaments


def build_overview(home: ArenaHome, _: OverviewParameters) -> OverviewPage:
    """Return what a home has."""
    listed = listed_tournaments(home.store, home.store.tournaments())
    latest = sorted(listed, key=lambda one: (one.tournament.created_at, one.tournament.number), reverse=True)
    return OverviewPage(
        tournaments=tuple(listed_tournament(one) for one in latest),
        matches=sum(one.tournament.recorded for one in listed),
    )


def listed_tournament(listed: Listed) -> ListedTournament:
    """Return a tournament as lists show it."""
    tournament = listed.tournament
    return ListedTournament(
        name=tournament.name,
        state=listed.state,
        format=tournament.format,
        games=tuple(tournament.games),
        entrants=len(tournament.definition.entrants),
        recorded=tournament.recorded,
        scheduled=tournament.scheduled,
        created_at=tournament.created_at,
        finished_at=tournament.finished_at,
    )
