"""Bradley-Terry strengths by maximum likelihood: an independent view that must agree with the TrueSkill fit.

A draw counts as half a win for both, and a match of more than two as all its pairs. A hundredth of a draw between every
two rivals keeps strengths finite where a bot has won every match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from arena.ratings.components import connected_components
from arena.ratings.results import Result

PRIOR_DRAWS = 0.01
MAX_STEPS = 200


def bradley_terry(counted: Iterable[tuple[Result, float]], prior_draws: float = PRIOR_DRAWS) -> dict[str, float]:
    """Return the log-strength of every bot in the results. The mean is 0 within each set of bots that matches connect.

    By Newton's method on the likelihood of "a beats b with probability 1 / (1 + exp(b - a))" (Bradley and Terry,
    Biometrika 39, 1952).

    Args:
        counted: distinct results, and how often each occurred.
        prior_draws: imaginary draws between every two bots that have met.
    """
    points: dict[tuple[str, str], float] = {}
    for (names, ranks), count in counted:
        for (a, rank_a), (b, rank_b) in combinations(zip(names, ranks, strict=True), 2):
            won = (rank_a < rank_b) + (rank_a == rank_b) / 2
            points[a, b] = points.get((a, b), 0.0) + count * won
            points[b, a] = points.get((b, a), 0.0) + count * (1.0 - won)
    names = sorted({name for pair in points for name in pair})
    if not names:
        return {}
    index = {name: k for k, name in enumerate(names)}
    size = len(names)
    won_by = np.zeros((size, size))
    for (a, b), value in points.items():
        won_by[index[a], index[b]] = value + prior_draws / 2
    met = won_by + won_by.T
    components = connected_components(size, *np.nonzero(met))
    is_connected = components[:, None] == components[None, :]
    strength = np.zeros(size)
    for _ in range(MAX_STEPS):
        chance = 1.0 / (1.0 + np.exp(np.clip(strength[None, :] - strength[:, None], -500, 500)))
        slope = (won_by - met * chance).sum(axis=1)
        weight = met * chance * (1.0 - chance)
        curvature = np.diag(weight.sum(axis=1)) - weight + is_connected / size  # a component's shift is fixed at 0
        step = np.clip(np.linalg.solve(curvature, slope), -2.0, 2.0)
        strength += step - step.mean()
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    return dict(zip(names, strength.tolist(), strict=True))


def kendall_tau(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return how far two scales agree on the order: 1 for the same, -1 for the opposite (Kendall's tau a)."""
    pairs = list(combinations(sorted(first), 2))
    if not pairs:
        return 1.0
    agree = sum(np.sign((first[a] - first[b]) * (second[a] - second[b])) for a, b in pairs)
    return float(agree / len(pairs))
