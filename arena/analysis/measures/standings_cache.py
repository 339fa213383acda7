"""The standings of a store, with a cache for finished tournaments that take long to rate.

The key of a cached file names the records and the code that it was computed from; a file that is unreadable or has
another key is computed again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

from arena.analysis.measures.result_table import ResultTable, read_results
from arena.analysis.measures.standings import Standing, Standings, standings, without
from arena.base.definition import GameChoice
from arena.base.shipped import code_digest
from arena.store.home import standings_path
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store
from arena.store.results.values import Authorship, StoredTournament

WORTH_CACHING_SECONDS = 0.05

MANY_RECORDS = 10_000


def standings_of(
    store: Store,
    which: str | Scope = ALL_BUT_COMPARISONS,
    game: str | None = None,
    *,
    cache_directory: Path | None = None,
) -> Standings:
    """Return the standings of a tournament (its name), or the leaderboard of all tournaments of a scope.

    Args:
        game: only matches of this game; None for all.
        cache_directory: where standings of finished tournaments are cached; None for no cache.

    Raises:
        UnknownNameError: if there is no such tournament or season.
        StoreError: if a record is malformed.
    """
    if isinstance(which, Scope):
        counting = store.tournaments(which)
        table = standings(read_results(store, which, game), store.fault_counts(which, game))
        table = without(table, unlisted(counting, game))
        return replace(table, lines=with_authors(table.lines, counting))
    stored = store.tournament(which)
    return tournament_standings(store, stored, lambda: read_results(store, stored, game), game, cache_directory)


def tournament_standings(
    store: Store,
    stored: StoredTournament,
    results: Callable[[], ResultTable],
    game: str | None = None,
    cache_directory: Path | None = None,
) -> Standings:
    """Return the standings of a tournament, of one game or of all; calls ``results`` only if they are not cached."""
    if game is not None or cache_directory is None:
        table = _compute(store, stored, game, results)
    else:
        table = cached_standings(cache_directory, stored, lambda: _compute(store, stored, None, results))
    table = replace(table, lines=with_authors(table.lines, [stored]))
    if game is not None:
        return table
    return replace(
        table,
        scheduled=stored.scheduled,
        is_finished=stored.finished_at is not None,
        corrections=stored.corrections,
        adjudicated=_adjudicated(store, stored),
    )


def unlisted(tournaments: Collection[StoredTournament], game: str | None = None) -> frozenset[str]:
    """Return the bots without a line in a leaderboard: those that have none in the table of any of its tournaments."""
    counting = [tournament for tournament in tournaments if game is None or game in tournament.games]
    listed = frozenset(label for tournament in counting for label in tournament.listed_names)
    return frozenset(label for tournament in counting for label in tournament.left_out) - listed


def _adjudicated(store: Store, tournament: StoredTournament) -> int:
    """Return how many matches of a tournament ended at the limit of plies.

    Counting reads every record, so first ask the games whether their matches can be that long.
    """
    definition = tournament.definition
    if tournament.recorded > MANY_RECORDS and all(
        (plies := _longest_match(choice)) is not None and plies <= definition.ply_limit for choice in definition.games
    ):
        return 0
    return store.count_adjudicated(tournament)


def _longest_match(choice: GameChoice) -> int | None:
    """Return the most plies of a match of a built-in game; None for other games."""
    from arena.games import GAMES, make_game  # not needed for other standings

    space = make_game(choice.game, **choice.options).space() if choice.game in GAMES else None
    return None if space is None else space.max_plies


def with_authors(lines: Iterable[Standing], tournaments: Iterable[StoredTournament]) -> tuple[Standing, ...]:
    """Return lines with whose the bots are, and what the definitions of tournaments say about them."""
    found = {
        bot.label: (tournament.owners.authorship(bot), bot.is_function)
        for tournament in tournaments
        for bot in tournament.definition.entrants
    }
    named = []
    for line in lines:
        by, is_function = found.get(line.label, (Authorship(), line.is_function))
        named.append(replace(line, author=by.author, is_author_claimed=by.is_claimed, is_function=is_function))
    return tuple(named)


def _compute(
    store: Store, tournament: StoredTournament, game: str | None, results: Callable[[], ResultTable]
) -> Standings:
    names = tournament.listed_names
    faults = store.fault_counts(tournament, game)
    table = standings(results(), faults, names, everybody=list(names))
    return without(table, tournament.left_out)


def cached_standings(directory: Path, tournament: StoredTournament, compute: Callable[[], Standings]) -> Standings:
    """Return the standings of a tournament from the cache, or compute them."""
    if tournament.finished_at is None:
        return compute()
    times = (tournament.created_at, tournament.finished_at)
    key = (code_digest(), tournament.number, *times, tournament.recorded, len(tournament.corrections))
    path = standings_path(directory, tournament.name)
    if path.exists():
        from arena.analysis.measures.standings_file import read_standings  # pydantic takes time to import

        cached = read_standings(path, key)
        if cached is not None:
            return cached
    started = time.monotonic()
    table = compute()
    if time.monotonic() - started >= WORTH_CACHING_SECONDS:
        from arena.analysis.measures.standings_file import write_standings

        write_standings(path, key, table)
    return table
