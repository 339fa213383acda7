"""Order-free TrueSkill: expectation propagation over the whole set of results.

Online rating depends on the order of the results. Here every distinct result (the same bots with the same ranks) has a
Gaussian message to each of its bots, in natural parameters, which counts as often as the result occurred. A sweep goes
through the distinct results: it divides one copy of the message out of the bots' beliefs, rates the result as the
``trueskill`` package does, and multiplies the new message back in, until nothing changes (Minka, "Expectation
propagation for approximate Bayesian inference", 2001; TrueSkill's own factor graph treats a single result).

The cost grows with the number of distinct results, not with the number of matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats
from arena.ratings.environment import BETA, MU, SIGMA, Environment, Rating, ppf
from arena.ratings.ep_messages import (
    JointGaussian,
    LikelihoodTerms,
    MultiwayMessages,
    PairwiseMessages,
    SparseJoint,
    Ties,
    corrections,
    gaussian_terms,
)
from arena.ratings.extrapolation import Extrapolation
from arena.ratings.pair_graph import Block, Numbers, PairGraph
from arena.ratings.result_arrays import DistinctResults

TOLERANCE = 1e-5
MAX_SWEEPS = 1000

MAX_DENSE_BOTS = 2000
"""In fields of more bots, the precision matrix of all strengths is sparse (``pair_graph.py``)."""

BLOCK = 32_768
"""Results of two that are rated at a time, so that they stay in the processor's cache."""

MAX_POLISHED_RESULTS = 1000
"""With more distinct results of three or more bots the package, a third of a millisecond each, is left out at last."""

Joint = JointGaussian | SparseJoint


class SetFit:
    """The sweeps over a set of results.

    Strengths are kept relative to the prior's mean, which the likelihood does not see. The messages are kept, so that
    another run with a slightly different prior or draw probability takes a sweep or two.

    Attributes:
        swept_pairs: precision and shift of the terms of results of two in the last sweep, each times its occurrences;
            not of large fields.
    """

    def __init__(
        self, names: Sequence[str], results: Sequence[DistinctResults], mu: float = MU, beta: float = BETA
    ) -> None:
        """Prepare a fit of distinct results, for each number of players; the names are in alphabetical order."""
        self.names = names
        self._mu, self._beta = mu, beta
        self._pairwise = PairwiseMessages(results)
        self._multiway = [MultiwayMessages(own) for own in results if own.players > 2]
        self._graph = PairGraph(results, len(names))
        self._rows = self._graph.rows() if len(names) > MAX_DENSE_BOTS else None
        self._ties = Ties(results, self._graph)
        self._prior_pi = 0.0
        self.swept_pairs = np.zeros((2, 0))
        self._pi, self._tau = np.zeros(len(self.names)), np.zeros(len(self.names))

    def run(self, draw_probability: float, sigma: float = SIGMA, tolerance: float = TOLERANCE) -> dict[str, Rating]:
        """Sweep until nothing changes by more than the tolerance, and return the ratings."""
        self.assume(draw_probability, sigma)
        extrapolation, nothing = Extrapolation(self), np.zeros(0)
        for _ in range(MAX_SWEEPS):
            extrapolation.begin(nothing)
            change = self.sweep()
            if change < tolerance:
                break
            extrapolation.end(change, nothing)
        return self.ratings()

    def assume(self, draw_probability: float, sigma: float) -> None:
        """Take a draw probability and a width of the prior for the sweeps that follow."""
        self._environment = Environment(draw_probability, self._mu, sigma, self._beta)
        self.draw_margin = ppf((draw_probability + 1) / 2) * sqrt(2) * self._beta
        self._pi += sigma**-2 - self._prior_pi
        self._prior_pi = sigma**-2

    def begin_with(self, means: Floats, precisions: Floats, sigma: float) -> None:
        """Begin with beliefs of an earlier fit under a prior of width ``sigma``, before the first sweep."""
        self._pi, self._tau, self._prior_pi = precisions.copy(), (means - self._mu) * precisions, sigma**-2

    def sweep(self, mean_of: Callable[[Joint], Floats] = lambda joint: joint.mean()) -> float:
        """Rate every result once, and return the greatest change of a mean or sigma.

        ``mean_of``: the means that everybody is moved to, of the Gaussian of all strengths before the sweep.
        """
        before = self._tau / self._pi, self._pi**-0.5
        joint = self._joint()
        size = len(self.names)
        totals = np.full(size, self._prior_pi), np.zeros(size)
        self._sweep_pairwise(joint, totals)
        for messages in self._multiway:
            self._sweep_multiway(messages, joint, totals)
        self._pi, self._tau = totals
        self._move_to(mean_of(joint))
        after = self._tau / self._pi, self._pi**-0.5
        return max(float(np.abs(new - old).max(initial=0.0)) for new, old in zip(after, before, strict=True))

    def tied_share(self) -> float:
        """Return the share of ties: a first guess at the draw probability."""
        return self._ties.share()

    def matching_draw_probability(self) -> float:
        """Return the draw probability under which the ratings expect as many ties as there were."""
        return self._ties.matching(self._tau / self._pi, self._beta)

    def ratings(self) -> dict[str, Rating]:
        """Return the ratings as they are now."""
        means = self._mu + self._tau / self._pi
        sigmas = self._pi**-0.5
        return {name: Rating(float(m), float(s)) for name, m, s in zip(self.names, means, sigmas, strict=True)}

    @property
    def means(self) -> Floats:
        """The means of the beliefs as they are now, relative to the prior's."""
        return np.asarray(self._tau / self._pi)

    @property
    def variances(self) -> Floats:
        """The variances of the beliefs as they are now."""
        return 1.0 / self._pi

    @property
    def information(self) -> Floats:
        """The precision that the results give each bot, above 0."""
        return np.maximum(self._pi - self._prior_pi, 1e-9 * self._prior_pi)

    @property
    def is_large(self) -> bool:
        """Whether the field is treated as sparse."""
        return self._rows is not None

    def joint(self) -> Joint:
        """Return the Gaussian of all strengths together, relative to the prior's mean."""
        joint = self._joint()
        self.add_to(joint)
        return joint

    def add_to(self, joint: Joint) -> None:
        """Multiply a Gaussian by the likelihood terms of all results."""
        pairs = self._pairwise
        if len(pairs.count):
            precision, shift = self.pair_terms()
            joint.add_pairs(pairs.first, pairs.second, precision * pairs.count, shift * pairs.count)
        for messages in self._multiway:
            terms = self._terms_of_more(messages)
            joint.add(terms.members, terms.precision, terms.shift, terms.occurrences)

    def _joint(self) -> Joint:
        """Return the prior, with the present means as a guess."""
        if self._rows is None:
            return JointGaussian(len(self.names), self._prior_pi)
        return SparseJoint(self._graph, self._rows, self._prior_pi, self._tau / self._pi)

    def _sweep_pairwise(self, joint: Joint, totals: tuple[Floats, Floats]) -> None:
        """Rate every result of two by the closed form of the package's factor graph, all from the same beliefs."""
        pairs, size = self._pairwise, len(self.names)
        if not len(pairs.count):
            return
        self.swept_pairs = np.zeros((2, 0))  # frees those of the last sweep
        precision, shift = terms = np.empty((2, len(pairs.count)))
        for block in _blocks(len(pairs.count)):
            (mean, other_mean), (variance, other_variance) = self._cavities_of_pairs(block)
            own, pull = self._terms_in(block, mean, other_mean, variance + other_variance)
            count = pairs.count[block]
            precision[block], shift[block] = own * count, pull * count
            for side, members, rival_mean, rival_variance, rival_pull in (
                (0, pairs.first[block], other_mean, other_variance, pull),
                (1, pairs.second[block], mean, variance, -pull),
            ):
                seen = 1.0 / (1.0 + own * rival_variance)  # through what is unknown about the rival
                pi, tau = own * seen, (own * rival_mean + rival_pull) * seen
                pairs.pi[side, block], pairs.tau[side, block] = pi, tau
                totals[0][:] += np.bincount(members, pi * count, size)
                totals[1][:] += np.bincount(members, tau * count, size)
        joint.add_pairs(pairs.first, pairs.second, precision, shift)
        self.swept_pairs = self.swept_pairs if self.is_large else terms

    def _cavities_of_pairs(self, block: slice) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return means and variances of the beliefs about both bots of some results without these results."""
        pairs = self._pairwise
        sides = enumerate((pairs.first[block], pairs.second[block]))
        own = [self._cavities(members, pairs.pi[side, block], pairs.tau[side, block]) for side, members in sides]
        (mean, variance), (other_mean, other_variance) = own
        return (mean, other_mean), (variance, other_variance)

    def _terms_in(self, block: slice, mean: Floats, other_mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return precision and shift of the likelihood terms of some results of two, in their difference of strengths.

        The means are those of the two bots without the result, ``variance`` is that of their difference.
        """
        gap, square = mean - other_mean, variance + 2 * self._beta**2
        c = np.sqrt(square)
        v, w = corrections(gap / c, self.draw_margin / c, self._pairwise.is_draw[block])
        unseen = 1.0 - variance / square * w
        precision = w / square / unseen
        return precision, gap * precision + v / c / unseen

    def _sweep_multiway(self, messages: MultiwayMessages, joint: Joint, totals: tuple[Floats, Floats]) -> None:
        """Rate every result of three or more, all from the same beliefs; see ``ep_messages.py``."""
        mean, variance = self._cavities(messages.members, messages.pi, messages.tau)
        terms = gaussian_terms(mean, variance, messages.is_draw, self.draw_margin, self._beta, messages.truncations)
        messages.truncations = terms.truncations
        joint.add(messages.members, terms.precision, terms.shift, messages.count)
        own = np.arange(mean.shape[1])
        precision = terms.precision.copy()
        precision[:, own, own] += 1.0 / variance
        covariance = np.linalg.inv(precision)
        posterior_pi = 1.0 / covariance[:, own, own]
        posterior_tau = posterior_pi * np.einsum("rij,rj->ri", covariance, mean / variance + terms.shift)
        messages.pi = posterior_pi - 1.0 / variance
        messages.tau = posterior_tau - mean / variance
        members, size = messages.members.ravel(), len(self.names)
        totals[0][:] += np.bincount(members, (messages.pi * messages.count[:, None]).ravel(), size)
        totals[1][:] += np.bincount(members, (messages.tau * messages.count[:, None]).ravel(), size)

    def polish(self) -> dict[str, Rating]:
        """Sweep once more through the results of three or more, each rated by the package, and return the ratings.

        The arrays above follow the same equations, so this moves nothing by more than the tolerance of both. Fields of
        very many distinct results do without it.
        """
        if sum(len(messages.count) for messages in self._multiway) <= MAX_POLISHED_RESULTS:
            for messages in self._multiway:
                for row in range(len(messages.count)):
                    self._rate_by_package(messages, row)
        return self.ratings()

    def _rate_by_package(self, messages: MultiwayMessages, row: int) -> None:
        members = messages.members[row]
        mean, variance = self._cavities(members, messages.pi[row], messages.tau[row])
        environment = self._environment
        teams = [
            (environment.create_rating(*own),) for own in zip(mean.tolist(), np.sqrt(variance).tolist(), strict=True)
        ]
        rated = environment.rate(teams, ranks=messages.ranks[row].tolist(), min_delta=1e-8)
        posterior_pi = np.array([rating.sigma**-2 for (rating,) in rated])
        posterior_tau = posterior_pi * np.array([rating.mu for (rating,) in rated])
        step_pi = posterior_pi - 1.0 / variance - messages.pi[row]
        step_tau = posterior_tau - mean / variance - messages.tau[row]
        messages.pi[row] += step_pi
        messages.tau[row] += step_tau
        self._pi[members] += messages.count[row] * step_pi
        self._tau[members] += messages.count[row] * step_tau

    def _cavities(self, members: NDArray[np.intp], pi: Floats, tau: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of the beliefs about ``members`` without one copy of a message."""
        variance = 1.0 / (self._pi.take(members) - pi)
        return (self._tau.take(members) - tau) * variance, variance

    def _move_to(self, means: Floats) -> None:
        """Shift everybody to given means.

        Given the messages, the means are the solution of a linear system; sweeps approach it slowly where few surprises
        hold groups of bots together.
        """
        weight = 1 - self._prior_pi / self._pi
        shifts = np.where(weight > 1e-9, (means - self._tau / self._pi) / np.maximum(weight, 1e-9), 0.0)
        self._tau += (self._pi - self._prior_pi) * shifts
        pairs = self._pairwise
        for block in _blocks(len(pairs.count)):
            for side, members in enumerate((pairs.first, pairs.second)):
                pairs.tau[side, block] += pairs.pi[side, block] * shifts.take(members[block])
        for messages in self._multiway:
            messages.tau += messages.pi * shifts[messages.members]

    def move_to(self, means: Floats, information: Floats) -> None:
        """Shift everybody to given means, with messages scaled so that the results give given precisions."""
        factor = information / self.information
        for pi, tau, members, _ in self._all_messages():
            pi *= factor[members]
            tau *= factor[members]
        self._pi = self._prior_pi + (self._pi - self._prior_pi) * factor
        self._tau *= factor
        self._move_to(means)

    def messages(self) -> list[Floats]:
        """Return copies of the messages of all results: precisions, and precisions times means, in turn."""
        return [array.copy() for pi, tau, _, _ in self._all_messages() for array in (pi, tau)]

    def take_messages(self, messages: Sequence[Floats]) -> None:
        """Take messages as ``messages`` returns them."""
        size = len(self.names)
        self._pi, self._tau = np.full(size, self._prior_pi), np.zeros(size)
        for k, (pi, tau, members, count) in enumerate(self._all_messages()):
            pi[:], tau[:] = messages[2 * k : 2 * k + 2]
            self._pi += np.bincount(members.ravel(), (pi * count).ravel(), size)
            self._tau += np.bincount(members.ravel(), (tau * count).ravel(), size)

    def _all_messages(self) -> Iterator[tuple[Floats, Floats, NDArray[np.intp], Floats]]:
        """Yield precisions, precisions times means, bots and occurrences of the messages of all results."""
        pairs = self._pairwise
        for side, members in enumerate((pairs.first, pairs.second)):
            yield pairs.pi[side], pairs.tau[side], members, pairs.count
        for messages in self._multiway:
            yield messages.pi, messages.tau, messages.members, messages.count[:, None]

    def pulls(self, mean: Floats, variance: Floats) -> Iterator[tuple[Numbers, Block, Floats]]:
        """Yield for each number of players how the distinct results pull at the strengths, given their means and
        variances.

        Yields:
            The numbers of the bots and the pull at each of them, shape (results, players), and the leverage of each
            result: which part of its own pull the fit has followed.
        """
        pairs = self._pairwise
        if len(pairs.count):
            precision, shift = self.pair_terms()
            pull = shift - precision * (mean[pairs.first] - mean[pairs.second])
            members = np.array([pairs.first, pairs.second], dtype=np.int32).T
            leverage = precision * (variance[pairs.first] + variance[pairs.second])
            yield members, np.array([pull, -pull], dtype=np.float32).T, leverage
        for messages in self._multiway:
            terms = self._terms_of_more(messages)
            pull = terms.shift - np.einsum("rij,rj->ri", terms.precision, mean[terms.members])
            leverage = np.einsum("rii,ri->r", terms.precision, variance[terms.members])
            players = terms.members.shape[1]
            yield terms.members.astype(np.int32), pull.astype(np.float32), leverage / (players - 1)

    def likelihood_terms(self) -> list[LikelihoodTerms]:
        """Return the terms of the distinct results, for each number of players, relative to the prior's mean."""
        pairs = [self._terms_of_pairs()] if len(self._pairwise.count) else []
        return [*pairs, *map(self._terms_of_more, self._multiway)]

    def _terms_of_pairs(self) -> LikelihoodTerms:
        pairs = self._pairwise
        precision, shift = self.pair_terms()
        signs = np.array([1.0, -1.0])
        return LikelihoodTerms(
            np.stack([pairs.first, pairs.second], axis=1),
            precision[:, None, None] * np.outer(signs, signs),
            shift[:, None] * signs,
            pairs.count,
        )

    def pair_terms(self) -> tuple[Floats, Floats]:
        """Return precision and shift of the terms of the results of two, in the difference of their strengths."""
        pairs = self._pairwise
        precision, shift = np.empty(len(pairs.count)), np.empty(len(pairs.count))
        for block in _blocks(len(pairs.count)):
            means, variances = self._cavities_of_pairs(block)
            precision[block], shift[block] = self._terms_in(block, *means, variances[0] + variances[1])
        return precision, shift

    def _terms_of_more(self, messages: MultiwayMessages) -> LikelihoodTerms:
        mean, variance = self._cavities(messages.members, messages.pi, messages.tau)
        terms = gaussian_terms(mean, variance, messages.is_draw, self.draw_margin, self._beta)
        return LikelihoodTerms(messages.members, terms.precision, terms.shift, messages.count)


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, size, BLOCK))
