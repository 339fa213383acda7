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
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from arena.ratings.environment import BETA, MU, SIGMA, Environment, ppf
from arena.ratings.ep_messages import Groups, Joint, Pairs
from arena.ratings.results import Canonical, Result, in_canonical_order
from arena.ratings.ties import Ties
from arena.ratings.truncation import Floats, corrections, messages

TOLERANCE = 1e-5
MAX_SWEEPS = 200
DRAW_ROUNDS = 6

MOST_JOINTLY = 2000
"""Bots up to which the means are solved for in every sweep."""

MOST_POLISHED = 1000
"""Distinct results of three or more up to which the package has the last word; it takes a third of a millisecond
each.
"""


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
    polished: bool = True,
) -> FittedField:
    """Rate everybody, as ``rate_results`` does, from results with how often each occurred.

    Without ``polished`` the package does not have the last word on results of three or more; it is quicker.
    """
    fit = SetFit(counted, mu, beta)
    probability = fit.tied_share() if draw_probability is None else draw_probability
    for _ in range(DRAW_ROUNDS):
        fit.run(probability, sigma)
        if draw_probability is not None:
            break
        matched = fit.matching_draw_probability()
        if abs(matched - probability) < 0.01 * probability:
            break
        probability = matched
    return FittedField(fit.polish() if polished else fit.ratings(), probability)


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
        self._pairs = Pairs(results, self._index)
        sizes = sorted({len(members) for members, _ in self.counts} - {2})
        self._groups = [Groups(size, results, self._index) for size in sizes]
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
            joint = Joint(len(self.names), self._prior_pi) if len(self.names) <= MOST_JOINTLY else None
            self._sweep_pairs(damping, joint)
            for groups in self._groups:
                self._sweep_groups(groups, damping, joint)
            if joint is None:
                self._centre()
            else:
                self._move_to(before[0] + damping * (joint.mean() - before[0]))
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

    def _sweep_pairs(self, damping: float, joint: Joint | None) -> None:
        """Rate every result of two by the closed form of the package's factor graph, all from the same beliefs."""
        pairs = self._pairs
        if not len(pairs.count):
            return
        members = np.stack([pairs.first, pairs.second])
        mean, variance = self._cavities(members, pairs.pi, pairs.tau)
        c = np.sqrt(variance.sum(axis=0) + 2 * self._beta**2)
        v, w = corrections((mean[0] - mean[1]) / c, self.draw_margin / c, pairs.is_draw)
        sign = np.array([[1.0], [-1.0]])
        if joint is not None:
            unseen = 1.0 - variance.sum(axis=0) * w / c**2
            joint.add_pairs(
                members, w / c**2 / unseen, (mean[0] - mean[1]) * w / c**2 / unseen + v / c / unseen, pairs.count
            )
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

    def _sweep_groups(self, groups: Groups, damping: float, joint: Joint | None) -> None:
        """Rate every result of three or more, all from the same beliefs; see ``truncation.py``."""
        mean, variance = self._cavities(groups.members, groups.pi, groups.tau)
        said = messages(mean, variance, groups.is_draw, self.draw_margin, self._beta, groups.inner)
        groups.inner = said.sites
        if joint is not None:
            joint.add(groups.members, said.precision, said.shift, groups.count)
        own = np.arange(mean.shape[1])
        precision = said.precision.copy()
        precision[:, own, own] += 1.0 / variance
        covariance = np.linalg.inv(precision)
        posterior_pi = 1.0 / covariance[:, own, own]
        posterior_tau = posterior_pi * np.einsum("rij,rj->ri", covariance, mean / variance + said.shift)
        step_pi = damping * (posterior_pi - 1.0 / variance - groups.pi)
        step_tau = damping * (posterior_tau - mean / variance - groups.tau)
        groups.pi += step_pi
        groups.tau += step_tau
        members, size = groups.members.ravel(), len(self.names)
        self._pi += np.bincount(members, (step_pi * groups.count[:, None]).ravel(), size)
        self._tau += np.bincount(members, (step_tau * groups.count[:, None]).ravel(), size)

    def polish(self) -> dict[str, Rating]:
        """Sweep once more through the results of three or more, each rated by the package, and return the ratings.

        The arrays above follow the same equations, so this moves nothing by more than the tolerance of both. In fields
        of very many distinct results it is left out.
        """
        if sum(len(groups.count) for groups in self._groups) <= MOST_POLISHED:
            for groups in self._groups:
                for row in range(len(groups.count)):
                    self._rate_by_package(groups, row)
            if len(self.names) > MOST_JOINTLY:
                self._centre()
        return self.ratings()

    def _rate_by_package(self, groups: Groups, row: int) -> None:
        members = groups.members[row]
        mean, variance = self._cavities(members, groups.pi[row], groups.tau[row])
        environment = self._environment
        pairs = zip(mean.tolist(), np.sqrt(variance).tolist(), strict=True)
        teams = [(environment.create_rating(m, s),) for m, s in pairs]
        rated = environment.rate(teams, ranks=list(groups.ranks[row]), min_delta=1e-8)
        posterior_pi = np.array([rating.sigma**-2 for (rating,) in rated])
        posterior_tau = posterior_pi * np.array([rating.mu for (rating,) in rated])
        step_pi = posterior_pi - 1.0 / variance - groups.pi[row]
        step_tau = posterior_tau - mean / variance - groups.tau[row]
        groups.pi[row] += step_pi
        groups.tau[row] += step_tau
        self._pi[members] += groups.count[row] * step_pi
        self._tau[members] += groups.count[row] * step_tau

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
        self._shift(shifts)

    def _move_to(self, means: Floats) -> None:
        """Shift everybody to given means.

        Given the sites, the means are the solution of a linear system; sweeps approach it slowly where groups of bots
        are held together by few surprises.
        """
        weight = 1 - self._prior_pi / self._pi
        self._shift(np.where(weight > 1e-9, (means - self._tau / self._pi) / np.maximum(weight, 1e-9), 0.0))

    def _shift(self, shifts: Floats) -> None:
        """Shift everybody's sites."""
        self._tau += (self._pi - self._prior_pi) * shifts
        pairs = self._pairs
        for side, members in enumerate((pairs.first, pairs.second)):
            pairs.tau[side] += pairs.pi[side] * shifts[members]
        for groups in self._groups:
            groups.tau += groups.pi * shifts[groups.members]

    def said(self) -> list[Said]:
        """Return what each distinct result says of the strengths, for each number of players.

        Strengths are relative to the prior's mean. See ``truncation.py``.
        """
        return [self._said(size) for size in sorted({len(members) for members, _ in self.counts})]

    def _said(self, size: int) -> Said:
        results = [result for result in self._results if len(result[0]) == size]
        if size == 2:
            pairs = self._pairs
            members = np.stack([pairs.first, pairs.second], axis=1)
            mean, variance = self._cavities(members, pairs.pi.T, pairs.tau.T)
            found = messages(mean, variance, pairs.is_draw[:, None], self.draw_margin, self._beta)
        else:
            groups = next(groups for groups in self._groups if groups.members.shape[1] == size)
            members = groups.members
            mean, variance = self._cavities(members, groups.pi, groups.tau)
            found = messages(mean, variance, groups.is_draw, self.draw_margin, self._beta)
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
