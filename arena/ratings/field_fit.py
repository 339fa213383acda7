"""The ratings of a whole field, with their errors.

1. Expectation propagation over the set of results (``set_fit.py``), with the draw probability matched to it.
2. The prior's width is estimated from the field: with a prior too wide, adaptive pairing and small numbers of matches
   make intervals miss. Three imaginary bots of the usual width keep the estimate sane in a small field.
3. The full covariance: the precision of the prior plus the likelihood terms of all results (``truncation.py``).
4. A bootstrap over encounters, the unit that is independent: the matches of one encounter share an opening, and often
   cancel. Encounters are drawn again with replacement, the prior's mean is drawn from the prior (Newton, Polson
   and Xu, "Weighted Bayesian Bootstrap", 2021), and the fit is moved by one Newton step. Of very many different
   encounters, the limit of that bootstrap is drawn instead, a normal distribution.
5. A handful of encounters can't tell how much encounters vary: a bot that has won its only two would look certain. So
   the draws are mixed with draws from the posterior distribution of step 3, as if that were worth three encounters a
   bot.

Everything is relative to the mean of the field: a common shift is not in the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import ndtr

from arena.ratings.environment import MU, SIGMA
from arena.ratings.ep_messages import JointGaussian
from arena.ratings.rating import Rating
from arena.ratings.results import Canonical, Result, canonical
from arena.ratings.set_fit import LikelihoodTerms, SetFit
from arena.ratings.truncation import Floats

DRAWS = 2000
MAX_LEFT_OUT = 5000
"""With more kinds of encounters none is left out in turn: a single one makes no difference then."""

MAX_RESAMPLED = 1500
"""With more kinds of encounters the limit of the bootstrap is drawn instead of encounters."""

MODEL_ENCOUNTERS = 3.0
"""The model's own variance counts as much as this many encounters of each bot."""

IMAGINARY_BOTS = 3.0
ROUNDS = 20
MIN_WIDTH = 0.1

Encounter = tuple[Result, ...]
"""The rated results of one encounter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedEncounters:
    """Ratings and their errors.

    Attributes:
        names: all bots, in alphabetical order.
        ratings: in the order of ``names``.
        draw_probability: of two equal bots, matched to the fit.
        prior_width: the standard deviation of strengths in the field, as estimated.
        draws: deviations of the means in the bootstrap, relative to the field, shape (draws, bots).
        encounters: the number of encounters.
    """

    names: tuple[str, ...]
    ratings: tuple[Rating, ...]
    draw_probability: float
    prior_width: float
    draws: Floats
    encounters: int

    def margins(self) -> Floats:
        """Return half the width of each 95 % interval of mu, shape (bots,)."""
        return np.quantile(np.abs(self.draws), 0.95, axis=0)

    def los(self) -> Floats:
        """Return the likelihood of superiority of the bot of the row over the bot of the column, shape (bots, bots)."""
        means = np.array([rating.mu for rating in self.ratings])
        covariance = np.atleast_2d(np.cov(self.draws, rowvar=False, bias=True))
        own = np.diag(covariance)
        spread = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * covariance, 1e-12))
        chance = ndtr((means[:, None] - means[None, :]) / spread)
        np.fill_diagonal(chance, 0.5)
        return np.asarray(chance)

    def rank_intervals(self) -> list[tuple[int, int]]:
        """Return the 95 % interval of each bot's rank by mean, from the draws."""
        means = np.array([rating.mu for rating in self.ratings])
        order = np.argsort(-(means + self.draws), axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(1, len(means) + 1)[None, :], axis=1)
        low = np.quantile(ranks, 0.025, axis=0, method="inverted_cdf")
        high = np.quantile(ranks, 0.975, axis=0, method="inverted_cdf")
        return [(int(a), int(b)) for a, b in zip(low, high, strict=True)]


def fit_encounters(encounters: Iterable[tuple[Encounter, int]], prior_width: float | None = None) -> FittedEncounters:
    """Fit a field from its encounters.

    Args:
        encounters: the rated results of each kind of encounter, with how often it occurred. A result has two or more
            different names.
        prior_width: the standard deviation of the prior; by default estimated from the field.

    Raises:
        UsageError: if a result is malformed.
    """
    kinds: Counter[Encounter] = Counter()
    for results, count in encounters:
        if results:
            kinds[tuple((tuple(names), tuple(ranks)) for names, ranks in results)] += count
    ordered = sorted(kinds.items())
    counted: Counter[Result] = Counter()
    for results, count in ordered:
        for result in results:
            counted[result] += count
    fit = SetFit(counted.items())
    if not fit.names:
        return FittedEncounters(
            names=(), ratings=(), draw_probability=0.0, prior_width=SIGMA, draws=np.zeros((DRAWS, 0)), encounters=0
        )
    probability, width, posterior = _settle(fit, prior_width)
    ratings = fit.polish()
    draws = _bootstrap(ordered, fit, posterior, width)
    return FittedEncounters(
        names=tuple(fit.names),
        ratings=tuple(ratings[name] for name in fit.names),
        draw_probability=probability,
        prior_width=width,
        draws=draws,
        encounters=kinds.total(),
    )


class _Posterior:
    """The posterior distribution of all strengths, relative to the prior's mean."""

    def __init__(self, fit: SetFit, width: float) -> None:
        self.terms = fit.likelihood_terms()
        joint = JointGaussian(len(fit.names), width**-2)
        for terms in self.terms:
            joint.add(terms.members, terms.precision, terms.shift, terms.occurrences)
        self.covariance = np.linalg.inv(joint.precision)
        self.mean = joint.mean()


def _settle(fit: SetFit, prior_width: float | None) -> tuple[float, float, _Posterior]:
    """Fit, with the draw probability and the prior's width that go with the fit; return them and the posterior fit."""
    probability = fit.tied_share()
    width = prior_width or SIGMA
    for _ in range(ROUNDS):
        ratings = fit.run(probability, width)
        posterior = _Posterior(fit, width)
        matched = fit.matching_draw_probability()
        estimate = prior_width or _estimated_width(ratings, posterior)
        if abs(matched - probability) < 0.01 * probability and abs(estimate - width) < 0.01 * width:
            return probability, width, posterior
        probability, width = matched, estimate
    fit.run(probability, width)
    return probability, width, _Posterior(fit, width)


def _estimated_width(ratings: dict[str, Rating], posterior: _Posterior) -> float:
    """Return the width by a step of expectation maximisation, with a few imaginary bots of the usual width."""
    spread = sum((rating.mu - MU) ** 2 for rating in ratings.values()) + np.trace(posterior.covariance)
    return max(MIN_WIDTH, float(np.sqrt((IMAGINARY_BOTS * SIGMA**2 + spread) / (IMAGINARY_BOTS + len(ratings)))))


def _bootstrap(kinds: Sequence[tuple[Encounter, int]], fit: SetFit, posterior: _Posterior, width: float) -> Floats:
    """Return draws of the deviations of all means from the fit, relative to the field."""
    size = len(fit.names)
    generator = np.random.default_rng(0)
    pulled = _pulled_by_encounters(kinds, _scores(kinds, fit, posterior), generator)
    prior = generator.standard_normal((DRAWS, size)) / width
    boot = (pulled + prior) @ posterior.covariance
    model = generator.standard_normal((DRAWS, size)) @ np.linalg.cholesky(posterior.covariance).T
    seats = sum(count * len({name for names, _ in results for name in names}) for results, count in kinds)
    weight = seats / size / (seats / size + MODEL_ENCOUNTERS)
    draws = np.sqrt(weight) * boot + np.sqrt(1.0 - weight) * model
    return np.asarray(draws - draws.mean(axis=1, keepdims=True), dtype=np.float64)


def _pulled_by_encounters(
    kinds: Sequence[tuple[Encounter, int]], scores: csr_matrix, generator: np.random.Generator
) -> Floats:
    """Return how encounters drawn again pull at every strength, shape (draws, bots)."""
    counts = np.array([count for _, count in kinds], dtype=np.float64)
    total = counts.sum()
    if len(kinds) <= MAX_RESAMPLED:
        weights = generator.multinomial(int(total), counts / total, size=DRAWS) - counts
        pulled = (scores.T @ weights.T).T * np.sqrt(total / max(1.0, total - 1.0))
        return np.asarray(pulled, dtype=np.float64)
    mean = np.asarray(scores.T @ counts) / total
    spread = (scores.T @ scores.multiply(counts[:, None])).toarray() - total * np.outer(mean, mean)
    values, vectors = np.linalg.eigh(spread)
    limit = generator.standard_normal((DRAWS, len(mean))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return np.asarray(limit, dtype=np.float64)


def _scores(kinds: Sequence[tuple[Encounter, int]], fit: SetFit, posterior: _Posterior) -> csr_matrix:
    """Return for each kind of encounter how it pulls at every strength, at the fit; shape (kinds, bots).

    An encounter has drawn the fit towards itself. Where there are few encounters that matters, and the pull is the one
    at the fit without it (the jackknife's; MacKinnon and White, Journal of Econometrics 29, 1985, HC3).
    """
    term_of = {result: (terms, k) for terms in posterior.terms for k, result in enumerate(terms.results)}
    if len(kinds) <= MAX_LEFT_OUT:
        pulls = [_pull_without(posterior, [term_of[canonical(*result)] for result in results]) for results, _ in kinds]
        rows = np.concatenate([np.full(len(members), row) for row, (members, _) in enumerate(pulls)])
        columns = np.concatenate([members for members, _ in pulls])
        values = np.concatenate([pull for _, pull in pulls])
    else:
        rows, columns, values = _pulls_at_the_fit(kinds, posterior, term_of)
    return csr_matrix((values, (rows, columns)), shape=(len(kinds), len(fit.names)))


def _pull_without(
    posterior: _Posterior, encounter: Sequence[tuple[LikelihoodTerms, int]]
) -> tuple[NDArray[np.intp], Floats]:
    """Return the bots of an encounter, and how it pulls at them at the fit without it.

    Args:
        posterior: of all encounters.
        encounter: for each of its results the terms that it belongs to, and its row in them.
    """
    members = np.unique(np.concatenate([terms.members[k] for terms, k in encounter]))
    precision = np.zeros((len(members), len(members)))
    pull = np.zeros(len(members))
    for terms, k in encounter:
        own = np.searchsorted(members, terms.members[k])
        precision[np.ix_(own, own)] += terms.precision[k]
        pull[own] += terms.shift[k] - terms.precision[k] @ posterior.mean[terms.members[k]]
    influence = precision @ posterior.covariance[np.ix_(members, members)]
    return members, np.asarray(np.linalg.solve(np.eye(len(members)) - influence, pull), dtype=np.float64)


def _pulls_at_the_fit(
    kinds: Sequence[tuple[Encounter, int]],
    posterior: _Posterior,
    term_of: Mapping[Canonical, tuple[LikelihoodTerms, int]],
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return row, column and value of every pull, for very many kinds of encounters."""
    used: dict[int, tuple[list[int], list[int]]] = {}
    for row, (results, _) in enumerate(kinds):
        for result in results:
            terms, k = term_of[canonical(*result)]
            rows, positions = used.setdefault(terms.members.shape[1], ([], []))
            rows.append(row)
            positions.append(k)
    parts = []
    for terms in posterior.terms:
        pulls = terms.shift - np.einsum("rij,rj->ri", terms.precision, posterior.mean[terms.members])
        players = terms.members.shape[1]
        rows, positions = used[players]
        parts.append((np.repeat(rows, players), terms.members[positions].ravel(), pulls[positions].ravel()))
    row_parts, column_parts, value_parts = zip(*parts, strict=True)
    return np.concatenate(row_parts), np.concatenate(column_parts), np.concatenate(value_parts)
