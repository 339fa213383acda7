"""The ratings of a whole field, with their errors.

1. Expectation propagation over the set of results (``set_fit.py``), with the draw probability matched to it.
2. The prior's width is estimated from the field: with a prior too wide, adaptive pairing and small numbers of matches
   make intervals miss. Three imaginary bots of the usual width keep the estimate sane in a small field. Fit, draw
   probability and width settle together (``settled_fit.py``).
3. The full covariance: the precision of the prior plus the likelihood terms of all results (``ep_messages.py``).
4. A bootstrap over encounters, the unit that is independent: the matches of one encounter share an opening, and often
   cancel. Encounters are drawn again with replacement, the prior's mean is drawn from the prior (Newton, Polson
   and Xu, "Weighted Bayesian Bootstrap", 2021), and the fit is moved by one Newton step.
5. A handful of encounters can't tell how much encounters vary: a bot that has won its only two would look certain. So
   the draws are mixed with draws from the posterior distribution of step 3, as if that were worth three encounters a
   bot. Of very many different encounters, the limit of that mixture is drawn instead, a normal distribution.

Everything is relative to the mean of the field: a common shift is not in the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings import set_fit
from arena.ratings.distributions import Floats, normal_cdf
from arena.ratings.environment import CONFIDENCE_95, SIGMA, Rating, cdf
from arena.ratings.large_field import LARGE_FIELD_DRAWS, SparsePosterior
from arena.ratings.result_arrays import Encounter, EncounterArrays, Integers, numbered
from arena.ratings.set_fit import SetFit
from arena.ratings.settled_fit import Posterior, Start, settle

DRAWS = 2000
DRAWS_AT_A_TIME = 250
MAX_LEFT_OUT = 5000
"""With more kinds of encounters none is left out in turn: a single one makes no difference then."""

MAX_RESAMPLED = 1500
"""With more kinds of encounters the limit of the bootstrap is drawn instead of encounters."""

KINDS_AT_A_TIME = 65_536
"""Kinds of encounters whose pulls are in memory together."""

MODEL_ENCOUNTERS = 3.0
"""The model's own variance counts as much as this many encounters of each bot."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedEncounters:
    """Ratings and their errors.

    Attributes:
        names: all bots, in alphabetical order.
        ratings: in the order of ``names``.
        draw_probability: the draw probability of two equal bots, matched to the fit.
        prior_width: the standard deviation of strengths in the field, as estimated.
        draws: deviations of the means in the bootstrap, relative to the field, shape (draws, bots).
        is_settled: whether another fit of the same encounters would agree to nine digits, wherever it began.
    """

    names: tuple[str, ...]
    ratings: tuple[Rating, ...]
    draw_probability: float
    prior_width: float
    draws: Floats
    encounters: int
    is_settled: bool = True

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Return whether both are of one class and all fields are equal: dataclasses can't compare arrays."""
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, one.name), getattr(other, one.name)) for one in fields(self))

    def margins(self) -> Floats:
        """Return half the width of each 95 % interval of mu, shape (bots,)."""
        if len(self.draws) < DRAWS:  # too few for a quantile
            return np.asarray(CONFIDENCE_95 * np.sqrt((self.draws * self.draws).mean(axis=0)))
        place, part = divmod(0.95 * (len(self.draws) - 1), 1)
        below, above = _in_order(np.abs(self.draws.T, order="C"), int(place), int(place) + 1)
        return np.asarray(below + (above - below) * part)

    def los(self, bots: Sequence[int] | None = None) -> Floats:
        """Return the likelihood of superiority of the bot of the row over the bot of the column, shape (bots, bots).

        ``bots`` are numbers in ``names``; by default all, which takes gigabytes in a field of 10,000.
        """
        chosen = range(len(self.names)) if bots is None else bots
        means = np.array([self.ratings[bot].mu for bot in chosen])
        covariance = np.atleast_2d(np.cov(self.draws[:, chosen], rowvar=False, bias=True))
        own = np.diag(covariance)
        spread = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * covariance, 1e-12))
        chance = normal_cdf((means[:, None] - means[None, :]) / spread)
        np.fill_diagonal(chance, 0.5)
        return chance

    def los_between(self, bot: int, rival: int, by: float = 0.0) -> float:
        """Return the likelihood that a bot is better than a rival ``by`` points of mu; numbers in ``names``."""
        spread = max(_deviation(self.draws[:, bot] - self.draws[:, rival]), 1e-6)
        return cdf((self.ratings[bot].mu - self.ratings[rival].mu - by) / spread)

    def gap(self, bot: int, rival: int) -> tuple[float, float]:
        """Return by how much a bot's mu is above a rival's, and half the width of the 95 % interval of that.

        Both are rated in one field, so that rivals whom both have met tell it, even if they never met each other.
        """
        margin = CONFIDENCE_95 * _deviation(self.draws[:, bot] - self.draws[:, rival])
        return self.ratings[bot].mu - self.ratings[rival].mu, margin

    def rank_intervals(self) -> list[tuple[int, int]]:
        """Return the 95 % interval of each bot's rank by mean, from the draws."""
        means = np.array([rating.mu for rating in self.ratings])
        losses = -(means + self.draws)
        in_order = np.sort(losses, axis=1)
        has_ties = bool((in_order[:, 1:] == in_order[:, :-1]).any())
        del in_order  # a copy of all draws, as the next two are
        order = np.argsort(losses, axis=1, kind="stable" if has_ties else None)  # stable takes five times as long
        del losses
        ranks = np.empty(order.shape[::-1], dtype=np.int32)
        np.put_along_axis(ranks.T, order, np.arange(1, len(means) + 1, dtype=np.int32)[None, :], axis=1)
        low, high = _in_order(ranks, *(ceil(len(self.draws) * share) - 1 for share in (0.025, 0.975)))
        return [(int(a), int(b)) for a, b in zip(low, high, strict=True)]


def _in_order(rows: NDArray[Any], *places: int) -> NDArray[Any]:
    """Return what is at two places of each row in ascending order.

    To partition for two places takes three times as long as to sort; np.quantile imports modules, which takes 40 ms.
    """
    return np.asarray(np.sort(rows, axis=1)[:, places].T)


def _deviation(values: Floats) -> float:
    """Return the standard deviation; for a thousand pairs of bots np.std takes four times as long."""
    deviations = values - np.add.reduce(values) / len(values)
    return sqrt(np.add.reduce(deviations * deviations) / len(values))


def draws_of(bots: int) -> int:
    """Return how many draws there are for a field of this size."""
    return LARGE_FIELD_DRAWS if bots > set_fit.MAX_DENSE_BOTS else DRAWS


def fit_encounters(
    encounters: EncounterArrays | Iterable[tuple[Encounter, int]],
    prior_width: float | None = None,
    start: Start | None = None,
) -> FittedEncounters:
    """Fit a field from its encounters.

    Args:
        encounters: the rated results of each kind of encounter, with how often it occurred. A result has two or more
            different names.
        prior_width: the standard deviation of the prior; by default estimated from the field.
        start: an earlier fit, of most of the encounters: this one is quicker then, and the same to nine digits.

    Raises:
        UsageError: if a result is malformed.
    """
    arrays = encounters if isinstance(encounters, EncounterArrays) else EncounterArrays.of(encounters)
    if not arrays.names:
        return FittedEncounters(
            names=(), ratings=(), draw_probability=0.0, prior_width=SIGMA, draws=np.zeros((DRAWS, 0)), encounters=0
        )
    fit = SetFit(arrays.names, arrays.results)
    probability, width, posterior, is_settled = settle(fit, prior_width, start)
    if start is not None and not is_settled:
        return fit_encounters(arrays, prior_width)
    draws = (
        posterior.draws(arrays, MODEL_ENCOUNTERS, width**-2)
        if isinstance(posterior, SparsePosterior)
        else _draws(arrays, posterior, width)
    )
    ratings = fit.polish()
    return FittedEncounters(
        names=arrays.names,
        ratings=tuple(ratings[name] for name in arrays.names),
        draw_probability=probability,
        prior_width=width,
        draws=draws,
        encounters=int(arrays.occurrences.sum()),
        is_settled=is_settled,
    )


def _draws(encounters: EncounterArrays, posterior: Posterior, width: float) -> Floats:
    generator = np.random.default_rng(0)
    few = len(encounters.occurrences) <= MAX_RESAMPLED
    draws = (_bootstrap if few else _limit_of_bootstrap)(encounters, posterior, width, generator)
    draws -= draws.mean(axis=1, keepdims=True)
    return draws


def _bootstrap(
    encounters: EncounterArrays, posterior: Posterior, width: float, generator: np.random.Generator
) -> Floats:
    """Return how the means move if encounters are drawn again, mixed with draws from the posterior distribution."""
    size, counts = len(encounters.names), encounters.occurrences
    pulls = _pulls(encounters, _terms(posterior, leaves_out=True), posterior.covariance)
    total = float(counts.sum())
    weights = generator.multinomial(int(total), counts / total, size=DRAWS) - counts
    scores = np.zeros((len(counts), size))
    scores[pulls.kind, pulls.bot] = pulls.value
    pulled = (weights @ scores) * np.sqrt(total / max(1.0, total - 1.0))
    prior = generator.standard_normal((DRAWS, size)) / width
    boot = (pulled + prior) @ posterior.covariance
    model = generator.standard_normal((DRAWS, size)) @ np.linalg.cholesky(posterior.covariance).T
    weight = _weight_of_encounters(float(counts[pulls.kind].sum()) / size)
    return np.asarray(np.sqrt(weight) * boot + np.sqrt(1.0 - weight) * model, dtype=np.float64)


def _limit_of_bootstrap(
    encounters: EncounterArrays, posterior: Posterior, width: float, generator: np.random.Generator
) -> Floats:
    """Return draws from the normal distribution that has the covariance of such a mixture."""
    size, counts = len(encounters.names), encounters.occurrences
    leaves_out = len(counts) <= MAX_LEFT_OUT
    rivals = None if leaves_out else posterior.pulls_of_rivals(encounters)
    if rivals is not None:
        mixed, total, seats = rivals.precision, rivals.shift, 2.0 * float(counts.sum())
    else:
        mixed, total, seats = _sums_of_pulls(encounters, posterior, leaves_out)
    mixed -= np.outer(total, total / counts.sum())
    mixed[np.diag_indices(size)] += width**-2
    weight = _weight_of_encounters(seats / size)
    mixed *= weight
    mixed += (1.0 - weight) * posterior.precision
    step = np.linalg.cholesky(mixed).T @ posterior.covariance
    draws = generator.standard_normal((DRAWS, size))
    for first in range(0, DRAWS, DRAWS_AT_A_TIME):
        draws[first : first + DRAWS_AT_A_TIME] = draws[first : first + DRAWS_AT_A_TIME] @ step
    return draws


def _sums_of_pulls(encounters: EncounterArrays, posterior: Posterior, leaves_out: bool) -> tuple[Floats, Floats, float]:
    """Return the sum of the products of the pulls at each two bots, that of the pulls at each, and the bots' number."""
    size, counts = len(encounters.names), encounters.occurrences
    terms = _terms(posterior, leaves_out)
    products, total, seats = np.zeros(size * size), np.zeros(size), 0.0
    for first in range(0, len(counts), KINDS_AT_A_TIME):
        pulls = _pulls(encounters, terms, posterior.covariance if leaves_out else None, first)
        total += np.bincount(pulls.bot, counts[pulls.kind] * pulls.value, size)
        seats += float(counts[pulls.kind].sum())
        _add_products(products, counts, pulls, size)
    return products.reshape(size, size), total, seats


def _weight_of_encounters(encounters: float) -> float:
    """Return the share of the bootstrap in the mixture, for this many encounters of each bot."""
    return encounters / (encounters + MODEL_ENCOUNTERS)


class _Pulls(NamedTuple):
    """How each kind of encounter pulls at the strength of each of its bots, at the fit; kinds and bots ascend."""

    kind: Integers
    bot: Integers
    value: Floats


def _add_products(products: Floats, counts: Integers, pulls: _Pulls, size: int) -> None:
    """Add the products of the pulls at each two bots in the same encounter, shape (bots * bots,)."""
    for entries in _entries_by_number(pulls.kind):
        bots, value = pulls.bot[entries], pulls.value[entries]
        weighted = value * counts[pulls.kind[entries]]
        cells = bots[:, :, None] * size + bots[:, None, :]
        products += np.bincount(cells.ravel(), (weighted[:, :, None] * value[:, None, :]).ravel(), size * size)


def _entries_by_number(kind: Integers) -> Iterator[Integers]:
    """Yield where the entries of kinds are, for each number of entries that a kind can have, shape (kinds, number)."""
    numbers = np.bincount(kind - kind[0]) if len(kind) else np.zeros(0, dtype=np.intp)
    starts = np.cumsum(numbers) - numbers
    for number in (1 + np.flatnonzero(np.bincount(numbers)[1:])).tolist():
        yield starts[numbers == number][:, None] + np.arange(number)


def _pulls(
    encounters: EncounterArrays, terms: Sequence[_Term], covariance: Floats | None, first_kind: int = 0
) -> _Pulls:
    """Return how some kinds of encounters pull.

    An encounter has drawn the fit towards itself. Where there are few encounters that matters, and the pull is the one
    at the fit without it (the jackknife's; MacKinnon and White, Journal of Econometrics 29, 1985, HC3).
    ``covariance`` is that of all strengths; without it, no encounter is left out in turn.
    """
    bots = len(encounters.names)
    start, end = np.searchsorted(encounters.kind, [first_kind, first_kind + KINDS_AT_A_TIME])
    parts = list(_parts(encounters.kind[start:end], encounters.result[start:end], terms))
    key = np.concatenate([(part.kind[:, None] * bots + part.members).ravel() for part in parts])
    pull = np.concatenate([part.pull.ravel() for part in parts])
    first, entry = numbered(key)
    pulls = _Pulls(
        key[first] // bots, key[first] % bots, np.bincount(entry, pull, len(first)).astype(np.float64, copy=False)
    )
    return pulls if covariance is None else pulls._replace(value=_without_themselves(pulls, parts, entry, covariance))


class _Term(NamedTuple):
    """The distinct results that have the same number of players.

    Attributes:
        members: the numbers of the bots, shape (results, players).
        precision: that of the likelihood terms, shape (results, players, players); None if no encounter is left out.
        pull: the pull at each bot, at the fit, shape (results, players).
    """

    members: NDArray[np.integer]
    precision: Floats | None
    pull: NDArray[np.floating]


def _terms(posterior: Posterior, leaves_out: bool) -> list[_Term]:
    mean = posterior.mean
    if not leaves_out:
        pulls = posterior.fit.pulls(mean, np.diag(posterior.covariance))
        return [_Term(members, None, pull) for members, pull, _ in pulls]
    return [
        _Term(members, precision, shift - np.einsum("rij,rj->ri", precision, mean[members]))
        for members, precision, shift, _ in posterior.fit.likelihood_terms()
    ]


class _Part(NamedTuple):
    """The results of encounters that have the same number of players, with the kind of encounter of each."""

    kind: Integers
    members: NDArray[np.integer]
    precision: Floats
    pull: NDArray[np.floating]


def _parts(kind: Integers, result: Integers, terms: Sequence[_Term]) -> Iterator[_Part]:
    start = 0
    for members, precision, pull in terms:
        has_these_results = (result >= start) & (result < start + len(pull))
        row = result[has_these_results] - start
        row_precision = np.zeros((0, 0, 0)) if precision is None else precision[row]
        yield _Part(kind[has_these_results], members.take(row, axis=0), row_precision, pull.take(row, axis=0))
        start += len(pull)


def _without_themselves(pulls: _Pulls, parts: Sequence[_Part], entry: Integers, covariance: Floats) -> Floats:
    """Return the pulls at the fits without each kind of encounter.

    ``entry`` is where each member of each result is in ``pulls``, which are at the fit of all.
    """
    value = np.empty_like(pulls.value)
    row_of = np.full(int(pulls.kind.max(initial=0)) + 1, -1)
    for entries in _entries_by_number(pulls.kind):
        row_of[:] = -1
        row_of[pulls.kind[entries[:, 0]]] = np.arange(len(entries))
        size = entries.shape[1]
        precision = np.zeros((len(entries), size, size))
        end = 0
        for part in parts:
            entries_of_part = entry[end : (end := end + part.members.size)].reshape(part.members.shape)
            has_row = row_of[part.kind] >= 0
            rows = row_of[part.kind[has_row]]
            position = entries_of_part[has_row] - entries[rows, :1]
            np.add.at(
                precision, (rows[:, None, None], position[:, :, None], position[:, None, :]), part.precision[has_row]
            )
        members = pulls.bot[entries]
        influence = precision @ covariance[members[:, :, None], members[:, None, :]]
        value[entries] = np.linalg.solve(np.eye(size) - influence, pulls.value[entries][:, :, None])[:, :, 0]
    return value
