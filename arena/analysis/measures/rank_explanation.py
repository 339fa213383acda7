"""Why a bot has its rank: what its matches with each rival did to its rating, and which encounters were surprising.

1. The influence of a rival is the difference between the bot's rating and the one it would have without the matches in
   which both took part, everything else equal: a case deletion, of a group of results (Cook and Weisberg, "Residuals
   and Influence in Regression", 1982, chapter 3). The fit gives each result a Gaussian likelihood term, so taking terms
   away is a linear system and no new fit.
2. How surprising an encounter is, is the probability that the ratings give to points at least as far from what they
   expect: a closed form for two bots, counted in drawn performances for more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from arena.analysis.measures.bot_profile import are_rated
from arena.analysis.measures.result_table import ResultTable
from arena.analysis.measures.standings import EXPOSURE_DECIMALS
from arena.ratings.consistency import expected_scores
from arena.ratings.distributions import Floats
from arena.ratings.environment import BETA, cdf, ppf
from arena.ratings.ep_messages import JointGaussian
from arena.ratings.field_fit import FittedEncounters
from arena.ratings.set_fit import MAX_DENSE_BOTS, SetFit
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

DRAWS = 4000
"""How many performances are drawn for matches of three or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedMatch:
    """A match of the bot that counts for ratings: ``name@version`` and rank per seat."""

    match: int
    encounter: int
    bots: tuple[str, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstRival:
    """A bot's matches with a rival, those that count for ratings.

    Attributes:
        points: scored in them against this rival.
        expected_points: what the ratings expect of them.
        influence: how much higher the bot's rating is because of them; None if that is not known.
    """

    rival: str
    matches: int
    points: float
    expected_points: float
    influence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """An encounter, and the probability of points at least as far from what the ratings expect, on the same side.

    Several encounters with the same rivals and points are one; ``encounter`` is the first of them.
    """

    encounter: int
    occurrences: int
    matches: tuple[RatedMatch, ...]
    points: float
    expected_points: float
    probability: float


def rated_matches_of(store: Store, tournament: StoredTournament, bot: str) -> list[RatedMatch]:
    """Return the matches of a bot (``name@version``) that count for ratings, in order."""
    numbered = list(store.matches_of([bot], within=tournament).numbered_results())
    return [
        RatedMatch(match=match, encounter=result.encounter, bots=result.bots, ranks=result.ranks)
        for (match, result), is_rated in zip(numbered, are_rated([result for _, result in numbered]), strict=True)
        if is_rated
    ]


def against_rivals(
    bot: str, matches: Sequence[RatedMatch], fitted: FittedEncounters, results: ResultTable
) -> list[AgainstRival]:
    """Return a bot's matches with each rival, those with the largest influence first; ``results`` are of all bots."""
    number = {label: index for index, label in enumerate(fitted.names)}
    points: dict[str, float] = {}
    counts: dict[str, int] = {}
    for match in matches:
        own_rank = match.ranks[match.bots.index(bot)]
        for rival, rank in zip(match.bots, match.ranks, strict=True):
            if rival != bot:
                points[rival] = points.get(rival, 0.0) + (own_rank < rank) + (own_rank == rank) / 2
                counts[rival] = counts.get(rival, 0) + 1
    rivals = sorted(counts)
    if not rivals:
        return []
    numbers = np.array([number[rival] for rival in rivals])
    expected = expected_scores(fitted, np.full_like(numbers, number[bot]), numbers)
    influences = _influences(number[bot], fitted, results)
    lines = [
        AgainstRival(
            rival=rival,
            matches=counts[rival],
            points=points[rival],
            expected_points=counts[rival] * share,
            influence=influences.get(number[rival]),
        )
        for rival, share in zip(rivals, expected.tolist(), strict=True)
    ]
    return sorted(lines, key=lambda line: (-abs(round(line.influence or 0.0, EXPOSURE_DECIMALS)), line.rival))


def _influences(bot: int, fitted: FittedEncounters, results: ResultTable) -> Mapping[int, float]:
    """Return by rival how much higher the bot's rating is because of their matches; nothing in very large fields."""
    arrays = results.rated_encounters()
    fit = SetFit(arrays.names, arrays.results)
    if len(arrays.names) > MAX_DENSE_BOTS:
        return {}
    fit.run(fitted.draw_probability, fitted.prior_width)
    joint = JointGaussian(len(arrays.names), fitted.prior_width**-2)
    fit.add_to(joint)
    covariance = np.asarray(np.linalg.inv(joint.precision), dtype=np.float64)
    mean = joint.mean()
    groups: dict[int, _Group] = {}
    for terms in fit.likelihood_terms():
        for row in np.flatnonzero((terms.members == bot).any(axis=1)).tolist():
            members, times = terms.members[row], float(terms.occurrences[row])
            precision = times * terms.precision[row]
            pull = times * terms.shift[row] - precision @ mean[members]
            for rival in members.tolist():
                if rival != bot:
                    groups.setdefault(rival, _Group({}, [])).add(members.tolist(), precision, pull)
    return {rival: group.influence(bot, covariance) for rival, group in groups.items()}


@dataclass(slots=True)
class _Group:
    """The likelihood terms of the results in which a bot and a rival took part.

    Attributes:
        index_of: the row of each bot in the matrices, by its number.
        terms: for each result the rows of its bots, its precision and its pull at them.
    """

    index_of: dict[int, int]
    terms: list[tuple[list[int], Floats, Floats]]

    def add(self, members: Sequence[int], precision: Floats, pull: Floats) -> None:
        indices = [self.index_of.setdefault(member, len(self.index_of)) for member in members]
        self.terms.append((indices, precision, pull))

    def influence(self, bot: int, covariance: Floats) -> float:
        """Return how much higher the mean of the bot is because of these terms.

        With the precision H and the pulls g of the terms P: the mean without them is lower by (H - P)^-1 g.
        """
        size = len(self.index_of)
        precision, pull = np.zeros((size, size)), np.zeros(size)
        for indices, term_precision, term_pull in self.terms:
            precision[np.ix_(indices, indices)] += term_precision
            pull[indices] += term_pull
        members = list(self.index_of)
        weights = np.linalg.solve(np.eye(size) - precision @ covariance[np.ix_(members, members)], pull)
        return float(covariance[bot, members] @ weights)


def surprises(bot: str, matches: Sequence[RatedMatch], fitted: FittedEncounters, count: int) -> list[Surprise]:
    """Return at most ``count`` encounters of a bot, the most surprising first."""
    chances = _Chances(bot, fitted)
    kinds: dict[tuple[tuple[str, ...], int, int], list[tuple[RatedMatch, ...]]] = {}
    for _, group in groupby(matches, lambda match: match.encounter):
        encounter = tuple(group)
        kind = (tuple(sorted(encounter[0].bots)), len(encounter), sum(map(chances.steps, encounter)))
        kinds.setdefault(kind, []).append(encounter)
    surprising = [_surprise(encounter[0], len(encounter), chances) for encounter in kinds.values()]
    return sorted(surprising, key=lambda one: (round(one.probability, EXPOSURE_DECIMALS), one.encounter))[:count]


def _surprise(matches: tuple[RatedMatch, ...], occurrences: int, chances: _Chances) -> Surprise:
    total = np.ones(1)
    for match in matches:
        total = np.convolve(total, chances.of(match.bots))
    observed, scale = sum(map(chances.steps, matches)), 2 * (len(matches[0].bots) - 1)
    expected = float(total @ np.arange(len(total)))
    tail = total[observed:] if observed >= expected else total[: observed + 1]
    return Surprise(
        encounter=matches[0].encounter,
        occurrences=occurrences,
        matches=matches,
        points=observed / scale,
        expected_points=expected / scale,
        probability=min(1.0, float(tail.sum())),
    )


class _Chances:
    """The probabilities of a bot's points in matches, under the ratings: in steps of half a rival beaten."""

    def __init__(self, bot: str, fitted: FittedEncounters) -> None:
        self._bot = bot
        self._mu = {label: rating.mu for label, rating in zip(fitted.names, fitted.ratings, strict=True)}
        self._margin = ppf((fitted.draw_probability + 1) / 2) * np.sqrt(2) * BETA
        self._by_rivals: dict[tuple[str, ...], Floats] = {}

    def steps(self, match: RatedMatch) -> int:
        own_rank = match.ranks[match.bots.index(self._bot)]
        return sum(2 * (rank > own_rank) + (rank == own_rank) for rank in match.ranks) - 1

    def of(self, bots: Sequence[str]) -> Floats:
        """Return the probability of each number of steps."""
        rivals = tuple(sorted(label for label in bots if label != self._bot))
        if rivals not in self._by_rivals:
            self._by_rivals[rivals] = self._against(rivals[0]) if len(rivals) == 1 else self._against_several(rivals)
        return self._by_rivals[rivals]

    def _against(self, rival: str) -> Floats:
        gap, spread = self._mu[self._bot] - self._mu[rival], np.sqrt(2) * BETA
        win, loss = cdf((gap - self._margin) / spread), cdf((-gap - self._margin) / spread)
        return np.array([loss, 1.0 - win - loss, win])

    def _against_several(self, rivals: Sequence[str]) -> Floats:
        generator = np.random.default_rng(0)
        means = np.array([self._mu[label] for label in (self._bot, *rivals)])
        drawn = means + BETA * generator.standard_normal((DRAWS, len(means)))
        gaps = drawn[:, :1] - drawn[:, 1:]
        steps = (2 * (gaps > self._margin) + (np.abs(gaps) <= self._margin)).sum(axis=1)
        return np.asarray(np.bincount(steps, minlength=2 * len(rivals) + 1) / DRAWS, dtype=np.float64)


def rivals_in(surprise: Surprise, bot: str) -> Iterator[str]:
    """Yield the rivals in an encounter, ``name@version`` each, in the seats of its first match."""
    return (label for label in surprise.matches[0].bots if label != bot)
