"""Standings, crosstables and leaderboards: pure functions of counted results, the same in whatever order they came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt

from arena.ratings import MU, SIGMA, Rating, fit_counted
from arena.store.store import ResultCount

CONFIDENCE_95 = 1.959964
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""

UNRATED = Rating(MU, SIGMA)
"""What is believed of a bot before its first match."""


@dataclass(slots=True)
class Standing:
    """One bot's line in a table.

    Attributes:
        rank: place by exposure; bots with equal exposure share it.
        bot: name, as tables show it.
        rating: TrueSkill.
        same_as_next: its rating and the next bot's can't be told apart at 95 %.
        matches: played.
        places: how often it finished 1st, 2nd, …, ties at their shared rank.
        wins: matches it was first in alone.
        draws: matches it shared the first rank in.
        points: in each match the share of rivals it beat, a tie counting half.
        first_seat_matches: matches it sat in seat 0.
        first_seat_points: points from those.
        faults: by kind.
    """

    bot: str
    rating: Rating = UNRATED
    rank: int = 0
    same_as_next: bool = False
    matches: int = 0
    places: list[int] = field(default_factory=list)
    wins: int = 0
    draws: int = 0
    points: float = 0.0
    first_seat_matches: int = 0
    first_seat_points: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)

    @property
    def losses(self) -> int:
        """Matches somebody else was first in."""
        return self.matches - self.wins - self.draws

    @property
    def score_share(self) -> float | None:
        """Points per match, from 0 to 1; None before the first match."""
        return self.points / self.matches if self.matches else None

    @property
    def first_seat_share(self) -> float | None:
        """Points per match in seat 0; None without any."""
        return self.first_seat_points / self.first_seat_matches if self.first_seat_matches else None

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of the rating."""
        return CONFIDENCE_95 * self.rating.sigma


@dataclass(slots=True)
class Standings:
    """A whole table.

    Attributes:
        lines: the best bot first.
        players: the most players in a match.
        matches: counted.
        rated: matches that count for the ratings.
        draw_probability: of two equal bots, as estimated for the ratings.
        first_seat_share: points per match of seat 0, over all bots; None before the first match.
        scheduled: matches in the schedule; None for a leaderboard.
    """

    lines: list[Standing]
    players: int
    matches: int
    rated: int
    draw_probability: float | None
    first_seat_share: float | None
    scheduled: int | None = None


def standings(
    results: Iterable[ResultCount],
    faults: Mapping[str, Mapping[str, int]],
    shown_names: Mapping[str, str] | None = None,
    everybody: Sequence[str] = (),
) -> Standings:
    """Return the table of counted results.

    Where bots always play the same match from an opening, it counts in every column as often as it was played, but once
    for the ratings: a deterministic bot that plays one match five times has not shown its strength five times. Where
    they vary from that opening, every match is a fresh draw and counts, even if its actions occurred before.

    Args:
        results: counted results, bots as ``name@version``.
        faults: by bot and kind.
        shown_names: the names to show, by ``name@version``; by default the latter.
        everybody: bots to list even without a match.
    """
    results = list(results)
    lines: dict[str, Standing] = {bot: Standing(bot) for bot in everybody}
    for result in results:
        _count(result, lines)
    rated = [((result.bots, result.ranks), result.rated) for result in results if _ratable(result)]
    draw_probability = None
    if rated:
        fitted = fit_counted(rated)
        draw_probability = fitted.draw_probability
        for bot, rating in fitted.ratings.items():
            lines[bot].rating = rating
    for bot, line in lines.items():
        line.faults = dict(faults.get(bot, {}))
    ordered = sorted(lines.items(), key=lambda item: (-item[1].rating.exposure, item[0]))
    table = [line for _, line in ordered]
    _rank(table)
    for bot, line in ordered:
        line.bot = (shown_names or {}).get(bot, bot)
    first_seat_matches = sum(line.first_seat_matches for line in table)
    return Standings(
        table,
        max((len(result.bots) for result in results), default=2),
        sum(result.matches for result in results),
        sum(result.rated for result in results),
        draw_probability,
        sum(line.first_seat_points for line in table) / first_seat_matches if first_seat_matches else None,
    )


def _ratable(result: ResultCount) -> bool:
    """A bot that plays itself shows nothing about its strength."""
    return len(set(result.bots)) == len(result.bots)


def _count(result: ResultCount, lines: dict[str, Standing]) -> None:
    top_is_shared = result.ranks.count(1) > 1
    for seat, (bot, rank) in enumerate(zip(result.bots, result.ranks, strict=True)):
        line = lines.setdefault(bot, Standing(bot))
        points = result.matches * points_of(result.ranks, seat)
        line.matches += result.matches
        line.points += points
        line.places += [0] * (len(result.ranks) - len(line.places))
        line.places[rank - 1] += result.matches
        if rank == 1:
            line.draws += result.matches * top_is_shared
            line.wins += result.matches * (not top_is_shared)
        if seat == 0:
            line.first_seat_matches += result.matches
            line.first_seat_points += points


def points_of(ranks: Sequence[int], seat: int) -> float:
    """Return what a match is worth to a seat: the share of rivals it beat, a tie counting half."""
    mine = ranks[seat]
    beaten = sum((rank > mine) + (rank == mine) / 2 for rank in ranks) - 0.5
    return beaten / (len(ranks) - 1)


def _rank(table: list[Standing]) -> None:
    for place, line in enumerate(table, 1):
        before = table[place - 2] if place > 1 else None
        line.rank = before.rank if before and before.rating.exposure == line.rating.exposure else place
    for line, following in pairwise(table):
        gap = abs(line.rating.mu - following.rating.mu)
        line.same_as_next = gap < CONFIDENCE_95 * sqrt(line.rating.sigma**2 + following.rating.sigma**2)


def crosstable(results: Iterable[ResultCount]) -> dict[tuple[str, str], tuple[float, int]]:
    """Return ``{(bot, rival): (points, matches)}``: a win is a point, a tie half, in every match the two met in."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for result in results:
        for bot, rank in zip(result.bots, result.ranks, strict=True):
            for rival, other in zip(result.bots, result.ranks, strict=True):
                if bot != rival:
                    cell = sums[bot, rival]
                    cell[0] += result.matches * ((rank < other) + (rank == other) / 2)
                    cell[1] += result.matches
    return {pair: (points, int(met)) for pair, (points, met) in sums.items()}
