"""Standings, crosstables and leaderboards: pure functions of counted encounters, the same in whatever order they
came.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from arena.analysis.encounters import CountedEncounter
from arena.ratings import MU, SIGMA, Rating
from arena.ratings.consistency import Consistency, consistency
from arena.ratings.field_fit import Encounter, FittedEncounters, fit_encounters
from arena.results import points_of

SURE = 0.975
"""Of two bots one is told apart from the other when the probability that it is better is at least this."""

UNRATED = Rating(MU, SIGMA)
"""What is believed of a bot before its first match."""


@dataclass(slots=True)
class Standing:
    """One bot's line in a table.

    Attributes:
        rank: place by exposure; bots with equal exposure share it.
        bot: name, as tables show it.
        rating: TrueSkill.
        margin: half the width of the 95 % interval of mu relative to the field, by a bootstrap over encounters.
        rank_interval: the 95 % interval of its rank by mu.
        better_than_next: the probability that it is better than the next bot; None for the last.
        group: bots with the same letter can't be told apart from the first of them.
        matches: played.
        places: how often it finished 1st, 2nd, …, ties at their shared rank.
        wins: matches it was first in alone.
        draws: matches it shared the first rank in.
        points: in each match the share of rivals it beat, a tie counting half.
        seat_matches: matches it sat in each seat.
        seat_points: points from those.
        faults: by kind.
    """

    bot: str
    rating: Rating = UNRATED
    rank: int = 0
    margin: float | None = None
    rank_interval: tuple[int, int] | None = None
    better_than_next: float | None = None
    group: str = ""
    matches: int = 0
    places: list[int] = field(default_factory=list)
    wins: int = 0
    draws: int = 0
    points: float = 0.0
    seat_matches: list[int] = field(default_factory=list)
    seat_points: list[float] = field(default_factory=list)
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
        return self.seat_share(0)

    def seat_share(self, seat: int) -> float | None:
        """Points per match in a seat; None without any."""
        if seat >= len(self.seat_matches) or not self.seat_matches[seat]:
            return None
        return self.seat_points[seat] / self.seat_matches[seat]

    @property
    def same_as_next(self) -> bool:
        """Whether it and the next bot can't be told apart at 95 %."""
        return self.better_than_next is not None and 1 - SURE < self.better_than_next < SURE


@dataclass(slots=True)
class Standings:
    """A whole table.

    Attributes:
        lines: the best bot first.
        labels: ``name@version`` of each line.
        players: the most players in a match.
        matches: counted.
        rated: matches that count for the ratings.
        fitted: the ratings with what they rest on.
        consistency: whether one number for each bot is enough.
        first_seat_share: points per match of seat 0, over all bots; None before the first match.
        scheduled: matches in the schedule as far as it is known; None for a leaderboard.
        is_finished: whether no round follows.
    """

    lines: list[Standing]
    labels: list[str]
    players: int
    matches: int
    rated: int
    fitted: FittedEncounters
    consistency: Consistency
    first_seat_share: float | None
    scheduled: int | None = None
    is_finished: bool = True

    @property
    def draw_probability(self) -> float | None:
        """Of two equal bots, as estimated for the ratings; None before the first match."""
        return self.fitted.draw_probability if self.fitted.names else None


def standings(
    encounters: Iterable[CountedEncounter],
    faults: Mapping[str, Mapping[str, int]],
    shown_names: Mapping[str, str] | None = None,
    everybody: Sequence[str] = (),
) -> Standings:
    """Return the table of counted encounters.

    Where bots always play the same match from an opening, it counts in every column as often as it was played, but once
    for the ratings: a deterministic bot that plays one match five times has not shown its strength five times. Where
    they vary from that opening, every match is a fresh draw and counts, even if its actions occurred before.

    Args:
        encounters: counted encounters, bots as ``name@version``.
        faults: by bot and kind.
        shown_names: the names to show, by ``name@version``; by default the latter.
        everybody: bots to list even without a match.
    """
    encounters = list(encounters)
    lines: dict[str, Standing] = {bot: Standing(bot) for bot in everybody}
    for (bots, ranks), often in _results(encounters).items():
        _count(bots, ranks, often, lines)
    rated = rated_encounters(encounters)
    fitted = fit_encounters(rated.items())
    for bot, rating, margin, interval in zip(
        fitted.names, fitted.ratings, fitted.margins(), fitted.rank_intervals(), strict=True
    ):
        line = lines[bot]
        line.rating, line.margin, line.rank_interval = rating, float(margin), interval
    for bot, line in lines.items():
        line.faults = dict(faults.get(bot, {}))
    ordered = sorted(lines.items(), key=lambda item: (-item[1].rating.exposure, item[0]))
    table = [line for _, line in ordered]
    labels = [bot for bot, _ in ordered]
    _rank(table)
    _tell_apart(table, labels, fitted)
    for label, line in ordered:
        line.bot = (shown_names or {}).get(label, label)
    first_seat_matches = sum(line.seat_matches[0] for line in table if line.seat_matches)
    first_seat_points = sum(line.seat_points[0] for line in table if line.seat_points)
    return Standings(
        table,
        labels,
        max((len(one.matches[0].bots) for one in encounters), default=2),
        sum(one.occurrences * len(one.matches) for one in encounters),
        sum(one.occurrences * sum(match.rated for match in one.matches) for one in encounters),
        fitted,
        consistency(rated.items(), fitted),
        first_seat_points / first_seat_matches if first_seat_matches else None,
    )


def rated_encounters(encounters: Iterable[CountedEncounter]) -> Counter[Encounter]:
    """Return what counts for ratings; a bot that plays itself shows nothing about its strength."""
    rated: Counter[Encounter] = Counter()
    for one in encounters:
        results = tuple((m.bots, m.ranks) for m in one.matches if m.rated and len(set(m.bots)) == len(m.bots))
        if results:
            rated[results] += one.occurrences
    return rated


def _results(encounters: Iterable[CountedEncounter]) -> Counter[tuple[tuple[str, ...], tuple[int, ...]]]:
    counted: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
    for one in encounters:
        for match in one.matches:
            counted[match.bots, match.ranks] += one.occurrences
    return counted


def _count(bots: Sequence[str], ranks: Sequence[int], often: int, lines: dict[str, Standing]) -> None:
    top_is_shared = ranks.count(1) > 1
    for seat, (bot, rank) in enumerate(zip(bots, ranks, strict=True)):
        line = lines.setdefault(bot, Standing(bot))
        points = often * points_of(ranks, seat)
        missing = len(ranks) - len(line.places)
        line.places += [0] * missing
        line.seat_matches += [0] * missing
        line.seat_points += [0.0] * missing
        line.matches += often
        line.points += points
        line.places[rank - 1] += often
        line.seat_matches[seat] += often
        line.seat_points[seat] += points
        if rank == 1:
            line.draws += often * top_is_shared
            line.wins += often * (not top_is_shared)


def _rank(table: list[Standing]) -> None:
    for place, line in enumerate(table, 1):
        before = table[place - 2] if place > 1 else None
        line.rank = before.rank if before and before.rating.exposure == line.rating.exposure else place


def _tell_apart(table: list[Standing], labels: Sequence[str], fitted: FittedEncounters) -> None:
    """Compare neighbours, and form groups: from the first bot down to the last that can't be told apart from it."""
    index = {bot: number for number, bot in enumerate(fitted.names)}
    better = fitted.better()

    def chance(a: str, b: str) -> float:
        return float(better[index[a], index[b]]) if a in index and b in index else 0.5

    for (line, label), (_, following) in pairwise(zip(table, labels, strict=True)):
        line.better_than_next = chance(label, following)
    first, letter = 0, 0
    for number, label in enumerate(labels):
        if number and chance(labels[first], label) >= SURE:
            first, letter = number, letter + 1
        table[number].group = _letters(letter)


def _letters(number: int) -> str:
    """Return a, b, …, z, aa, ab, …."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


def crosstable(encounters: Iterable[CountedEncounter]) -> dict[tuple[str, str], tuple[float, int]]:
    """Return ``{(bot, rival): (points, matches)}``: a win is a point, a tie half, in every match the two met in."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (bots, ranks), often in _results(encounters).items():
        for bot, rank in zip(bots, ranks, strict=True):
            for rival, other in zip(bots, ranks, strict=True):
                if bot != rival:
                    cell = sums[bot, rival]
                    cell[0] += often * ((rank < other) + (rank == other) / 2)
                    cell[1] += often
    return {pair: (points, int(met)) for pair, (points, met) in sums.items()}
