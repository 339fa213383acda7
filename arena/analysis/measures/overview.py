"""What an arena's home has, at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from arena.analysis.measures.tournament_list import leaders_of
from arena.base.enums import TournamentState
from arena.store.home import ArenaHome
from arena.store.results.states import Leaders, ListedTournament, listed_tournaments

LATEST = 5
"""The number of tournaments whose leaders are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestResult:
    """A tournament with a result, at least of a part of its matches.

    Attributes:
        listed: the tournament.
        leaders: who is first.
    """

    listed: ListedTournament
    leaders: Leaders


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What an arena's home has.

    Attributes:
        place: its directory, or its database if that is on a server.
        tournaments: the number of tournaments, without deleted ones.
        matches: the number of their recorded matches.
        submitted_bots: the number of submitted bots.
        running: what is being played.
        latest: the latest results, comparisons included, the last to begin first.
    """

    place: str
    tournaments: int
    matches: int
    submitted_bots: int
    running: tuple[ListedTournament, ...]
    latest: tuple[LatestResult, ...]


def overview(home: ArenaHome) -> Overview:
    """Return what an arena's home has, computing as little as possible."""
    store = home.store
    listed = listed_tournaments(store, store.tournaments())
    with_result = [one for one in listed if one.tournament.recorded]
    latest = sorted(with_result, key=lambda one: (one.tournament.created_at, one.tournament.number), reverse=True)
    return Overview(
        place=store.server or str(home.directory),
        tournaments=len(listed),
        matches=sum(one.tournament.recorded for one in listed),
        submitted_bots=len(store.submitted_bots()),
        running=tuple(one for one in listed if one.state is TournamentState.RUNNING),
        latest=tuple(
            LatestResult(listed=one, leaders=leaders_of(store, one.tournament, home.cache_directory))
            for one in latest[:LATEST]
        ),
    )
