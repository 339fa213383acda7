"""Nash averaging: a view of fields in which a single rating for each bot does not fit.

Bots are the moves of a game whose payoff is the score of one against the other. Its equilibrium says with what weights
a sensible player would choose among them; the Nash average of a bot is its payoff against that mixture. A bot that
only beats the weak gains nothing from there being many of them (Balduzzi and others, "Re-evaluating Evaluation",
2018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog, minimize

from arena.ratings.truncation import Floats

MAX_BOTS_FOR_ENTROPY = 60


class NashAverage(NamedTuple):
    """Nash averaging's view of a bot.

    Attributes:
        weight: in the equilibrium, from 0 to 1.
        payoff: against the equilibrium, from -1/2 to 1/2.
    """

    weight: float
    payoff: float


def nash_average(scores: Mapping[tuple[str, str], float], bots: Sequence[str]) -> dict[str, NashAverage]:
    """Return the Nash average of each bot.

    Of several equilibria it is the one of greatest entropy, which treats copies of a bot alike; in fields of more than
    60 bots any one.

    Args:
        scores: of (bot, rival), from 0 to 1, for one order of each pair; pairs that have not met count as even.
        bots: all bots.
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
    """Return weights against which no bot wins: payoff @ weights <= 0."""
    size = len(payoff)
    if size == 0:
        return np.zeros(0)
    solution = linprog(np.zeros(size), payoff, np.zeros(size), np.ones((1, size)), [1.0], bounds=(0.0, 1.0))
    weights = np.asarray(solution.x)
    if size > MAX_BOTS_FOR_ENTROPY:
        return weights
    spread = minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-12))).sum()),
        0.9 * weights + 0.1 / size,
        jac=lambda p: np.log(np.maximum(p, 1e-12)) + 1.0,
        bounds=[(0.0, 1.0)] * size,
        constraints=[
            {"type": "ineq", "fun": lambda p: -(payoff @ p), "jac": lambda p: -payoff},
            {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": lambda p: np.ones(size)},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    better = np.maximum(np.asarray(spread.x), 0.0)
    better /= better.sum()
    return better if (payoff @ better).max() < 1e-6 else weights
