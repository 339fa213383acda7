"""Order-free TrueSkill: expectation propagation over the whole set of results.

Online rating depends on the order of the results. Here every distinct result (the same bots, finishing alike) keeps a
site, a Gaussian message to each of its bots in natural parameters, that counts as often as the result occurred. A sweep
goes through the distinct results: it divides one copy of the site out of the bots' beliefs, rates the result with the
``trueskill`` package, and puts the new site back as often as it counts, until nothing moves (Minka, "Expectation
propagation for approximate Bayesian inference", 2001; TrueSkill's own factor graph is one result of it).

The cost grows with the number of distinct results, not with the number of matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import NamedTuple

from arena.errors import UsageError
from arena.ratings.environment import BETA, MU, SIGMA, Environment, cdf, ppf

Result = tuple[Sequence[str], Sequence[int]]
"""The names in seat order, and the rank of each: 1 is best, ties share."""

LEAST_DRAW_PROBABILITY = 1e-3
"""With none at all, a draw would make sigma grow."""
MOST_DRAW_PROBABILITY = 0.95

TOLERANCE = 1e-3
MAX_SWEEPS = 200
DRAW_ROUNDS = 6


class Rating(NamedTuple):
    """The belief about a bot's strength: a normal distribution.

    Attributes:
        mu: its mean.
        sigma: its standard deviation.
    """

    mu: float
    sigma: float

    @property
    def exposure(self) -> float:
        """``mu - 3 sigma``: a strength the bot has almost certainly; tables are sorted by it."""
        return self.mu - 3 * self.sigma


class FittedField(NamedTuple):
    """Ratings with what they rest on.

    Attributes:
        ratings: by name, in alphabetical order.
        draw_probability: of two equal players, as used.
    """

    ratings: dict[str, Rating]
    draw_probability: float


def rate_results(
    results: Iterable[Result],
    *,
    draw_probability: float | None = None,
    mu: float = MU,
    sigma: float = SIGMA,
    beta: float = BETA,
) -> dict[str, Rating]:
    """Rate everybody who occurs in ``results``; their order makes no difference.

    Args:
        results: names and ranks of each match; any number of players, two or more.
        draw_probability: of two equal players; by default the one under which the ratings expect as many ties as
            there were, kept within 0.001 and 0.95. (The plain share of ties is too low in a field of unequal bots: a
            weak bot rarely ties with a strong one.)
        mu: mean of the prior.
        sigma: standard deviation of the prior.
        beta: standard deviation of a performance in one match.

    Returns:
        The rating of each name, the names in alphabetical order.

    Raises:
        UsageError: if a result has fewer than two names, the same name twice, or ranks that are not whole numbers.
    """
    counted = Counter((tuple(names), tuple(ranks)) for names, ranks in results)
    return fit_counted(counted.items(), draw_probability=draw_probability, mu=mu, sigma=sigma, beta=beta).ratings


def fit_counted(
    counted: Iterable[tuple[Result, int]],
    *,
    draw_probability: float | None = None,
    mu: float = MU,
    sigma: float = SIGMA,
    beta: float = BETA,
) -> FittedField:
    """Rate everybody, as ``rate_results`` does, from results with how often each occurred."""
    counts = _in_canonical_order(counted)
    if draw_probability is not None:
        return FittedField(_Fit(counts, Environment(draw_probability, mu, sigma, beta)).run(), draw_probability)
    matched = _kept_within_bounds(_tied_share(counts))
    for _ in range(DRAW_ROUNDS):
        probability = matched
        ratings = _Fit(counts, Environment(probability, mu, sigma, beta)).run()
        matched = _matching_draw_probability(counts, ratings, beta)
        if abs(matched - probability) < 0.01 * probability:
            break
    return FittedField(ratings, probability)


_Canonical = tuple[tuple[str, ...], tuple[int, ...]]
"""A result in canonical order, by rank and then by name, so that seats make no difference; ranks count from 0."""


def _in_canonical_order(counted: Iterable[tuple[Result, int]]) -> Counter[_Canonical]:
    counts: Counter[_Canonical] = Counter()
    for (names, ranks), count in counted:
        counts[_canonical(names, ranks)] += count
    return counts


def _canonical(names: Sequence[str], ranks: Sequence[int]) -> _Canonical:
    if len(names) < 2 or len(names) != len(ranks):
        raise UsageError(f"a result needs two or more names and a rank for each, not {names!r} and {ranks!r}")
    if len(set(names)) != len(names):
        raise UsageError(f"a name stands twice in one result: {names!r}")
    if not all(type(rank) is int for rank in ranks):
        raise UsageError(f"ranks are whole numbers, not {ranks!r}")
    order = sorted(zip(ranks, names, strict=True))
    dense = {rank: place for place, rank in enumerate(sorted(set(ranks)))}
    return tuple(name for _, name in order), tuple(dense[rank] for rank, _ in order)


def _tied_share(counts: Mapping[_Canonical, int]) -> float:
    """Return the tied share of all pairs inside the matches."""
    pairs = ties = 0
    for (_, ranks), count in counts.items():
        pairs += count * len(ranks) * (len(ranks) - 1) // 2
        ties += count * sum(n * (n - 1) // 2 for n in Counter(ranks).values())
    return ties / pairs if pairs else 0.0


def _kept_within_bounds(probability: float) -> float:
    return min(max(probability, LEAST_DRAW_PROBABILITY), MOST_DRAW_PROBABILITY)


def _matching_draw_probability(counts: Mapping[_Canonical, int], ratings: Mapping[str, Rating], beta: float) -> float:
    """Return the draw probability under which these ratings expect the tied share that was seen, by bisection."""
    met: Counter[tuple[str, str]] = Counter()
    for (members, _), count in counts.items():
        for pair in combinations(members, 2):
            met[pair] += count
    spread = sqrt(2) * beta
    gaps = [((ratings[a].mu - ratings[b].mu) / spread, count) for (a, b), count in met.items()]
    seen = _tied_share(counts) * met.total()
    low, high = LEAST_DRAW_PROBABILITY, MOST_DRAW_PROBABILITY
    for _ in range(30):
        middle = (low + high) / 2
        margin = ppf((middle + 1) / 2)
        expected = sum(count * (cdf(margin - gap) - cdf(-margin - gap)) for gap, count in gaps)
        low, high = (middle, high) if expected < seen else (low, middle)
    return (low + high) / 2


@dataclass(slots=True)
class _Belief:
    """A normal distribution in natural parameters: precision pi = 1/sigma², and tau = mu/sigma²."""

    pi: float
    tau: float

    def mean_and_sigma(self) -> tuple[float, float]:
        return self.tau / self.pi, 1.0 / sqrt(self.pi)


class _Fit:
    """The sweeps. Strengths are kept relative to the prior's mean, which the likelihood does not see."""

    def __init__(self, counts: Mapping[_Canonical, int], environment: Environment) -> None:
        self._environment = environment
        self._results = sorted(counts.items())
        names = sorted({name for (members, _), _ in self._results for name in members})
        self._prior_pi = environment.sigma**-2
        self._beliefs = {name: _Belief(self._prior_pi, 0.0) for name in names}
        self._sites = [[_Belief(0.0, 0.0) for _ in members] for (members, _), _ in self._results]
        self._fields = _connected([members for (members, _), _ in self._results])

    def run(self) -> dict[str, Rating]:
        before = self._ratings()
        damping = 1.0
        last_change = float("inf")
        for _ in range(MAX_SWEEPS):
            self._sweep(damping)
            self._centre()
            ratings = self._ratings()
            change = max(
                (max(abs(new.mu - old.mu), abs(new.sigma - old.sigma)) for new, old in _pairs(ratings, before)),
                default=0.0,
            )
            if change < TOLERANCE * damping:
                break
            if change > 0.9 * last_change:
                damping = max(0.05, damping / 2)
            last_change, before = change, ratings
        return self._ratings()

    def _ratings(self) -> dict[str, Rating]:
        ratings = {}
        for name, belief in self._beliefs.items():
            mean, sigma = belief.mean_and_sigma()
            ratings[name] = Rating(mean + self._environment.mu, sigma)
        return ratings

    def _sweep(self, damping: float) -> None:
        for ((members, ranks), count), sites in zip(self._results, self._sites, strict=True):
            cavities = [self._cavity(name, site) for name, site in zip(members, sites, strict=True)]
            posteriors = self._rate(cavities, ranks)
            for name, site, cavity, (mean, sigma) in zip(members, sites, cavities, posteriors, strict=True):
                pi = sigma**-2
                step_pi = damping * (pi - cavity.pi - site.pi)
                step_tau = damping * (pi * mean - cavity.tau - site.tau)
                self._move(self._beliefs[name], site, step_pi, step_tau, count)

    def _centre(self) -> None:
        """Shift everybody who is connected by results so that their mean is the prior's.

        The likelihood does not change with a common shift, so the posterior's mean strength is the prior's; the sweeps
        alone approach it only slowly.
        """
        shifts: dict[str, float] = {}
        for field in self._fields:
            beliefs = [self._beliefs[name] for name in field]
            mean = sum(belief.tau / belief.pi for belief in beliefs)
            weight = sum(1 - self._prior_pi / belief.pi for belief in beliefs)
            shifts.update(dict.fromkeys(field, -mean / weight if weight > 0 else 0.0))
        for name, belief in self._beliefs.items():
            belief.tau += (belief.pi - self._prior_pi) * shifts[name]
        for ((members, _), _), sites in zip(self._results, self._sites, strict=True):
            for name, site in zip(members, sites, strict=True):
                site.tau += site.pi * shifts[name]

    def _cavity(self, name: str, site: _Belief) -> _Belief:
        """Return the belief about a bot without one copy of a site."""
        belief = self._beliefs[name]
        return _Belief(belief.pi - site.pi, belief.tau - site.tau)

    @staticmethod
    def _move(belief: _Belief, site: _Belief, step_pi: float, step_tau: float, count: int) -> None:
        site.pi += step_pi
        site.tau += step_tau
        belief.pi += count * step_pi
        belief.tau += count * step_tau

    def _rate(self, cavities: Sequence[_Belief], ranks: tuple[int, ...]) -> list[tuple[float, float]]:
        """Return mean and sigma of each bot after one result, by the package's factor graph."""
        if len(cavities) == 2:
            return self._rate_two(cavities[0], cavities[1], is_draw=ranks[0] == ranks[1])
        environment = self._environment
        groups = [(environment.create_rating(*cavity.mean_and_sigma()),) for cavity in cavities]
        rated = environment.rate(groups, ranks=list(ranks), min_delta=1e-6)
        return [(rating.mu, rating.sigma) for (rating,) in rated]

    def _rate_two(self, winner: _Belief, loser: _Belief, is_draw: bool) -> list[tuple[float, float]]:
        """Return what the factor graph gives for two players, which has a closed form."""
        environment = self._environment
        (mean_1, sigma_1), (mean_2, sigma_2) = winner.mean_and_sigma(), loser.mean_and_sigma()
        var_1, var_2 = sigma_1**2, sigma_2**2
        c = sqrt(var_1 + var_2 + 2 * environment.beta**2)
        diff, margin = (mean_1 - mean_2) / c, self._margin(c)
        v = (environment.v_draw if is_draw else environment.v_win)(diff, margin)
        w = (environment.w_draw if is_draw else environment.w_win)(diff, margin)
        return [
            (mean_1 + var_1 / c * v, sigma_1 * sqrt(1 - var_1 / c**2 * w)),
            (mean_2 - var_2 / c * v, sigma_2 * sqrt(1 - var_2 / c**2 * w)),
        ]

    def _margin(self, c: float) -> float:
        environment = self._environment
        unscaled: float = environment.ppf((environment.draw_probability + 1) / 2) * sqrt(2) * environment.beta
        return unscaled / c


def _pairs(new: Mapping[str, Rating], old: Mapping[str, Rating]) -> Iterable[tuple[Rating, Rating]]:
    return ((new[name], old[name]) for name in new)


def _connected(groups: Iterable[tuple[str, ...]]) -> list[list[str]]:
    """Return the groups of names that are connected through common results, in alphabetical order."""
    field_of: dict[str, set[str]] = {}
    for members in groups:
        merged = set(members).union(*(field_of[name] for name in members if name in field_of))
        for name in merged:
            field_of[name] = merged
    return sorted(sorted(field) for field in {id(field): field for field in field_of.values()}.values())
