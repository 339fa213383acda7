"""Other views of a field, which must agree with its ratings: Bradley-Terry strengths and Nash averaging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats
from arena.ratings.result_arrays import EncounterArrays


def connected_components(size: int, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return for each of ``size`` nodes the smallest node that edges, given by their two ends, connect it with.

    Labels are passed along edges and followed to their own labels until nothing changes (Shiloach and Vishkin, "An
    O(log n) parallel connectivity algorithm", 1982).
    """
    label = np.arange(size)
    while len(first):
        low = np.minimum(label[first], label[second])
        for end in (first, second):
            np.minimum.at(label, label[end], low)
        while not np.array_equal(label[label], label):
            label = label[label]
        is_open = label[first] != label[second]
        first, second = first[is_open], second[is_open]
    return label


# Bradley-Terry strengths by maximum likelihood: an independent view that must agree with the TrueSkill fit.
#
# A draw counts as half a win for both, and a match of more than two as all its pairs. A hundredth of a draw between
# every two rivals keeps strengths finite where a bot has won every match.

PRIOR_DRAWS = 0.01
MOST_ITERATIONS = 200


def bradley_terry(encounters: EncounterArrays, prior_draws: float = PRIOR_DRAWS) -> dict[str, float]:
    """Return the log-strength of every bot. The mean is 0 within each set of bots that matches connect.

    By Newton's method on the likelihood of "a beats b with probability 1 / (1 + exp(b - a))" (Bradley and Terry,
    Biometrika 39, 1952), with ``prior_draws`` imaginary draws between every two bots that have met.
    """
    size = len(encounters.names)
    if not size:
        return {}
    won_by = np.zeros((size, size))
    for own in encounters.results:
        for better, worse in combinations(range(own.players), 2):
            drawn = np.where(own.ranks[:, better] == own.ranks[:, worse], own.counts / 2, 0.0)
            pair = own.members[:, better], own.members[:, worse]
            np.add.at(won_by, pair, own.counts - drawn)
            np.add.at(won_by, pair[::-1], drawn)
    met = won_by + won_by.T
    won_by[met > 0] += prior_draws / 2
    met = won_by + won_by.T
    components = connected_components(size, *np.nonzero(met))
    is_connected = components[:, None] == components[None, :]
    strength = np.zeros(size)
    for _ in range(MOST_ITERATIONS):
        chance = 1.0 / (1.0 + np.exp(np.clip(strength[None, :] - strength[:, None], -500, 500)))
        slope = (won_by - met * chance).sum(axis=1)
        weight = met * chance * (1.0 - chance)
        curvature = np.diag(weight.sum(axis=1)) - weight + is_connected / size  # a component's shift is fixed at 0
        step = np.clip(np.linalg.solve(curvature, slope), -2.0, 2.0)
        strength += step - step.mean()
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    return dict(zip(encounters.names, strength.tolist(), strict=True))


def kendall_tau(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return how far two scales agree on the order: 1 for the same, -1 for the opposite (Kendall's tau a)."""
    pairs = list(combinations(sorted(first), 2))
    if not pairs:
        return 1.0
    agree = sum(np.sign((first[a] - first[b]) * (second[a] - second[b])) for a, b in pairs)
    return float(agree / len(pairs))


# Nash averaging: a view of fields in which a single rating for each bot does not fit.
#
# Bots are the moves of a game whose payoff is the score of one against the other. Its equilibrium says with what
# weights a sensible player would choose among them; the Nash average of a bot is its payoff against that mixture. A
# bot that only beats the weak gains nothing from there being many of them (Balduzzi and others, "Re-evaluating
# Evaluation", 2018).

MAX_BOTS_FOR_ENTROPY = 60

SLACK = 1e-8
"""No bot wins more than this against the equilibrium, as a share of a match."""

MOST_NEWTON_STEPS = 50
SHRINKING = 0.03
"""The factor by which the barrier falls from one round of Newton steps to the next."""


class NashAverage(NamedTuple):
    """Nash averaging's view of a bot: its weight in the equilibrium, and its payoff against it, from -1/2 to 1/2."""

    weight: float
    payoff: float


def nash_average(scores: Mapping[tuple[str, str], float], bots: Sequence[str]) -> dict[str, NashAverage]:
    """Return the Nash average of each bot.

    Of several equilibria it is the one of greatest entropy, which treats copies of a bot alike; in fields of more than
    60 bots any one.

    Args:
        scores: of (bot, rival), from 0 to 1, for one order of each pair; pairs that have not met count as even.
    """
    size = len(bots)
    index = {bot: k for k, bot in enumerate(bots)}
    payoff = np.zeros((size, size))
    for (a, b), score in scores.items():
        payoff[index[a], index[b]] = score - 0.5
        payoff[index[b], index[a]] = 0.5 - score
    weights = _equilibrium(payoff)
    values = payoff @ weights
    return {bot: NashAverage(float(weights[k]), float(values[k])) for bot, k in index.items()}


def _equilibrium(payoff: Floats) -> Floats:
    """Return weights against which no bot wins: payoff @ weights <= ``SLACK``."""
    size = len(payoff)
    if size == 0:
        return np.zeros(0)
    if size <= MAX_BOTS_FOR_ENTROPY:
        return _most_even_equilibrium(payoff)
    weights = np.zeros(size)
    chosen = [int(payoff.mean(axis=1).argmax())]
    while True:  # a bot that wins against the equilibrium of those chosen is one of them from then on
        weights[chosen] = _most_even_equilibrium(payoff[np.ix_(chosen, chosen)])
        values = payoff @ weights
        values[chosen] = 0.0
        if values.max() <= SLACK:
            return weights
        chosen.append(int(values.argmax()))


def _most_even_equilibrium(payoff: Floats) -> Floats:
    """Return the equilibrium of greatest entropy.

    Its weights are proportional to exp(payoff @ prices) for the prices >= 0, one for each bot that may not win, that
    make log(sum(exp(payoff @ prices))) + SLACK sum(prices) least. They are found by Newton's method with a logarithmic
    barrier (Boyd and Vandenberghe, "Convex Optimization", 2004, sections 5.7.1 and 11.3).
    """
    size = len(payoff)
    prices, barrier = np.ones(size), 1.0
    while barrier * size > SLACK / 100:
        barrier *= SHRINKING
        for _ in range(MOST_NEWTON_STEPS):
            weights, _ = _weights(payoff, prices)
            slope = SLACK - payoff @ weights - barrier / prices
            centred = payoff - weights @ payoff
            curvature = prices[:, None] * (centred.T @ (weights[:, None] * centred)) * prices
            curvature[np.diag_indices(size)] += barrier + 1e-13 * curvature.trace() / size
            step = -prices * np.linalg.solve(curvature, prices * slope)
            promised = -float(slope @ step)
            if promised < 1e-3 * barrier or not _descend(payoff, prices, barrier, step, promised):
                break
    return _weights(payoff, prices)[0]


def _weights(payoff: Floats, prices: Floats) -> tuple[Floats, float]:
    """Return the weights that belong to prices, and the logarithm of what normalises them."""
    powers = payoff @ prices
    weights = np.exp(powers - powers.max())
    total = weights.sum()
    return weights / total, float(powers.max() + np.log(total))


def _descend(payoff: Floats, prices: Floats, barrier: float, step: Floats, promised: float) -> bool:
    """Go along ``step`` while the objective falls; return whether it did."""

    def objective(at: Floats) -> float:
        return _weights(payoff, at)[1] + SLACK * float(at.sum()) - barrier * float(np.log(at).sum())

    length = min(1.0, 0.99 / float(np.max(-step / prices, initial=0.99)))
    before = objective(prices)
    while length > 1e-10:
        if objective(prices + length * step) <= before - 0.1 * length * promised:
            prices += length * step
            return True
        length /= 2
    return False
