"""How ratings came about: within a tournament, and from one tournament to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.analysis.encounters import count_encounters
from arena.analysis.standings import Standings, standings
from arena.store.store import Store
from arena.store.values import StoredTournament

POINTS = 12


@dataclass(frozen=True)
class Stage:
    """Ratings at some time.

    Attributes:
        title: when: the name of a tournament, or the number of matches.
        at: the same for sorting: when that tournament began (UTC, ISO 8601), or the number of matches as text.
        matches: how many they rest on.
        table: the standings.
    """

    title: str
    at: str
    matches: int
    table: Standings


def course_of_tournament(store: Store, tournament: StoredTournament, points: int = POINTS) -> list[Stage]:
    """Return the ratings of a tournament after each of ``points`` equal parts of its encounters."""
    last = store.last_encounter(tournament)
    stages = []
    for end in sorted({max(1, round(last * k / points)) for k in range(1, points + 1)} if last else ()):
        table = standings(count_encounters(store.results(tournament, last_encounter=end)), {})
        if table.matches:
            stages.append(Stage(str(table.matches), str(table.matches), table.matches, table))
    return stages


def course_over_tournaments(
    store: Store, game: str | None = None, after: Sequence[StoredTournament] | None = None
) -> list[Stage]:
    """Return the leaderboard as it was after each tournament, of one game or of all.

    Args:
        store: where tournaments are.
        game: only of this one.
        after: the tournaments; by default all, the oldest first.
    """
    stages = []
    for tournament in store.tournaments() if after is None else after:
        if tournament.recorded and (game is None or game in tournament.games):
            table = standings(count_encounters(store.results(game=game, last_tournament=tournament.number)), {})
            stages.append(Stage(tournament.name, tournament.created_at, table.matches, table))
    return stages
