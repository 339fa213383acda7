"""How fair a schedule is, and how long it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import sqrt
from statistics import fmean, variance
from typing import Any

from arena.analysis.measures.values import BalanceLine
from arena.base.definition import Definition
from arena.base.records import MatchRecord, ScheduledMatch, TimeControl
from arena.ratings.distributions import t_quantile
from arena.store.results.store import Store
from arena.tournament.schedule import steps

# How fair a schedule is: the worst imbalance of each kind, counted from its matches.

Seatings = Mapping[tuple[int, tuple[int, ...]], int]
"""How many matches of each game, by its number, have each entrant in each seat."""


class _Counts:
    def __init__(self) -> None:
        self.players = 2
        self.matches: Counter[int] = Counter()
        self.sits: Counter[tuple[int, int]] = Counter()
        self.meets: Counter[tuple[int, int]] = Counter()
        self.follows: Counter[tuple[int, int]] = Counter()

    def add(self, seats: tuple[int, ...], match_count: int) -> None:
        self.players = len(seats)
        for seat, entrant in enumerate(seats):
            self.matches[entrant] += match_count
            self.sits[entrant, seat] += match_count
        for pair in combinations(seats, 2):
            self.meets[min(pair), max(pair)] += match_count
        for step in steps(seats):
            self.follows[step] += match_count


def seatings_of(lines: Iterable[ScheduledMatch]) -> Seatings:
    """Count the matches of a schedule by game and seats."""
    return Counter((line.game, line.seats) for line in lines)


def schedule_balance(seatings: Seatings, games: Sequence[str], names: Sequence[str]) -> list[BalanceLine]:
    """Count the matches of each entrant: in total, in each seat, against each rival, and acting right after each rival.

    Fair is: for matches and meetings the mean, for seats an equal share of the entrant's matches, for acting right
    after a rival an equal share of the matches with it.
    """
    counts = [_Counts() for _ in games]
    for (game, seats), match_count in seatings.items():
        counts[game].add(seats, match_count)
    return [line for game, counted in zip(games, counts, strict=True) for line in _lines(game, counted, names)]


def _lines(game: str, counts: _Counts, names: Sequence[str]) -> list[BalanceLine]:
    if not counts.matches:
        return []
    entrants, players = range(len(names)), counts.players
    matches_mean = counts.matches.total() / len(names)
    meets_mean = counts.meets.total() / (len(names) * (len(names) - 1) / 2)
    neighbours = sorted({*counts.meets, *((y, x) for x, y in counts.meets)})
    return [
        _line(game, "matches", {k: counts.matches[k] for k in entrants}, lambda k: matches_mean, lambda k: names[k]),
        _line(
            game,
            "in a seat",
            {(k, seat): counts.sits[k, seat] for k in entrants for seat in range(players)},
            lambda key: counts.matches[key[0]] / players,
            lambda key: f"{names[key[0]]} in seat {key[1]}",
        ),
        _line(
            game,
            "meets",
            _with_the_first_missing(counts.meets, combinations(entrants, 2)),
            lambda pair: meets_mean,
            lambda pair: f"{names[pair[0]]} and {names[pair[1]]}",
        ),
        _line(
            game,
            "acts right after",
            {(x, y): counts.follows[x, y] for x, y in neighbours},
            lambda key: (
                counts.meets[min(key), max(key)] / (players - 1) if players > 2 else counts.meets[min(key), max(key)]
            ),
            lambda key: f"{names[key[1]]} after {names[key[0]]}",
        ),
    ]


def _with_the_first_missing(
    counted: Mapping[tuple[int, int], int], pairs: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], int]:
    """Return the counts in order, with the first pair that never meets: one stands for all, which may be many."""
    missing = next(((pair, 0) for pair in pairs if pair not in counted), None)
    return dict(sorted([*counted.items(), *([missing] if missing else [])]))


def _line(
    game: str, kind: str, counted: Mapping[Any, int], fair: Callable[[Any], float], describe: Callable[[Any], str]
) -> BalanceLine:
    worst = max(counted, key=lambda key: abs(counted[key] - fair(key)))
    return BalanceLine(
        game,
        kind,
        min(counted.values()),
        max(counted.values()),
        abs(counted[worst] - fair(worst)),
        describe(worst),
    )


# An estimate of the time that a schedule takes, from matches already played, and its bound by the time control.

MAX_RECORDS = 2000
"""The latest records of a game from which the time is estimated."""

MATCH_OVERHEAD_SECONDS = 0.0003
"""The time of a match apart from its bots' actions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameTimes:
    """How long matches of one game have taken, and how many actions their bots chose, match by match."""

    game: str
    players: int
    seconds: tuple[float, ...]
    actions: tuple[int, ...]

    @property
    def mean_seconds(self) -> float:
        """The mean time of a match."""
        return fmean(self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimate of the time for matches played one after another; no 95 % interval if a game has only one match."""

    seconds: float
    interval: tuple[float, float] | None


def recorded_times(store: Store, definition: Definition) -> list[GameTimes]:
    """Return how long recorded matches of each game of a tournament have taken.

    Matches of the same game with the same options count if all their bots take part in the tournament.
    """
    labels = {bot.label for bot in definition.entrants}
    times = []
    for choice in definition.games:
        latest = islice(_latest(store, choice.game), MAX_RECORDS)
        records = [record for record in latest if record.options == choice.options and labels.issuperset(record.bots)]
        times.append(times_of(records, choice.game, choice.players))
    return times


def _latest(store: Store, game: str) -> Iterable[MatchRecord]:
    for tournament in reversed(store.tournaments()):
        if game in tournament.games and tournament.recorded:
            yield from islice(store.records(tournament, game), MAX_RECORDS // 4)


def times_of(records: Iterable[MatchRecord], game: str, players: int, start_seconds: float = 0.0) -> GameTimes:
    """Return how long matches of a game have taken; ``start_seconds`` is what starting bots adds to each."""
    actions = [[seconds for seconds in record.wall_seconds if seconds is not None] for record in records]
    return GameTimes(
        game=game,
        players=players,
        seconds=tuple(MATCH_OVERHEAD_SECONDS + start_seconds + sum(seconds) for seconds in actions),
        actions=tuple(map(len, actions)),
    )


def estimate(times: Sequence[GameTimes], matches: Sequence[float]) -> Estimate:
    """Estimate how long that many matches of each game take, one after another. Each game has at least one time."""
    mean = sum(count * game_times.mean_seconds for game_times, count in zip(times, matches, strict=True))
    fewest = min(len(game_times.seconds) for game_times in times)
    if fewest < 2:
        return Estimate(seconds=mean, interval=None)
    error = sqrt(
        sum(
            count**2 * variance(game_times.seconds) / len(game_times.seconds)
            for game_times, count in zip(times, matches, strict=True)
        )
    )
    half = t_quantile(fewest - 1, 0.975) * error
    shortest = sum(count * min(game_times.seconds) for game_times, count in zip(times, matches, strict=True))
    return Estimate(seconds=mean, interval=(max(shortest, mean - half), mean + half))


def bound_seconds(times: Sequence[GameTimes], matches: Sequence[float], control: TimeControl) -> float | None:
    """Return how long matches take, one after another, if bots use all their time; None if it is not limited.

    It assumes that every match has as many actions as the longest that has been played.
    """
    total = 0.0
    for game_times, count in zip(times, matches, strict=True):
        actions = max(game_times.actions)
        bounds = []
        if control.per_action_seconds is not None:
            bounds.append(actions * control.per_action_seconds)
        if control.bank_seconds is not None:
            bounds.append(game_times.players * control.bank_seconds + actions * control.increment_seconds)
        if not bounds:
            return None
        total += count * min(bounds)
    return total
