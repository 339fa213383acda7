"""The errors of ratings in large fields, where no matrix of all bots fits into memory.

They are those of ``field_fit.py``, from fewer draws, each of which takes a solution of the sparse system. The variance
of the part of a draw that comes from a bot's own results is known exactly, and corrects the variances (a control
variate). Their standard error is sqrt(2 / draws) = 12.5 % at most: 19 in 20 margins are within 13 % of the exact ones,
and within 3 % where bots have met hundreds of rivals.
"""

from __future__ import annotations

import numpy as np

from arena.ratings.distributions import Floats
from arena.ratings.ep_messages import SparseJoint
from arena.ratings.pair_graph import SparseGaussian, signed_sums, sorted_by
from arena.ratings.result_arrays import EncounterArrays
from arena.ratings.set_fit import SetFit

TOLERANCES = (0.1, 0.01, 0.001)
"""Of the sweeps, in points of mu and sigma, while draw probability and prior's width are matched, and at last."""

LARGE_FIELD_DRAWS = 128
DRAW_TOLERANCE = 0.01
TRACE_TOLERANCE = 0.03
TRACE_SIGNS = 2000
MAX_LEVERAGE = 0.9


class SparsePosterior:
    """The posterior distribution of all strengths of a large field, relative to the prior's mean."""

    def __init__(self, fit: SetFit) -> None:
        joint = fit.joint()
        assert isinstance(joint, SparseJoint)  # the field is large
        self._fit, self._gaussian = fit, joint.gaussian()
        self.mean = joint.mean()

    def trace(self) -> float:
        """Return the sum of the variances, estimated with random signs (Hutchinson's estimator)."""
        size = len(self.mean)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(size, 1 + TRACE_SIGNS // size))
        return float((signs * self._gaussian.solve(signs, TRACE_TOLERANCE)).sum() / signs.shape[1])

    def draws(self, encounters: EncounterArrays, model_encounters: float, prior_pi: float) -> Floats:
        """Return draws of the deviations of all means from the fit, relative to the field.

        ``model_encounters``: for how many encounters of each bot the model's own variance counts.
        """
        generator = np.random.default_rng(0)
        gaussian, size = self._gaussian, len(self.mean)
        moved, moved_variance = _moved_by_encounters(self._fit, encounters, gaussian, self.mean, generator)
        seats = _seats(encounters) / size
        weight = seats / (seats + model_encounters)
        moved += np.sqrt(prior_pi) * generator.standard_normal(moved.shape)
        moved *= np.sqrt(weight)
        moved += np.sqrt(1.0 - weight) * gaussian.noise(LARGE_FIELD_DRAWS, generator)
        alone_variance = (weight * (moved_variance + prior_pi) + (1.0 - weight) * gaussian.diagonal) / (
            gaussian.diagonal**2
        )
        draws = gaussian.solve(moved, DRAW_TOLERANCE)
        draws -= draws.mean(axis=0)
        alone = moved / gaussian.diagonal[:, None]
        return np.ascontiguousarray((draws * _correction(draws, alone, alone_variance)[:, None]).T)


def _correction(draws: Floats, alone: Floats, alone_variance: Floats) -> Floats:
    """Return by which factor the draws, shape (bots, draws), are too narrow, by their known part ``alone``."""
    variance = (draws * draws).mean(axis=1)
    sampled = (alone * alone).mean(axis=1)
    slope = ((draws * alone).mean(axis=1) / sampled) ** 2
    corrected = np.maximum(variance + slope * (alone_variance - sampled), 0.25 * variance)
    return np.asarray(np.sqrt(corrected / variance))


def _seats(encounters: EncounterArrays) -> float:
    first = np.flatnonzero(np.diff(encounters.kind, prepend=-1))
    players = np.concatenate([np.full(len(own.counts), own.players) for own in encounters.results])
    return float(encounters.occurrences @ players[encounters.result[first]])


def _moved_by_encounters(
    fit: SetFit, encounters: EncounterArrays, gaussian: SparseGaussian, mean: Floats, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return draws of how encounters drawn again pull at every strength, and the variance of that for each bot.

    Each pull is divided by one minus its leverage, as in ``field_fit.py``, here from the bots' own precisions alone.
    """
    size, kinds = len(mean), len(encounters.occurrences)
    bots, sources, values = [], [], []
    leverage = np.zeros(kinds)
    start = 0
    for members, pull, leverages in fit.pulls(mean, np.asarray(1.0 / gaussian.diagonal, dtype=np.float64)):
        has_these_results = (encounters.result >= start) & (encounters.result < start + len(leverages))
        row = encounters.result[has_these_results] - start
        kind = encounters.kind[has_these_results].astype(np.int32)
        leverage += np.bincount(kind, leverages[row], kinds)
        bots.append(members.take(row, axis=0).ravel())
        sources.append(np.repeat(kind, members.shape[1]))
        values.append(pull.take(row, axis=0).ravel())
        start += len(leverages)
    bot, source, value = np.concatenate(bots), np.concatenate(sources), np.concatenate(values)
    del bots, sources, values
    value *= (np.sqrt(encounters.occurrences) / (1.0 - np.minimum(leverage, MAX_LEVERAGE))).astype(np.float32)[source]
    order = sorted_by(bot, size)
    bot = bot[order]
    source = source[order]
    value = value[order]
    del order
    is_first = np.ones(len(bot), dtype=np.bool_)
    is_first[1:] = (bot[1:] != bot[:-1]) | (source[1:] != source[:-1])
    first = np.flatnonzero(is_first)
    value = np.add.reduceat(value, first)  # the results of one encounter pull together
    bot, source = bot[first], source[first]
    starts = np.concatenate([[0], np.cumsum(np.bincount(bot, minlength=size))])
    moved = signed_sums(starts, source, value, kinds, LARGE_FIELD_DRAWS, generator)
    return moved, np.bincount(bot, value.astype(np.float64) ** 2, size).astype(np.float64, copy=False)
