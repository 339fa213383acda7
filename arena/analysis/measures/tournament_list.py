"""Who is first in a tournament."""

from __future__ import annotations

from pathlib import Path

from arena.store.results.states import EVERYONE_MEETS, Leaders, first_by_points
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament


def leaders_of(store: Store, tournament: StoredTournament, cache_directory: Path | None = None) -> Leaders:
    """Return who is first in a tournament: nobody before the first match.

    Points decide where all play the same rivals, because they are quick to count; else the format's own ranking, or the
    ratings.

    Args:
        store: where the tournament is.
        tournament: the tournament.
        cache_directory: where standings are cached; None for no cache.
    """
    if tournament.format in EVERYONE_MEETS or not tournament.recorded:
        return first_by_points(store, tournament)
    from arena.analysis.measures.standings_cache import standings_of  # SciPy takes time to import
    from arena.tournament.rounds import ranking_of

    ranking = ranking_of(store, tournament)
    if ranking is not None:
        return Leaders(bots=tuple(name for name, placing in ranking if placing.rank == 1))
    lines = standings_of(store, tournament.name, cache_directory=cache_directory).lines
    return Leaders(bots=tuple(line.bot for line in lines if line.rank == 1))
