"""Who is first in a tournament."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from arena.results import points_of
from arena.store.scope import COMPARISON
from arena.store.store import Store
from arena.store.values import StoredTournament

EVERYONE_MEETS = ("round-robin", COMPARISON)
"""Formats in which points compare bots, as all have played the same rivals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaders:
    """Who is first in a tournament.

    Attributes:
        bots: their names, as tables show them; several if they share the first rank.
        score_share: their points per match, from 0 to 1, if points have decided; None if the format or ratings have.
    """

    bots: tuple[str, ...]
    score_share: float | None = None


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
        return _first_by_points(store, tournament)
    from arena.analysis.standings_cache import standings_of  # SciPy takes time to import
    from arena.tournament.rounds import ranking_of

    ranking = ranking_of(store, tournament)
    if ranking is not None:
        return Leaders(bots=tuple(name for name, placing in ranking if placing.rank == 1))
    lines = standings_of(store, tournament.name, cache_directory=cache_directory).lines
    return Leaders(bots=tuple(line.bot for line in lines if line.rank == 1))


def _first_by_points(store: Store, tournament: StoredTournament) -> Leaders:
    points: defaultdict[str, float] = defaultdict(float)
    matches: Counter[str] = Counter()
    for (labels, ranks), count in Counter((r.bots, r.ranks) for r in store.results(tournament)).items():
        for seat, label in enumerate(labels):
            points[label] += count * points_of(ranks, seat)
            matches[label] += count
    names = tournament.listed_names
    shares = {label: points[label] / matches[label] for label in names if matches[label]}
    if not shares:
        return Leaders(bots=())
    best = max(shares.values())
    return Leaders(bots=tuple(names[label] for label in shares if shares[label] == best), score_share=best)
