"""The crosstable, and statistics beyond standings: draws, seats, decisiveness, and the time that bots used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import ceil, exp, log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.analysis.measures.result_table import ResultTable, read_results
from arena.analysis.measures.standings import Standings
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.values import GameStatistics, Share
from arena.base.display import Tabular
from arena.base.errors import StoreError
from arena.base.records import MatchRecord
from arena.ratings import consistency
from arena.ratings.alternatives import NashAverage, bradley_terry, kendall_tau, nash_average
from arena.ratings.distributions import Floats
from arena.ratings.result_arrays import Integers
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store


class Score(NamedTuple):
    """What a bot scored against a rival: a win is a point, a tie half."""

    points: float
    matches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosstable(Tabular):
    """The points of each bot against each other.

    Attributes:
        shown_names: the name that tables show of each bot, by ``name@version``, in the order of the standings.
        scores: by bot and rival (``name@version``); only those that have met.
    """

    shown_names: Mapping[str, str]
    scores: Mapping[tuple[str, str], Score]


def crosstable_of(
    store: Store,
    which: str | Scope = ALL_BUT_COMPARISONS,
    game: str | None = None,
    *,
    cache_directory: Path | None = None,
) -> Crosstable:
    """Return the crosstable of a tournament (its name), or of all tournaments of a scope.

    Args:
        game: only matches of this game; None for all.
        cache_directory: where standings of finished tournaments are cached; None for no cache.

    Raises:
        UnknownNameError: if there is no such tournament or season.
        StoreError: if a record is malformed.
    """
    table = standings_of(store, which, game, cache_directory=cache_directory)
    results = read_results(store, which, game)
    return Crosstable(shown_names=table.shown_names, scores=pair_scores(results, results.labels))


def pair_scores(results: ResultTable, labels: Sequence[str]) -> dict[tuple[str, str], Score]:
    """Return the score by (bot, rival) of some bots, over every match in which the two met."""
    number_of = {label: number for number, label in enumerate(labels)}
    bot_numbers = np.array([*(number_of.get(label, -1) for label in results.labels), -1], dtype=np.int64)[results.bots]
    occurrences = results.match_occurrences
    cells, counts, twice = list[Integers](), list[Integers](), list[Integers]()
    for seat, other in permutations(range(results.bots.shape[1]), 2):
        have_met = (
            (bot_numbers[:, seat] >= 0) & (bot_numbers[:, other] >= 0) & (bot_numbers[:, seat] != bot_numbers[:, other])
        )
        rank, rival_rank = results.ranks[have_met, seat], results.ranks[have_met, other]
        cells.append(bot_numbers[have_met, seat] * len(labels) + bot_numbers[have_met, other])
        counts.append(occurrences[have_met])
        twice.append(occurrences[have_met] * (2 * (rank < rival_rank) + (rank == rival_rank)))
    cell, pair = np.unique(np.concatenate(cells), return_inverse=True)
    matches, points = (np.bincount(pair, np.concatenate(sums), len(cell)) for sums in (counts, twice))
    return {
        (labels[pair_cell // len(labels)], labels[pair_cell % len(labels)]): Score(won / 2, int(met))
        for pair_cell, met, won in zip(cell.tolist(), matches.tolist(), points.tolist(), strict=True)
    }


# The wall and CPU time that each bot used, on its turn and off it; a pure function of the records.

STEPS = 50
"""Steps of the logarithmic scale on which times are counted, for each factor e: times are exact to 2 %."""


@dataclass(slots=True)
class BotTimes:
    """The times of one bot over all its matches.

    Attributes:
        actions: its own, without those of openings.
        cpu_seconds: CPU time on turn, children included.
        off_turn_cpu_seconds: CPU time while others were to act.
        counted: the number of actions by time, on a logarithmic scale.
    """

    bot: str
    matches: int = 0
    actions: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    off_turn_cpu_seconds: float = 0.0
    longest_seconds: float = 0.0
    counted: Counter[int] = field(default_factory=Counter, repr=False, compare=False)

    def add(self, seconds: float) -> None:
        """Count an action."""
        self.actions += 1
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.counted[ceil(STEPS * log(max(seconds, 1e-9)))] += 1

    @property
    def mean_seconds(self) -> float | None:
        """The mean time of its actions."""
        return self.wall_seconds / self.actions if self.actions else None

    @property
    def p99_seconds(self) -> float | None:
        """The 99th percentile of the time of its actions."""
        remaining = 0.99 * self.actions
        for step, count in sorted(self.counted.items()):
            remaining -= count
            if remaining <= 0:
                return min(exp(step / STEPS), self.longest_seconds)
        return None

    @property
    def mean_ms(self) -> float | None:
        """The mean time of its actions."""
        return None if self.mean_seconds is None else 1000 * self.mean_seconds

    @property
    def p99_ms(self) -> float | None:
        """The 99th percentile of the time of its actions."""
        return None if self.p99_seconds is None else 1000 * self.p99_seconds

    @property
    def longest_ms(self) -> float:
        """Its longest action."""
        return 1000 * self.longest_seconds


def bot_times(records: Iterable[MatchRecord]) -> list[BotTimes]:
    """Return the times of every bot, the busiest off turn first."""
    times_of: dict[str, BotTimes] = {}
    for record in records:
        times = [times_of.setdefault(bot, BotTimes(bot)) for bot in record.bots]
        for line, seat in zip(times, record.seats, strict=True):
            line.matches += 1
            line.wall_seconds += seat.wall_seconds
            line.cpu_seconds += seat.cpu_seconds
            line.off_turn_cpu_seconds += seat.off_turn_cpu_seconds
        for (actor, _), seconds in zip(record.actions, record.wall_seconds, strict=True):
            if seconds is not None:
                times[actor].add(seconds)
    return sorted(times_of.values(), key=lambda line: (-line.off_turn_cpu_seconds, line.bot))


# Statistics of a tournament beyond its standings: draws, seats, decisiveness, and independent views of the ratings.

RESAMPLES = 2000


def game_statistics(results: ResultTable) -> list[GameStatistics]:
    """Return the statistics of each game, in alphabetical order."""
    return [_statistics(game, results.of_game(game)) for game in results.games]


def _statistics(game: str, results: ResultTable) -> GameStatistics:
    occurrences, seats = results.match_occurrences, results.bots.shape[1]
    players = (results.bots >= 0).sum(axis=1)
    ranks = np.where(results.bots >= 0, results.ranks, seats + 1)
    points = np.zeros((len(ranks), seats))
    for seat in range(seats):
        has_seat = results.bots[:, seat] >= 0
        rivals = results.bots[has_seat] >= 0
        twice = 2 * ((ranks[has_seat] > ranks[has_seat, seat, None]) & rivals).sum(axis=1)
        twice += (ranks[has_seat] == ranks[has_seat, seat, None]).sum(axis=1) - 1
        points[has_seat, seat] = twice / 2 / np.maximum(players[has_seat] - 1, 1)
    draws = (ranks == 1).sum(axis=1) > 1
    by_match = np.column_stack([np.ones(len(ranks)), results.bots >= 0, draws, points])
    rows, row_number = np.unique(np.add.reduceat(by_match, results.starts), axis=0, return_inverse=True)
    counts = np.bincount(row_number.ravel(), results.occurrences, len(rows)).astype(np.float64)
    shares = _shares(rows, counts)
    return GameStatistics(
        game,
        int(occurrences.sum()),
        int(counts.sum()),
        int(occurrences[~results.rated].sum()),
        shares[0],
        tuple(shares[1:]),
    )


def _shares(rows: Floats, counts: Floats) -> list[Share]:
    half = rows.shape[1] // 2  # as many numbers of matches as sums of what they had
    generator = np.random.default_rng(0)
    total = counts @ rows
    drawn = generator.multinomial(int(counts.sum()), counts / counts.sum(), size=RESAMPLES) @ rows
    matches = np.where(
        drawn[:, :half] > 0, drawn[:, :half], np.nan
    )  # a seat that few have may be in none of those drawn
    values = total[half:] / total[:half]
    low, high = np.nanquantile(drawn[:, half:] / matches, [0.025, 0.975], axis=0)
    return [Share(float(v), float(a), float(b)) for v, a, b in zip(values, low, high, strict=True)]


@dataclass(frozen=True)
class CrossCheck:
    """An independent view of the same results.

    Attributes:
        bradley_terry: log-strengths by ``name@version``.
        agreement: Kendall's tau between them and the ratings.
        nash: weight and payoff of each bot in Nash averaging.
    """

    bradley_terry: dict[str, float]
    agreement: float
    nash: dict[str, NashAverage]


def cross_check(results: ResultTable, table: Standings) -> CrossCheck:
    """Return the Bradley-Terry view and Nash averaging of a tournament.

    Raises:
        StoreError: if the table, which may come from a cache, lacks a bot of the results.
    """
    rated = results.rated_encounters()
    strengths = bradley_terry(rated)
    ratings = {bot: rating.mu for bot, rating in zip(table.fitted.names, table.fitted.ratings, strict=True)}
    if unrated := sorted(strengths.keys() - ratings.keys()):
        raise StoreError(f"{unrated[0]} has results, but no rating: remove the folder cache of this home and try again")
    scores = {pair: score.score for pair, score in consistency.pair_scores(rated).items()}
    return CrossCheck(strengths, kendall_tau(strengths, ratings), nash_average(scores, sorted(ratings)))
