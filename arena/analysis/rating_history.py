"""Ratings over time: within a tournament, and from one tournament to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.analysis.encounters import count_encounters
from arena.analysis.standings import Standings, standings
from arena.store.store import Store
from arena.store.values import StoredTournament

POINTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSnapshot:
    """Ratings at some time.

    Attributes:
        title: the name of the tournament that had ended, or the number of matches.
        at: when that tournament began (UTC, ISO 8601), or the number of matches as text.
        matches: the number of matches until then.
        table: the standings.
    """

    title: str
    at: str
    matches: int
    table: Standings


def history_of_tournament(store: Store, tournament: StoredTournament, points: int = POINTS) -> list[RatingSnapshot]:
    """Return the ratings of a tournament after each of ``points`` equal parts of its encounters."""
    last = store.last_encounter(tournament)
    snapshots = []
    for end in sorted({max(1, round(last * k / points)) for k in range(1, points + 1)} if last else ()):
        table = standings(count_encounters(store.results(tournament, last_encounter=end)), {})
        if table.matches:
            snapshots.append(
                RatingSnapshot(title=str(table.matches), at=str(table.matches), matches=table.matches, table=table)
            )
    return snapshots


def history_over_tournaments(
    store: Store, game: str | None = None, after: Sequence[StoredTournament] | None = None
) -> list[RatingSnapshot]:
    """Return the leaderboard as it was after each tournament, of one game or of all.

    Args:
        store: where tournaments are.
        game: only this game; None for all.
        after: the tournaments; by default all, the oldest first.
    """
    snapshots = []
    for tournament in store.tournaments() if after is None else after:
        if tournament.recorded and (game is None or game in tournament.games):
            table = standings(count_encounters(store.results(game=game, last_tournament=tournament.number)), {})
            snapshots.append(
                RatingSnapshot(title=tournament.name, at=tournament.created_at, matches=table.matches, table=table)
            )
    return snapshots
