"""How fair a schedule is: the worst imbalance of each kind, counted from its matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from arena.base.records import ScheduledMatch
from arena.tournament.seats import steps

Seatings = Mapping[tuple[int, tuple[int, ...]], int]
"""How many matches of each game, by its number, have each entrant in each seat."""


@dataclass(frozen=True, slots=True)
class BalanceLine:
    """One kind of balance.

    Attributes:
        game: the game's name.
        kind: what is counted.
        least: the smallest count.
        most: the largest count.
        imbalance: the distance of the worst count from a fair one, in matches.
        worst: the entrants with the worst count, as text.
    """

    game: str
    kind: str
    least: int
    most: int
    imbalance: float
    worst: str


class _Counts:
    """The counts of one game."""

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

    Args:
        seatings: the schedule.
        games: the names of the games.
        names: of the entrants.

    Returns:
        For each game that is played, a line for each kind of balance. Fair is: for matches and meetings the mean, for
        seats an equal share of the entrant's matches, for acting right after a rival an equal share of the matches with
        it.
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
    """Return the counts in order, with one pair that has none: all of these are equal, and there may be many."""
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
