"""Ratings over time: within a tournament, and from one tournament to the next."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from arena.analysis.measures.leaderboard_cache import leaderboard
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.standings import Standing, standings
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

POINTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSnapshot:
    """Ratings at some time.

    Attributes:
        title: the name of the tournament that had ended, or the number of matches.
        at: when that tournament began (UTC, ISO 8601), or the number of matches as text.
        matches: the number of matches until then.
        lines: of the standings, the best bot first.
    """

    title: str
    at: str
    matches: int
    lines: tuple[Standing, ...]


def history_of_tournament(store: Store, tournament: StoredTournament, points: int = POINTS) -> list[RatingSnapshot]:
    """Return the ratings of a tournament after each of ``points`` equal parts of its encounters."""
    last = store.last_encounter(tournament)
    snapshots = []
    for end in sorted({max(1, round(last * k / points)) for k in range(1, points + 1)} if last else ()):
        table = standings(read_results(store, tournament, last_encounter=end), {})
        if table.matches:
            snapshots.append(
                RatingSnapshot(
                    title=str(table.matches), at=str(table.matches), matches=table.matches, lines=table.lines
                )
            )
    return snapshots


def mu_histories(
    store: Store, tournament: StoredTournament, shown_names: Mapping[str, str]
) -> dict[str, list[tuple[float, float]]]:
    """Return pairs of matches and mu for each bot of a tournament, by the name that tables show.

    Args:
        store: where the records are.
        tournament: the tournament.
        shown_names: by ``name@version``, in the order of the standings, which is kept.
    """
    histories: dict[str, list[tuple[float, float]]] = {shown: [] for shown in shown_names.values()}
    for snapshot in history_of_tournament(store, tournament):
        for line in snapshot.lines:
            if line.label in shown_names:
                histories[shown_names[line.label]].append((snapshot.matches, line.rating.mu))
    return histories


def history_over_tournaments(
    store: Store,
    game: str | None = None,
    scope: Scope = ALL_BUT_COMPARISONS,
    after: Collection[str] | None = None,
    *,
    cache_directory: Path | None = None,
    max_matches: int | None = None,
) -> list[RatingSnapshot]:
    """Return the leaderboard as it was after each tournament, of one game or of all.

    Each of them rates all matches up to then, so that of a large store all take long.

    Args:
        store: where tournaments are.
        game: only this game; None for all.
        scope: the tournaments that count, by default all but comparisons.
        after: only as it was after these; by default after each.
        cache_directory: where the lines of leaderboards are cached; None for no cache.
        max_matches: how many may be rated for all of them together; the earliest are left out first. None for any
            number.

    Raises:
        UnknownNameError: if the scope names a tournament or a season that does not exist.
    """
    counting = [one for one in store.tournaments(scope) if one.recorded and (game is None or game in one.games)]
    wanted = [end for end, one in enumerate(counting, 1) if after is None or one.name in after]
    snapshots = []
    for end in _affordable(counting, wanted, max_matches):
        last = counting[end - 1]
        board = leaderboard(store, counting[:end], game, cache_directory)
        snapshots.append(RatingSnapshot(title=last.name, at=last.created_at, matches=board.matches, lines=board.lines))
    return snapshots


def _affordable(counting: Sequence[StoredTournament], ends: Sequence[int], max_matches: int | None) -> list[int]:
    """Return the last of some ends: as many as may be rated."""
    totals = list(accumulate(tournament.recorded for tournament in counting))
    spent = accumulate(totals[end - 1] for end in reversed(ends))
    count = sum(max_matches is None or total <= max_matches for total in spent)
    return list(ends)[len(ends) - count :]
