"""Whether a single rating for each bot fits the results: overdispersion, and cycles.

1. Overdispersion phi is Pearson's chi-square of the pair scores against the fit, divided by the degrees of freedom
   (McCullagh and Nelder, "Generalized Linear Models", 1989, section 4.5.2): near 1 when a single rating fits. The
   variance of an encounter is estimated from the encounters themselves, over all pairs together, so that mirrored
   openings don't disturb it.
2. A cycle is three bots each of which beats the next at 99 %, and in larger fields with as much more certainty as keeps
   a cycle among equal bots to one field in a hundred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from arena.ratings.distributions import Floats, chi_square_survival, normal_cdf, normal_density
from arena.ratings.environment import BETA, ppf
from arena.ratings.field_fit import FittedEncounters
from arena.ratings.result_arrays import Encounter, EncounterArrays, Integers, combined, distinct, numbered

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
        variance: the variance of an encounter's share, from the encounters of this pair.
    """

    score: float
    variance: float
    encounters: int

    @property
    def error(self) -> float:
        """The standard error of the score; the variance is drawn a little towards a coin's, so that it is never 0."""
        return float(_error(self.variance, self.encounters))


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pairs:
    """The scores of pairs of bots as arrays; see ``PairScore``. The second number of a pair is the larger one."""

    first: Integers
    second: Integers
    score: Floats
    variance: Floats
    encounters: Integers

    def of_at_least(self, encounters: int) -> _Pairs:
        used = self.encounters >= encounters
        return _Pairs(**{name: getattr(self, name)[used] for name in self.__slots__})


def _error(variance: Floats | float, encounters: Integers | int) -> Floats:
    return np.asarray(np.sqrt((variance * (encounters - 1) + 0.25) / encounters / encounters))


def pair_scores(encounters: EncounterArrays) -> dict[tuple[str, str], PairScore]:
    """Return how each bot did against each rival, by (bot, rival) with bot < rival."""
    pairs = _pairs(encounters)
    columns = (pairs.first, pairs.second, pairs.score, pairs.variance, pairs.encounters)
    return {
        (encounters.names[a], encounters.names[b]): PairScore(score=score, variance=variance, encounters=number)
        for a, b, score, variance, number in zip(*(column.tolist() for column in columns), strict=True)
    }


def _pairs(encounters: EncounterArrays) -> _Pairs:
    bots = len(encounters.names)
    rivals = encounters.rivals()
    if rivals is None:
        pair, mean, occurrences = _met(encounters)
    else:
        (own,) = encounters.results
        share = np.where(own.ties[:, 0], 0.5, own.members[:, 0] < own.members[:, 1])[encounters.result]
        pair, occurrences = rivals, encounters.occurrences
        mean = np.bincount(encounters.kind, share) / np.bincount(encounters.kind)
    values, number = distinct(pair)
    total = np.bincount(number, occurrences, len(values))
    score = np.bincount(number, occurrences * mean, len(values)) / total
    squares = np.bincount(number, occurrences * mean * mean, len(values))
    variance = np.maximum(0.0, squares - total * score * score) / np.maximum(1.0, total - 1)
    rows, columns = np.divmod(values, max(bots, 1))
    return _Pairs(first=rows, second=columns, score=score, variance=variance, encounters=total.astype(np.int64))


def _met(encounters: EncounterArrays) -> tuple[Integers, Floats, Integers]:
    """Return the pairs in each kind of encounter, as ``rivals`` does, their mean shares of points, and how often."""
    bots = len(encounters.names)
    kinds: list[Integers] = [np.zeros(0, dtype=np.int64)]
    pairs: list[Integers] = [np.zeros(0, dtype=np.int64)]
    shares: list[Floats] = [np.zeros(0)]
    start = 0
    for own in encounters.results:
        has_these_results = (encounters.result >= start) & (encounters.result < start + len(own.counts))
        row = encounters.result[has_these_results] - start
        for a, b in combinations(range(own.players), 2):
            better, worse = own.members[:, a], own.members[:, b]
            share = np.where(own.ranks[:, a] == own.ranks[:, b], 0.5, better < worse)
            kinds.append(encounters.kind[has_these_results])
            pairs.append((np.minimum(better, worse) * bots + np.maximum(better, worse))[row])
            shares.append(share[row])
        start += len(own.counts)
    kind, pair, share = np.concatenate(kinds), np.concatenate(pairs), np.concatenate(shares)
    del kinds, pairs, shares  # eight bytes a match each
    first, met = numbered(combined([kind, pair]))
    mean = np.bincount(met, share, len(first)) / np.bincount(met, minlength=len(first))
    return pair[first], mean, encounters.occurrences[kind[first]]


def consistency(encounters: EncounterArrays | Iterable[tuple[Encounter, int]], fitted: FittedEncounters) -> Consistency:
    """Test whether results agree with a fit."""
    arrays = encounters if isinstance(encounters, EncounterArrays) else EncounterArrays.of(encounters)
    pairs = _pairs(arrays)
    most_encounters = int(pairs.encounters.max(initial=0))
    used = pairs.of_at_least(MIN_ENCOUNTERS)
    if not len(used.first):
        return Consistency(phi=None, p_value=1.0, cycles=(), most_encounters=most_encounters)
    expected = expected_scores(fitted, used.first, used.second)
    coin = np.maximum(expected * (1.0 - expected), MIN_VARIANCE)
    freedom_within = used.encounters - 1
    dispersion = float((freedom_within * used.variance).sum() / (freedom_within * coin).sum())
    variance = max(dispersion, MIN_DISPERSION) * coin / used.encounters
    leverage = _variance_of_expected(fitted, used.first, used.second) / variance
    freedom = float((1.0 - np.minimum(1.0, leverage)).sum())
    square = float(((used.score - expected) ** 2 / variance).sum())
    is_tested = freedom >= MIN_FREEDOM
    return Consistency(
        phi=square / freedom if is_tested else None,
        p_value=chi_square_survival(freedom, square) if is_tested else 1.0,
        cycles=_cycles(used, arrays.names),
        pairs=len(used.first),
        most_encounters=most_encounters,
        freedom=freedom,
    )


def _beyond(fitted: FittedEncounters, a: NDArray[np.intp], b: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return how far the gap between bots ``a`` and ``b`` lies above the draw margin, and above its opposite."""
    means = np.array([rating.mu for rating in fitted.ratings])
    gap = (means[a] - means[b]) / (np.sqrt(2) * BETA)
    margin = ppf((fitted.draw_probability + 1) / 2)
    return gap - margin, gap + margin


def expected_scores(fitted: FittedEncounters, a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
    """Return the scores that the fit expects of bots ``a`` against bots ``b``."""
    win, no_loss = _beyond(fitted, a, b)
    return np.asarray((normal_cdf(win) + normal_cdf(no_loss)) / 2)


def _variance_of_expected(fitted: FittedEncounters, a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
    """Return the variance of the expected scores through the fit, which the residuals lack (their leverage)."""
    win, no_loss = _beyond(fitted, a, b)
    slope = (normal_density(win) + normal_density(no_loss)) / 2 / (np.sqrt(2) * BETA)
    return np.asarray(slope**2 * np.var(fitted.draws[:, a] - fitted.draws[:, b], axis=0))


def _cycles(pairs: _Pairs, names: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    bots = len(names)
    triples = max(1.0, bots * (bots - 1) * (bots - 2) / 6)
    sure = max(SURE_OF_A_PAIR, -ppf((SIGNIFICANCE / 2 / triples) ** (1 / 3)))
    z = (pairs.score - 0.5) / _error(pairs.variance, pairs.encounters)
    is_clear = np.abs(z) >= sure
    better = np.where(z > 0, pairs.first, pairs.second)[is_clear].tolist()
    worse = np.where(z > 0, pairs.second, pairs.first)[is_clear].tolist()
    clear = dict(zip(zip(better, worse, strict=True), np.abs(z)[is_clear].tolist(), strict=True))
    beats: dict[int, set[int]] = {}
    for a, b in clear:
        beats.setdefault(a, set()).add(b)
    cycles = [
        (min(clear[a, b], clear[b, c], clear[c, a]), (a, b, c))
        for a, b in clear
        for c in beats.get(b, ())
        if a < b and a < c and a in beats.get(c, ())
    ]
    return tuple(
        (names[a], names[b], names[c]) for _, (a, b, c) in sorted(cycles, key=lambda line: (-line[0], line[1]))
    )
