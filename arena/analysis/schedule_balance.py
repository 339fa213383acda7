"""How fair a schedule is: the worst imbalance of each kind, counted from its matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from arena.records import ScheduledMatch
from arena.tournament.seats import steps


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

    def add(self, seats: tuple[int, ...]) -> None:
        self.players = len(seats)
        self.matches.update(seats)
        self.sits.update((entrant, seat) for seat, entrant in enumerate(seats))
        self.meets.update((min(pair), max(pair)) for pair in combinations(seats, 2))
        self.follows.update(steps(seats))


def schedule_balance(lines: Iterable[ScheduledMatch], games: Sequence[str], names: Sequence[str]) -> list[BalanceLine]:
    """Count the matches of each entrant: in total, in each seat, against each rival, and acting right after each rival.

    Args:
        lines: the schedule.
        games: the names of the games.
        names: of the entrants.

    Returns:
        For each game that is played, a line for each kind of balance. Fair is: for matches and meetings the mean, for
        seats an equal share of the entrant's matches, for acting right after a rival an equal share of the matches with
        it.
    """
    counts = [_Counts() for _ in games]
    for line in lines:
        counts[line.game].add(line.seats)
    return [line for game, counted in zip(games, counts, strict=True) for line in _lines(game, counted, names)]


def _lines(game: str, counts: _Counts, names: Sequence[str]) -> list[BalanceLine]:
    if not counts.matches:
        return []
    entrants = range(len(names))
    players = counts.players
    pairs = list(combinations(entrants, 2))
    matches_mean = counts.matches.total() / len(names)
    meets_mean = counts.meets.total() / len(pairs)
    ordered = [(x, y) for x, y in ((a, b) for a in entrants for b in entrants) if counts.meets[min(x, y), max(x, y)]]
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
            {pair: counts.meets[pair] for pair in pairs},
            lambda pair: meets_mean,
            lambda pair: f"{names[pair[0]]} and {names[pair[1]]}",
        ),
        _line(
            game,
            "acts right after",
            {(x, y): counts.follows[x, y] for x, y in ordered if x != y},
            lambda key: (
                counts.meets[min(key), max(key)] / (players - 1) if players > 2 else counts.meets[min(key), max(key)]
            ),
            lambda key: f"{names[key[1]]} after {names[key[0]]}",
        ),
    ]


def _line(game: str, kind: str, counted: Mapping[Any, int], fair: Any, describe: Any) -> BalanceLine:
    worst: Hashable = max(counted, key=lambda key: abs(counted[key] - fair(key)))
    return BalanceLine(
        game,
        kind,
        min(counted.values()),
        max(counted.values()),
        abs(counted[worst] - fair(worst)),
        describe(worst),
    )
