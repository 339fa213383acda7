"""The leaderboards of a home, kept in memory and in files, and ratings over time."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from arena.analysis.measures.kept_files import read_parts, write_parts
from arena.analysis.measures.resting_leaderboards import resting_leaderboards
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.standings import Standing, Standings, standings, without
from arena.analysis.measures.standings_cache import standing_from, unlisted, with_authors
from arena.analysis.measures.values import RatingPoint
from arena.base.errors import StoreError
from arena.base.shipped import code_digest
from arena.base.stored import is_whole
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store
from arena.store.results.tournament_reader import RoundEnd
from arena.store.results.values import StoredTournament

# The lines of leaderboards, which many profiles share: kept in the process, and in files of the home's cache.
#
# A leaderboard depends on all matches of its tournaments, and every bot's profile shows one line of it. Where pages are
# built, a leaderboard rests (``resting_leaderboards.py``). A file is for one game after one tournament; its key says
# from which records and by which code its lines were computed. As in ``standings_cache.py``, no file is trusted.

MAX_KEPT = 64
"""The most leaderboards in the memory of a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A leaderboard, the best bot first, and the number of its matches."""

    matches: int
    lines: tuple[Standing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    key: str
    matches: int
    lines: Sequence[Any]


class _CacheMissError(Exception):
    """No file has this key."""


def leaderboard(
    store: Store, tournaments: Sequence[StoredTournament], game: str | None, cache_directory: Path | None
) -> Leaderboard:
    """Return the leaderboard of some tournaments, the oldest first, of one game or of all."""
    counting = [tournament for tournament in tournaments if game is None or game in tournament.games]
    if not counting:
        return Leaderboard(matches=0, lines=())
    board = _leaderboard_without_authors(store, counting, game, cache_directory)
    return replace(board, lines=with_authors(board.lines, counting))


def _leaderboard_without_authors(
    store: Store, counting: Sequence[StoredTournament], game: str | None, cache_directory: Path | None
) -> Leaderboard:
    """Return the leaderboard without authors, which no file may hold: people who leave are deleted everywhere."""

    def compute() -> Leaderboard:
        scope = Scope(tournaments=tuple(tournament.name for tournament in counting))
        table = standings(read_results(store, scope, game), store.fault_counts(scope, game))
        return Leaderboard(matches=table.matches, lines=without(table, unlisted(counting, game)).lines)

    if cache_directory is None:
        return compute()
    path, key = _file_and_key(cache_directory, store, counting, game)
    resting = resting_leaderboards()
    if resting is None:
        return _read_or_compute(path, key, compute)
    with suppress(_CacheMissError):
        return _read(path, key)
    identity = (path, tuple((one.name, one.finished_at, len(one.corrections)) for one in counting))
    return resting.newest(identity, lambda: _read_or_compute(path, key, compute))


def _read_or_compute(path: Path, key: str, compute: Callable[[], Leaderboard]) -> Leaderboard:
    try:
        return _read(path, key)
    except _CacheMissError:
        board = compute()
        _write(path, key, board)
        return board


def keep_leaderboard(
    store: Store, tournaments: Sequence[StoredTournament], game: str, cache_directory: Path, table: Standings
) -> None:
    """Cache the leaderboard of some tournaments, the oldest first, whose standings were computed for another reason."""
    if tournaments:
        path, key = _file_and_key(cache_directory, store, tournaments, game)
        lines = tuple(replace(line, author="", is_author_claimed=False, is_function=False) for line in table.lines)
        _write(path, key, Leaderboard(matches=table.matches, lines=lines))


def _write(path: Path, key: str, board: Leaderboard) -> None:
    write_parts(path, _Line(key=key, matches=board.matches, lines=board.lines))


def _file_and_key(
    directory: Path, store: Store, tournaments: Sequence[StoredTournament], game: str | None
) -> tuple[Path, str]:
    name = _hash([store.server, game, [tournament.number for tournament in tournaments]])
    records = [
        (t.name, t.created_at, t.finished_at, t.recorded, len(t.corrections), t.definition_text) for t in tournaments
    ]
    return directory / f"{name}.leaderboard", _hash([code_digest(), records])


def _hash(value: object) -> str:
    return blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=MAX_KEPT)
def _read(path: Path, key: str) -> Leaderboard:
    parts = read_parts(path, _Line, lambda line: () if line.key == key else None)
    if parts is None or not is_whole(parts[0].matches, 0):
        raise _CacheMissError
    try:
        return Leaderboard(matches=parts[0].matches, lines=tuple(map(standing_from, parts[0].lines)))
    except StoreError as error:
        raise _CacheMissError from error


# Ratings over time: within a tournament, and from one tournament to the next.

End = TypeVar("End", int, RoundEnd)

POINTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSnapshot:
    """Ratings after the tournament of this title, which began ``at``; the best bot first.

    Attributes:
        round: after this round of the tournament, whose last match began ``at``; None for all rounds.
    """

    title: str
    at: str
    matches: int
    lines: tuple[Standing, ...]
    round: int | None = None


def history_of_tournament(store: Store, tournament: StoredTournament) -> list[Standings]:
    """Return the standings of a tournament after each of ``POINTS`` equal parts of its encounters."""
    last = store.last_encounter(tournament)
    ends = sorted({max(1, round(last * k / POINTS)) for k in range(1, POINTS + 1)} if last else ())
    tables = (standings(read_results(store, tournament, last_encounter=end), {}) for end in ends)
    return [table for table in tables if table.matches]


def history_of_rounds(
    store: Store, tournament: StoredTournament, *, cache_directory: Path | None = None, max_matches: int | None = None
) -> list[RatingSnapshot]:
    """Return the ratings of a tournament as they were after some of its rounds, and as they are.

    The rounds are those whose number is a multiple of a power of two: while more are played, they stay the same, and
    what was computed for them is taken from the cache. For ``max_matches`` see ``history_over_tournaments``.
    """
    ends = store.round_ends(tournament)
    step = 1
    while len(ends) > POINTS * step:
        step *= 2
    chosen = [end for number, end in enumerate(ends, 1) if number % step == 0 or number == len(ends)]
    snapshots = []
    for end in _affordable(chosen, [end.recorded for end in chosen], max_matches):
        board = _after_round(store, tournament, end, None if end == ends[-1] else cache_directory)
        at = store.record_of(tournament.name, end.match).started_at or tournament.created_at
        snapshots.append(
            RatingSnapshot(title=tournament.name, at=at, matches=board.matches, lines=board.lines, round=end.round)
        )
    return snapshots


def _after_round(store: Store, tournament: StoredTournament, end: RoundEnd, directory: Path | None) -> Leaderboard:
    def compute() -> Leaderboard:
        table = standings(read_results(store, tournament, last_encounter=end.encounter), {})
        return Leaderboard(matches=table.matches, lines=without(table, tournament.left_out).lines)

    if directory is None:
        return compute()
    records = [tournament.created_at, len(tournament.corrections), tournament.definition_text, *end]
    path = directory / f"{_hash([store.server, tournament.number, 'round', end.round])}.leaderboard"
    key = _hash([code_digest(), records])
    return _read_or_compute(path, key, compute)


def mu_histories(
    store: Store, tournament: StoredTournament, shown_names: Mapping[str, str]
) -> dict[str, list[tuple[float, float]]]:
    """Return pairs of matches and mu for each bot of a tournament, by the name that tables show.

    ``shown_names`` gives these by ``name@version``; the result keeps its order.
    """
    histories: dict[str, list[tuple[float, float]]] = {shown: [] for shown in shown_names.values()}
    for table in history_of_tournament(store, tournament):
        for line in table.lines:
            if line.label in shown_names:
                histories[shown_names[line.label]].append((table.matches, line.rating.mu))
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
    """Return the leaderboard as it was after each tournament (or only ``after`` these), of one game or of all.

    Each of them rates all matches up to then, which takes long in a large store: they rate at most ``max_matches``
    together, and leave out the earliest. UnknownNameError if the scope names something that does not exist.
    """
    counting = [
        tournament
        for tournament in store.tournaments(scope)
        if tournament.recorded and (game is None or game in tournament.games)
    ]
    ends = [end for end, tournament in enumerate(counting, 1) if after is None or tournament.name in after]
    totals = list(accumulate(tournament.recorded for tournament in counting))
    snapshots = []
    for end in _affordable(ends, [totals[end - 1] for end in ends], max_matches):
        latest = counting[end - 1]
        board = leaderboard(store, counting[:end], game, cache_directory)
        snapshots.append(
            RatingSnapshot(title=latest.name, at=latest.created_at, matches=board.matches, lines=board.lines)
        )
    return snapshots


def points_of(snapshots: Sequence[RatingSnapshot], game: str, bot: str) -> Iterator[RatingPoint]:
    """Yield the ratings of a bot (``name@version``) in snapshots of a game."""
    for snapshot in snapshots:
        for line in snapshot.lines:
            if line.label == bot:
                yield RatingPoint(
                    game=game,
                    bot=bot,
                    tournament=snapshot.title,
                    at=snapshot.at,
                    rank=line.rank,
                    bots=len(snapshot.lines),
                    mu=line.rating.mu,
                    margin_95=line.margin,
                    exposure=line.rating.exposure,
                    matches=line.matches,
                    score_percent=None if line.score_share is None else 100 * line.score_share,
                    round=snapshot.round,
                )


def _affordable(ends: Sequence[End], matches: Sequence[int], max_matches: int | None) -> Sequence[End]:
    """Return the latest ends that together rate at most ``max_matches``; ``matches`` says how many each rates."""
    count = sum(max_matches is None or total <= max_matches for total in accumulate(reversed(matches)))
    return ends[len(ends) - count :]
