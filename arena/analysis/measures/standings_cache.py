"""The standings of a store, with a cache for finished tournaments that take long to rate.

The key of a cached file names the records and the code that it was computed from; a file that is unreadable or has
another key is computed again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from arena.analysis.measures.kept_files import KEPT_FILE, Columns, read_parts, read_start, write_parts, write_start
from arena.analysis.measures.result_pieces import MIN_KEPT_MATCHES
from arena.analysis.measures.result_table import ResultTable, read_results
from arena.analysis.measures.standings import Standing, Standings, standings, with_decided, without
from arena.base.definition import GameChoice
from arena.base.errors import StoreError
from arena.base.shipped import code_digest
from arena.base.stored import from_stored, is_text, is_whole, list_of, mapping_of
from arena.base.until import Decided
from arena.ratings import Rating
from arena.ratings.consistency import Consistency
from arena.ratings.distributions import Floats
from arena.ratings.field_fit import FittedEncounters, draws_of
from arena.store.home import kept_path
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store
from arena.store.results.values import Authorship, StoredTournament

# The file of the cache: behind its line are the draws of the bootstrap. Every value must have its type, and the parts
# must fit together.

MAX_COUNT = 2**53
OF_TABLE = ("players", "matches", "rated", "first_seat_share")
OF_FIT = ("names", "draw_probability", "prior_width", "encounters")
"""What the line of a file has of standings and of their fit as it is."""

Key = tuple[str, int, str, str, int, int]
"""From which records and by which code standings were computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    key: Sequence[Any]
    lines: Sequence[Any]
    players: int
    matches: int
    rated: int
    names: tuple[str, ...]
    ratings: Sequence[Any]
    draw_probability: float
    prior_width: float
    encounters: int
    consistency: Mapping[str, Any]
    first_seat_share: float | None


def read_standings(path: Path, key: Key) -> Standings | None:
    """Return the standings in a file; None if there are none, or their key differs."""
    parts = read_parts(path, _Line, lambda line: _columns_of(line, key))
    try:
        return None if parts is None else _standings(*parts)
    except StoreError:
        return None


def _standings(line: _Line, arrays: Sequence[Floats]) -> Standings:
    (draws,) = arrays
    ratings = tuple(map(_rating, line.ratings))
    fitted = FittedEncounters(ratings=ratings, draws=draws, **_values(line, OF_FIT))
    table = Standings(
        lines=tuple(map(standing_from, line.lines)),
        fitted=fitted,
        consistency=_consistency(line.consistency),
        **_values(line, OF_TABLE),
    )
    if not np.isfinite(draws).all() or not _fits_together(table):
        raise StoreError(f"{KEPT_FILE} is malformed: its parts do not fit together")
    return table


def _values(source: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def standing_from(stored: object) -> Standing:
    """Return a line of a table from its stored form; StoreError if it is malformed, or a number is too large."""
    fields = dict(mapping_of(stored, KEPT_FILE))
    rating, interval = _rating(fields.pop("rating", None)), fields.pop("rank_interval", None)
    line = from_stored(Standing, fields, KEPT_FILE)
    if not _is_bounded(line):
        raise StoreError(f"{KEPT_FILE} is malformed: expected counts for each seat")
    if interval is None:
        return replace(line, rating=rating)
    if len(list_of(interval, KEPT_FILE)) != 2 or not _are_counts(interval):
        raise StoreError(f"{KEPT_FILE} is malformed: expected two ranks")
    return replace(line, rating=rating, rank_interval=tuple(interval))


def _rating(stored: object) -> Rating:
    numbers = list_of(stored, KEPT_FILE)
    if len(numbers) != 2 or not all(isinstance(number, float) and math.isfinite(number) for number in numbers):
        raise StoreError(f"{KEPT_FILE} is malformed: expected mu and sigma")
    return Rating(*numbers)


def _consistency(stored: Mapping[str, Any]) -> Consistency:
    cycles = [list_of(cycle, KEPT_FILE) for cycle in list_of(stored.get("cycles"), KEPT_FILE)]
    if not all(len(cycle) == 3 and all(map(is_text, cycle)) for cycle in cycles):
        raise StoreError(f"{KEPT_FILE} is malformed: expected cycles of three bots")
    return replace(from_stored(Consistency, {**stored, "cycles": []}, KEPT_FILE), cycles=tuple(map(tuple, cycles)))


def _columns_of(line: _Line, key: Key) -> Columns | None:
    bots = len(line.names)
    return [("<f8", (draws_of(bots), bots))] if tuple(line.key) == key else None


def _fits_together(table: Standings) -> bool:
    """Return whether all parts are about the same bots, and numbers are of a size that tables can show."""
    labels = {line.label for line in table.lines}
    names = table.fitted.names
    most_players = max((len(line.finish_counts) for line in table.lines), default=0)
    return (
        len(labels) == len(table.lines)
        and list(names) == sorted(labels & set(names))
        and len(table.fitted.ratings) == len(names)
        and _are_counts([table.players, table.matches, table.rated, table.fitted.encounters])
        and table.players == (most_players or 2)
        and all(bot in labels for cycle in table.consistency.cycles for bot in cycle)
    )


def _is_bounded(line: Standing) -> bool:
    counts = [line.rank, line.matches, line.wins, line.draws, *line.faults.values()]
    return len(line.finish_counts) == len(line.seat_matches) == len(line.seat_points) and _are_counts(
        [*counts, *line.finish_counts, *line.seat_matches]
    )


def _are_counts(values: Iterable[object]) -> bool:
    return all(is_whole(value, 0, MAX_COUNT) for value in values)


def write_standings(path: Path, key: Key, table: Standings) -> None:
    """Write a file that appears only when it is complete; errors in writing it are ignored."""
    fitted, consistency = table.fitted, asdict(table.consistency)
    own: dict[str, Any] = {"lines": table.lines, "ratings": fitted.ratings, "consistency": consistency}
    line = _Line(key=key, **own, **_values(table, OF_TABLE), **_values(fitted, OF_FIT))
    write_parts(path, line, np.asarray(fitted.draws, dtype="<f8"))


# The standings of a store.

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

    def reading() -> ResultTable:
        return read_results(store, stored, game, cache_directory=cache_directory)

    return tournament_standings(store, stored, reading, game, cache_directory)


def tournament_standings(
    store: Store,
    stored: StoredTournament,
    results: Callable[[], ResultTable],
    game: str | None = None,
    cache_directory: Path | None = None,
) -> Standings:
    """Return the standings of a tournament, of one game or of all; calls ``results`` only if they are not cached."""
    if game is not None or cache_directory is None:
        table = _compute(store, stored, game, results, None)
    else:
        table = cached_standings(
            cache_directory, stored, lambda: _compute(store, stored, None, results, cache_directory)
        )
    table = replace(table, lines=with_authors(table.lines, [stored]))
    if game is not None:
        return table
    table = with_decided(table, None if stored.definition.until is None else _decided(store, stored))
    return replace(
        table,
        scheduled=stored.scheduled,
        is_finished=stored.finished_at is not None,
        corrections=stored.corrections,
        adjudicated=_adjudicated(store, stored),
        odds=stored.definition.odds,
        cores=stored.definition.limits.cores,
    )


def _decided(store: Store, stored: StoredTournament) -> Decided | None:
    from arena.analysis.measures.rounds_played import decided_so_far  # no other table needs formats

    return decided_so_far(store, stored)


def unlisted(tournaments: Collection[StoredTournament], game: str | None = None) -> frozenset[str]:
    """Return the bots without a line in a leaderboard: those that have none in the table of any of its tournaments."""
    counting = [tournament for tournament in tournaments if game is None or game in tournament.games]
    listed = frozenset(label for tournament in counting for label in tournament.listed_names)
    return frozenset(label for tournament in counting for label in tournament.left_out) - listed


def _adjudicated(store: Store, tournament: StoredTournament) -> int:
    """Return how many matches of a tournament ended at the limit of plies; 0 where most are adjudicated earlier.

    Counting reads every record, so first ask the games whether their matches can be that long.
    """
    definition = tournament.definition
    if definition.adjudicate:
        return 0
    if tournament.recorded > MANY_RECORDS and all(
        (plies := _longest_match(choice)) is not None and plies <= definition.ply_limit for choice in definition.games
    ):
        return 0
    return store.count_adjudicated(tournament)


def _longest_match(choice: GameChoice) -> int | None:
    from arena.games import GAMES, make_game  # not needed for other standings

    space = make_game(choice.game, **choice.options).space() if choice.game in GAMES else None
    return None if space is None else space.max_plies


def with_authors(lines: Iterable[Standing], tournaments: Iterable[StoredTournament]) -> tuple[Standing, ...]:
    """Return lines with the bots' authors, and what the definitions of tournaments say about them."""
    authors = {
        bot.label: (tournament.owners.authorship(bot), bot.is_function)
        for tournament in tournaments
        for bot in tournament.definition.entrants
    }
    credited = []
    for line in lines:
        authorship, is_function = authors.get(line.label, (Authorship(), line.is_function))
        author, is_claimed = authorship.author, authorship.is_claimed
        if (author, is_claimed, is_function) != (line.author, line.is_author_claimed, line.is_function):
            line = replace(line, author=author, is_author_claimed=is_claimed, is_function=is_function)
        credited.append(line)
    return tuple(credited)


def _compute(
    store: Store,
    tournament: StoredTournament,
    game: str | None,
    results: Callable[[], ResultTable],
    cache_directory: Path | None,
) -> Standings:
    names = tournament.listed_names
    faults = store.fault_counts(tournament, game)
    path = None
    if cache_directory is not None and tournament.finished_at is None and tournament.recorded >= MIN_KEPT_MATCHES:
        path = kept_path(cache_directory, tournament.name, "fit")
    start = None if path is None else read_start(path, tournament)
    table = standings(results(), faults, names, everybody=list(names), start=start)
    if path is not None:
        write_start(path, tournament, table.fitted)
    return without(table, tournament.left_out)


def cached_standings(directory: Path, tournament: StoredTournament, compute: Callable[[], Standings]) -> Standings:
    """Return the standings of a tournament from the cache, or compute them."""
    if tournament.finished_at is None:
        return compute()
    times = (tournament.created_at, tournament.finished_at)
    key = (code_digest(), tournament.number, *times, tournament.recorded, len(tournament.corrections))
    path = kept_path(directory, tournament.name, "standings")
    if path.exists():
        cached = read_standings(path, key)
        if cached is not None:
            return cached
    started = time.monotonic()
    table = compute()
    if time.monotonic() - started >= WORTH_CACHING_SECONDS:
        write_standings(path, key, table)
        with suppress(OSError):
            kept_path(directory, tournament.name, "results").unlink(missing_ok=True)
            kept_path(directory, tournament.name, "fit").unlink(missing_ok=True)
    return table
