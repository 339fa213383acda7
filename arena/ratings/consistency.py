"""Whether a single rating for each bot fits the results: overdispersion, and cycles.

1. Overdispersion phi is Pearson's chi-square of the pair scores against the fit, divided by the degrees of freedom
   (McCullagh and Nelder, "Generalized Linear Models", 1989, section 4.5.2): near 1 when a single rating fits. The
   variance of an encounter is estimated from the encounters themselves, over all pairs together, so that mirrored
   openings don't disturb it.
2. A cycle is three bots each of which beats the next at 99 %, and in larger fields with as much more certainty as keeps
   a cycle among equal bots to one field in a hundred.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri

from arena.ratings.environment import BETA, ppf
from arena.ratings.field_fit import Encounter, FittedEncounters
from arena.ratings.truncation import Floats

SIGNIFICANCE = 0.01
SURE_OF_A_PAIR = 2.326
"""Standard errors from one half, one-sided 99 %."""

MIN_VARIANCE = 0.02
"""Of a pair's share: where the fit expects a bot to win always, a single upset must not look like a proof."""

MIN_DISPERSION = 0.05

MIN_ENCOUNTERS = 5
"""Pairs with fewer encounters are left out."""

MIN_FREEDOM = 1.0
"""With fewer degrees of freedom there is no test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore:
    """How a bot did against another.

    Attributes:
        score: the mean over encounters of the share of points, from 0 to 1.
        variance: of an encounter's share, from the encounters of this pair.
        encounters: their number.
    """

    score: float
    variance: float
    encounters: int

    @property
    def error(self) -> float:
        """The standard error of the score; the variance is drawn a little towards a coin's, so that it is never 0."""
        number = self.encounters
        return float(np.sqrt((self.variance * max(number - 1, 0) + 0.25) / number / number))


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """The result of the test.

    Attributes:
        phi: the overdispersion; None if there are less than ``MIN_FREEDOM`` degrees of freedom.
        p_value: the probability of a phi at least as large if a single rating for each bot fits.
        cycles: ``(a, b, c)``: a beats b, b beats c, c beats a; the clearest first.
        pairs: the number of pairs with at least ``MIN_ENCOUNTERS``.
        most_encounters: the number of encounters of the pair with the most.
        freedom: the degrees of freedom that the ratings leave to these pairs.
    """

    phi: float | None
    p_value: float
    cycles: tuple[tuple[str, str, str], ...]
    pairs: int = 0
    most_encounters: int = 0
    freedom: float = 0.0

    @property
    def is_flagged(self) -> bool:
        """Whether a single rating for each bot does not fit."""
        return bool(self.cycles) or (self.phi is not None and self.p_value < SIGNIFICANCE)


def pair_scores(encounters: Iterable[tuple[Encounter, int]]) -> dict[tuple[str, str], PairScore]:
    """Return how each bot did against each rival, by (bot, rival) with bot < rival."""
    sums: dict[tuple[str, str], list[float]] = {}
    for results, count in encounters:
        points: dict[tuple[str, str], list[float]] = {}
        for names, ranks in results:
            for (a, rank_a), (b, rank_b) in combinations(zip(names, ranks, strict=True), 2):
                pair, share = ((a, b), (rank_a < rank_b) + (rank_a == rank_b) / 2)
                if b < a:
                    pair, share = (b, a), 1.0 - share
                points.setdefault(pair, []).append(share)
        for pair, shares in points.items():
            mean = sum(shares) / len(shares)
            total = sums.setdefault(pair, [0.0, 0.0, 0.0])
            total[0] += count
            total[1] += count * mean
            total[2] += count * mean * mean
    return {pair: _pair_score(*total) for pair, total in sums.items()}


def _pair_score(number: float, total: float, squares: float) -> PairScore:
    mean = total / number
    variance = max(0.0, squares - number * mean * mean) / max(1.0, number - 1)
    return PairScore(score=mean, variance=variance, encounters=int(number))


def consistency(encounters: Iterable[tuple[Encounter, int]], fitted: FittedEncounters) -> Consistency:
    """Test whether results agree with a fit."""
    scores = pair_scores(encounters)
    index = {name: k for k, name in enumerate(fitted.names)}
    used = [(pair, score) for pair, score in scores.items() if score.encounters >= MIN_ENCOUNTERS]
    cycles = _cycles(scores)
    most_encounters = max((score.encounters for score in scores.values()), default=0)
    if not used:
        return Consistency(phi=None, p_value=1.0, cycles=cycles, most_encounters=most_encounters)
    a = np.array([index[pair[0]] for pair, _ in used])
    b = np.array([index[pair[1]] for pair, _ in used])
    observed = np.array([score.score for _, score in used])
    expected = _expected_scores(fitted, a, b)
    counts = np.array([score.encounters for _, score in used])
    within = np.array([score.variance for _, score in used])
    coin = np.maximum(expected * (1.0 - expected), MIN_VARIANCE)
    dispersion = float(((counts - 1) * within).sum() / ((counts - 1) * coin).sum())
    variance = max(dispersion, MIN_DISPERSION) * coin / counts
    freedom = float((1.0 - np.minimum(1.0, _variance_of_expected(fitted, a, b) / variance)).sum())
    square = float(((observed - expected) ** 2 / variance).sum())
    is_tested = freedom >= MIN_FREEDOM
    return Consistency(
        phi=square / freedom if is_tested else None,
        p_value=float(chdtrc(freedom, square)) if is_tested else 1.0,
        cycles=cycles,
        pairs=len(used),
        most_encounters=most_encounters,
        freedom=freedom,
    )


def _beyond(fitted: FittedEncounters, a: NDArray[np.intp], b: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return how far the gap between bots ``a`` and ``b`` lies above the draw margin, and above its opposite."""
    means = np.array([rating.mu for rating in fitted.ratings])
    gap = (means[a] - means[b]) / (np.sqrt(2) * BETA)
    margin = ppf((fitted.draw_probability + 1) / 2)
    return gap - margin, gap + margin


def _expected_scores(fitted: FittedEncounters, a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
    """Return the scores that the fit expects of bots ``a`` against bots ``b``."""
    win, no_loss = _beyond(fitted, a, b)
    return np.asarray((ndtr(win) + ndtr(no_loss)) / 2)


def _variance_of_expected(fitted: FittedEncounters, a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
    """Return the variance of the expected scores through the fit, which the residuals lack (their leverage)."""
    win, no_loss = _beyond(fitted, a, b)
    slope = (_density(win) + _density(no_loss)) / 2 / (np.sqrt(2) * BETA)
    return np.asarray(slope**2 * np.var(fitted.draws[:, a] - fitted.draws[:, b], axis=0))


def _density(x: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi))


def _cycles(scores: dict[tuple[str, str], PairScore]) -> tuple[tuple[str, str, str], ...]:
    """Return the significant cycles of three, the one with the clearest weakest link first."""
    clear: dict[tuple[str, str], float] = {}
    bots = len({name for pair in scores for name in pair})
    triples = max(1.0, bots * (bots - 1) * (bots - 2) / 6)
    sure = max(SURE_OF_A_PAIR, -float(ndtri((SIGNIFICANCE / 2 / triples) ** (1 / 3))))
    for (a, b), score in scores.items():
        if score.encounters >= MIN_ENCOUNTERS:
            z = (score.score - 0.5) / score.error
            if abs(z) >= sure:
                clear[(a, b) if z > 0 else (b, a)] = abs(z)
    beats: dict[str, set[str]] = {}
    for a, b in clear:
        beats.setdefault(a, set()).add(b)
    cycles = [
        (min(clear[a, b], clear[b, c], clear[c, a]), (a, b, c))
        for a, b in clear
        for c in beats.get(b, ())
        if a < b and a < c and a in beats.get(c, ())
    ]
    return tuple(cycle for _, cycle in sorted(cycles, key=lambda line: (-line[0], line[1])))
