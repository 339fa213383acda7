"""What else the encounters of a tournament say: draws, seats, decisiveness, and how the numbers were checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from arena.analysis.encounters import CountedEncounter
from arena.analysis.standings import Standings, rated_encounters
from arena.ratings.bradley_terry import bradley_terry, kendall_tau
from arena.ratings.consistency import pair_scores
from arena.ratings.nash import NashAverage, nash_average
from arena.ratings.truncation import Floats
from arena.results import points_of

RESAMPLES = 2000


@dataclass(frozen=True)
class Share:
    """A share of matches or points with its 95 % interval, by a bootstrap over encounters.

    Attributes:
        value: from 0 to 1.
        low: the lower end.
        high: the upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class GameStatistics:
    """One game of a tournament.

    Attributes:
        game: its name.
        matches: played.
        encounters: played.
        repeats: matches that only repeat what their bots always play from that opening.
        draws: the share of matches whose first place is shared.
        seats: the share of points of each seat.
    """

    game: str
    matches: int
    encounters: int
    repeats: int
    draws: Share
    seats: tuple[Share, ...]

    @property
    def decisive(self) -> float:
        """The share of matches with a single winner."""
        return 1.0 - self.draws.value


def game_statistics(encounters: Iterable[CountedEncounter]) -> list[GameStatistics]:
    """Return the statistics of each game, in alphabetical order."""
    by_game: dict[str, list[CountedEncounter]] = {}
    for one in encounters:
        by_game.setdefault(one.game, []).append(one)
    return [_statistics(game, kinds) for game, kinds in sorted(by_game.items())]


def _statistics(game: str, kinds: Sequence[CountedEncounter]) -> GameStatistics:
    seats = max(len(match.bots) for one in kinds for match in one.matches)
    sums: Counter[tuple[float, ...]] = Counter()
    for one in kinds:
        sums[_sums_of(one, seats)] += one.occurrences
    rows = np.array(list(sums), dtype=np.float64)
    often = np.array(list(sums.values()), dtype=np.float64)
    shares = _shares(rows, often)
    return GameStatistics(
        game,
        sum(one.occurrences * len(one.matches) for one in kinds),
        int(often.sum()),
        sum(one.occurrences * sum(not match.rated for match in one.matches) for one in kinds),
        shares[0],
        tuple(shares[1:]),
    )


def _sums_of(one: CountedEncounter, seats: int) -> tuple[float, ...]:
    """Return of an encounter: its matches, its draws, and the points of each seat."""
    draws = sum(match.ranks.count(1) > 1 for match in one.matches)
    points = [sum(points_of(match.ranks, seat) for match in one.matches) for seat in range(seats)]
    return (len(one.matches), draws, *points)


def _shares(rows: Floats, often: Floats) -> list[Share]:
    """Return sums over encounters, divided by the number of matches, with intervals."""
    generator = np.random.default_rng(0)
    total = often @ rows
    drawn = generator.multinomial(int(often.sum()), often / often.sum(), size=RESAMPLES) @ rows
    values = total[1:] / total[0]
    low, high = np.quantile(drawn[:, 1:] / drawn[:, :1], [0.025, 0.975], axis=0)
    return [Share(float(v), float(a), float(b)) for v, a, b in zip(values, low, high, strict=True)]


@dataclass(frozen=True)
class Check:
    """An independent view of the same results.

    Attributes:
        bradley_terry: log-strengths by ``name@version``.
        agreement: Kendall's tau between them and the ratings.
        nash: weight and payoff of each bot in Nash averaging.
    """

    bradley_terry: dict[str, float]
    agreement: float
    nash: dict[str, NashAverage]


def check_of(encounters: Sequence[CountedEncounter], table: Standings) -> Check:
    """Return the Bradley-Terry view and Nash averaging of a tournament."""
    rated = rated_encounters(encounters)
    results: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
    for one, often in rated.items():
        for names, ranks in one:
            results[tuple(names), tuple(ranks)] += often
    strengths = bradley_terry(results.items())
    ratings = {bot: rating.mu for bot, rating in zip(table.fitted.names, table.fitted.ratings, strict=True)}
    scores = {pair: found.score for pair, found in pair_scores(rated.items()).items()}
    return Check(strengths, kendall_tau(strengths, ratings), nash_average(scores, sorted(ratings)))
