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
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from arena.ratings.environment import BETA, MU, SIGMA, Environment, ppf
from arena.ratings.results import Canonical, Result, in_canonical_order
from arena.ratings.ties import Ties
from arena.ratings.truncation import Floats, corrections, messages

TOLERANCE = 1e-5
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
    fit = SetFit(counted, mu, beta)
    if draw_probability is not None:
        return FittedField(fit.run(draw_probability, sigma), draw_probability)
    matched = fit.tied_share()
    for _ in range(DRAW_ROUNDS):
        probability = matched
        ratings = fit.run(probability, sigma)
        matched = fit.matching_draw_probability()
        if abs(matched - probability) < 0.01 * probability:
            break
    return FittedField(ratings, probability)


class _Pairs:
    """The results of two: arrays over distinct results, the winner first."""

    def __init__(self, results: Sequence[tuple[Canonical, int]], index: Mapping[str, int]) -> None:
        chosen = [(members, ranks, count) for (members, ranks), count in results if len(members) == 2]
        self.first = np.array([index[members[0]] for members, _, _ in chosen], dtype=np.intp)
        self.second = np.array([index[members[1]] for members, _, _ in chosen], dtype=np.intp)
        self.is_draw = np.array([ranks[0] == ranks[1] for _, ranks, _ in chosen], dtype=np.bool_)
        self.count = np.array([count for _, _, count in chosen], dtype=np.float64)
        self.pi = np.zeros((2, len(chosen)))
        self.tau = np.zeros((2, len(chosen)))


class _Group:
    """A distinct result of three or more, with its sites."""

    def __init__(self, members: Sequence[int], ranks: tuple[int, ...], count: int) -> None:
        self.members = np.array(members, dtype=np.intp)
        self.ranks = ranks
        self.count = count
        self.pi = np.zeros(len(members))
        self.tau = np.zeros(len(members))


class Said(NamedTuple):
    """What the distinct results of so many players say of the strengths.

    Attributes:
        results: in canonical order.
        members: who took part, shape (results, players).
        precision: shape (results, players, players).
        shift: shape (results, players).
        often: how often each result occurred.
    """

    results: list[Canonical]
    members: NDArray[np.intp]
    precision: Floats
    shift: Floats
    often: Floats


class SetFit:
    """The sweeps over a set of results.

    Strengths are kept relative to the prior's mean, which the likelihood does not see. What has been found is kept, so
    that another run with a slightly different prior or draw probability takes a sweep or two.

    Attributes:
        names: everybody who occurs, in alphabetical order.
    """

    def __init__(self, counted: Iterable[tuple[Result, int]], mu: float = MU, beta: float = BETA) -> None:
        """Prepare a fit.

        Raises:
            UsageError: if a result is none.
        """
        self.counts = in_canonical_order(counted)
        results = sorted(self.counts.items())
        self._results = [result for result, _ in results]
        self.names = sorted({name for (members, _), _ in results for name in members})
        self._index = {name: number for number, name in enumerate(self.names)}
        self._mu, self._beta = mu, beta
        self._pairs = _Pairs(results, self._index)
        self._groups = [
            _Group([self._index[name] for name in members], ranks, count)
            for (members, ranks), count in results
            if len(members) > 2
        ]
        self._fields = _fields(self.counts, self._index)
        self._ties = Ties(results, self._index)
        self._prior_pi = 0.0
        self._pi, self._tau = np.zeros(len(self.names)), np.zeros(len(self.names))

    def run(self, draw_probability: float, sigma: float = SIGMA) -> dict[str, Rating]:
        """Sweep until nothing moves, and return the ratings."""
        self._environment = Environment(draw_probability, self._mu, sigma, self._beta)
        self.draw_margin = ppf((draw_probability + 1) / 2) * sqrt(2) * self._beta
        self._pi += sigma**-2 - self._prior_pi
        self._prior_pi = sigma**-2
        damping, last_change = 1.0, float("inf")
        for _ in range(MAX_SWEEPS):
            before = self._tau / self._pi, self._pi**-0.5
            self._sweep_pairs(damping)
            for group in self._groups:
                self._sweep_group(group, damping)
            self._centre()
            after = self._tau / self._pi, self._pi**-0.5
            change = max((float(np.abs(new - old).max(initial=0.0)) for new, old in zip(after, before, strict=True)))
            if change < TOLERANCE * damping:
                break
            if change > 0.9 * last_change:
                damping = max(0.05, damping / 2)
            last_change = change
        return self.ratings()

    def tied_share(self) -> float:
        """Return the share of ties: a first guess at the draw probability."""
        return self._ties.share()

    def matching_draw_probability(self) -> float:
        """Return the draw probability under which the ratings that were found expect the ties that were seen."""
        return self._ties.matching(self._tau / self._pi, self._beta)

    def ratings(self) -> dict[str, Rating]:
        """Return what has been found."""
        means = self._mu + self._tau / self._pi
        sigmas = self._pi**-0.5
        return {name: Rating(float(m), float(s)) for name, m, s in zip(self.names, means, sigmas, strict=True)}

    def _sweep_pairs(self, damping: float) -> None:
        """Rate every result of two by the closed form of the package's factor graph, all from the same beliefs."""
        pairs = self._pairs
        if not len(pairs.count):
            return
        members = np.stack([pairs.first, pairs.second])
        mean, variance = self._cavities(members, pairs.pi, pairs.tau)
        c = np.sqrt(variance.sum(axis=0) + 2 * self._beta**2)
        v, w = corrections((mean[0] - mean[1]) / c, self.draw_margin / c, pairs.is_draw)
        sign = np.array([[1.0], [-1.0]])
        posterior_pi = 1.0 / (variance * (1.0 - variance / c**2 * w))
        posterior_tau = posterior_pi * (mean + sign * variance / c * v)
        step_pi = damping * (posterior_pi - 1.0 / variance - pairs.pi)
        step_tau = damping * (posterior_tau - mean / variance - pairs.tau)
        pairs.pi += step_pi
        pairs.tau += step_tau
        size = len(self.names)
        for side in (0, 1):
            self._pi += np.bincount(members[side], step_pi[side] * pairs.count, size)
            self._tau += np.bincount(members[side], step_tau[side] * pairs.count, size)

    def _sweep_group(self, group: _Group, damping: float) -> None:
        """Rate a result of three or more with the package."""
        mean, variance = self._cavities(group.members, group.pi, group.tau)
        environment = self._environment
        teams = [
            (environment.create_rating(m, s),) for m, s in zip(mean.tolist(), np.sqrt(variance).tolist(), strict=True)
        ]
        rated = environment.rate(teams, ranks=list(group.ranks), min_delta=1e-6)
        posterior_pi = np.array([rating.sigma**-2 for (rating,) in rated])
        posterior_tau = posterior_pi * np.array([rating.mu for (rating,) in rated])
        step_pi = damping * (posterior_pi - 1.0 / variance - group.pi)
        step_tau = damping * (posterior_tau - mean / variance - group.tau)
        group.pi += step_pi
        group.tau += step_tau
        self._pi[group.members] += group.count * step_pi
        self._tau[group.members] += group.count * step_tau

    def _cavities(self, members: NDArray[np.intp], pi: Floats, tau: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of what is believed of ``members`` without one copy of a site."""
        variance = 1.0 / (self._pi[members] - pi)
        return (self._tau[members] - tau) * variance, variance

    def _centre(self) -> None:
        """Shift everybody who is connected by results so that their mean is the prior's.

        The likelihood does not change with a common shift, so the posterior's mean strength is the prior's; the sweeps
        alone approach it only slowly.
        """
        shifts = np.zeros(len(self.names))
        for field in self._fields:
            mean = (self._tau[field] / self._pi[field]).sum()
            weight = (1 - self._prior_pi / self._pi[field]).sum()
            shifts[field] = -mean / weight if weight > 0 else 0.0
        self._tau += (self._pi - self._prior_pi) * shifts
        pairs = self._pairs
        for side, members in enumerate((pairs.first, pairs.second)):
            pairs.tau[side] += pairs.pi[side] * shifts[members]
        for group in self._groups:
            group.tau += group.pi * shifts[group.members]

    def said(self) -> list[Said]:
        """Return what each distinct result says of the strengths, for each number of players.

        Strengths are relative to the prior's mean. See ``truncation.py``.
        """
        return [self._said(size) for size in sorted({len(members) for members, _ in self.counts})]

    def _said(self, size: int) -> Said:
        results = [result for result in self._results if len(result[0]) == size]
        if size == 2:
            members = np.stack([self._pairs.first, self._pairs.second], axis=1)
            pi, tau = self._pairs.pi.T, self._pairs.tau.T
            is_draw = self._pairs.is_draw[:, None]
        else:
            groups = [group for group in self._groups if len(group.members) == size]
            members = np.stack([group.members for group in groups])
            pi, tau = np.stack([group.pi for group in groups]), np.stack([group.tau for group in groups])
            is_draw = np.array([[a == b for a, b in pairwise(ranks)] for _, ranks in results])
        mean, variance = self._cavities(members, pi, tau)
        found = messages(mean, variance, is_draw, self.draw_margin, self._beta)
        often = np.array([self.counts[result] for result in results], dtype=np.float64)
        return Said(results, members, found.precision, found.shift, often)


def _fields(results: Iterable[Canonical], index: Mapping[str, int]) -> list[NDArray[np.intp]]:
    """Return the numbers of those who are connected through common results, field by field."""
    steps = [(index[a], index[b]) for members, _ in results for a, b in pairwise(members)]
    size = len(index)
    rows, columns = (np.array(ends, dtype=np.intp) for ends in zip(*steps, strict=True)) if steps else ((), ())
    graph = coo_matrix((np.ones(len(steps)), (rows, columns)), shape=(size, size))
    number, field_of = connected_components(graph, directed=False)
    return [np.flatnonzero(field_of == field) for field in range(number)]
