"""What a home has, at a glance: the numbers of tournaments and matches, and who leads in the latest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.base.enums import TournamentState
from arena.store.home import ArenaHome
from arena.store.results.states import EVERYONE_MEETS, Leaders, ListedTournament, first_by_points, listed_tournaments
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

# Who is first in a tournament.


def leaders_of(
    store: Store, tournament: StoredTournament, cache_directory: Path | None = None, *, may_rate: bool = True
) -> Leaders:
    """Return who is first in a tournament: nobody before the first match, nor where that takes forbidden ratings.

    Points decide where all play the same rivals (they are quick to count), else the format's ranking, or the ratings.
    """
    meets_alike = tournament.format in EVERYONE_MEETS and tournament.definition.until is None
    if meets_alike or not tournament.recorded:
        return first_by_points(store, tournament)
    from arena.tournament.rounds import ranking_of  # takes time to import

    ranking = ranking_of(store, tournament)
    if ranking is not None:
        first = [(name, placing.decided) for name, placing in ranking if placing.rank == 1]
        return Leaders(bots=tuple(name for name, _ in first), decided=first[0][1] if len(first) == 1 else "")
    if not may_rate:
        return Leaders(bots=())
    from arena.analysis.measures.standings_cache import standings_of  # SciPy takes time to import

    lines = standings_of(store, tournament.name, cache_directory=cache_directory).lines
    return Leaders(bots=tuple(line.bot for line in lines if line.rank == 1))


LATEST = 5
"""The number of tournaments whose leaders are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestResult:
    """A tournament with a result, at least of a part of its matches."""

    listed: ListedTournament
    leaders: Leaders


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What an arena's home has.

    Attributes:
        place: its directory, or its database if that is on a server.
        tournaments: the number of tournaments, without deleted ones.
        matches: the number of their recorded matches.
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
    with_result = [entry for entry in listed if entry.tournament.recorded]
    latest = sorted(with_result, key=lambda entry: (entry.tournament.created_at, entry.tournament.number), reverse=True)
    return Overview(
        place=store.server or str(home.directory),
        tournaments=len(listed),
        matches=sum(entry.tournament.recorded for entry in listed),
        submitted_bots=len(store.submitted_bots()),
        running=tuple(entry for entry in listed if entry.state is TournamentState.RUNNING),
        latest=tuple(
            LatestResult(listed=entry, leaders=leaders_of(store, entry.tournament, home.cache_directory))
            for entry in latest[:LATEST]
        ),
    )
