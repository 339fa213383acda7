"""Is the new version better? A sequential test on encounters.

The generalized sequential probability ratio test: after each encounter, the log-likelihood ratio (LLR) of two
hypotheses about the mean score of an encounter, each with the most likely distribution of scores that has this mean
(M. Van den Bergh, "A practical introduction to the GSPRT", as fishtest uses it). It makes no difference what scores an
encounter can have: five for two players, more for more. With bounds log(beta / (1 - alpha)) and log((1 - beta) /
alpha) the test errs at most about that often (Wald, "Sequential Analysis", 1947).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log, log10, sqrt

import numpy as np

from arena.base.enums import Decision
from arena.base.errors import UsageError
from arena.ratings.distributions import Floats, t_quantile
from arena.ratings.environment import cdf

UNSEEN_WEIGHT = 1e-3
"""The weight of a score that has not occurred: all lost, or all won."""

LEARNT_ENCOUNTERS = 6
"""The LLR leaves out this many encounters: it learns the distribution of scores from the encounters that it judges, and
with all of them short tests would err a fifth more often than they promise (``benchmarks/sequential.py``).
"""

MAX_ELO = 2000.0
"""Hypotheses beyond this can't be distinguished: the score would be within 0.00001 of 0 or 1."""

BISECTIONS = 52
MIN_ENCOUNTERS = 8
"""There is no verdict before this many: the distribution of scores is not known yet."""


def score_of_elo(elo: float) -> float:
    """Return the expected score of a bot that is ``elo`` Elo stronger."""
    return 1.0 / (1.0 + exp(-elo * log(10.0) / 400.0))


def elo_of_score(score: float) -> float:
    """Return how much stronger in Elo a bot of this score is; infinite for 0 and 1."""
    if score <= 0.0:
        return -inf
    if score >= 1.0:
        return inf
    return -400.0 * log10(1.0 / score - 1.0)


@dataclass(frozen=True)
class Hypotheses:
    """What is tested: H1 (at least ``elo1`` better) against H0 (at most ``elo0``).

    Attributes:
        alpha: the probability of accepting H1 although H0 is true.
        beta: the probability of accepting H0 although H1 is true.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name, value in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not -MAX_ELO <= value <= MAX_ELO:
                raise UsageError(f"{name} = {value:g}: expected a number from {-MAX_ELO:g} to {MAX_ELO:g}")
        if not self.elo0 < self.elo1:
            raise UsageError(f"elo1 = {self.elo1:g}: expected a number greater than elo0 = {self.elo0:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < value < 0.5:
                raise UsageError(f"{name} = {value:g}: expected a number between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR below which H0 is accepted, and above which H1 is."""
        return log(self.beta / (1.0 - self.alpha)), log((1.0 - self.beta) / self.alpha)


@dataclass(frozen=True)
class Evidence:
    """The evidence of encounters: the mean of their scores, from 0 to 1, and the LLR.

    ``middle`` of the 95 % interval of the score, and the standard error, are those of ``middle_and_error``.
    """

    encounters: int
    score: float
    middle: float
    error: float
    llr: float

    @property
    def los(self) -> float:
        """The likelihood of superiority: the probability that the mean score is above one half."""
        return cdf((self.middle - 0.5) / self.error) if self.error > 0 else 0.5

    @property
    def elo(self) -> tuple[float, float, float]:
        """The Elo difference with the ends of its 95 % interval."""
        reach = t_quantile(self.encounters + 1, 0.975) * self.error
        return elo_of_score(self.score), elo_of_score(self.middle - reach), elo_of_score(self.middle + reach)


def middle_and_error(scores: Mapping[float, int]) -> tuple[float, float]:
    """Return the mean of scores and its standard error, with a lost and a won encounter more.

    Bots that always draw, or always win, have no variance (Agresti and Coull, "Approximate is better than 'exact'",
    1998, add as much).
    """
    counted = Counter(scores) + Counter((0.0, 1.0))
    number = counted.total()
    middle = sum(value * count for value, count in counted.items()) / number
    squares = sum(count * (value - middle) ** 2 for value, count in counted.items())
    return middle, sqrt(squares / (number - 1) / number)


def evidence(scores: Mapping[float, int], hypotheses: Hypotheses) -> Evidence:
    """Return the evidence of encounters, given how many had which score, from 0 to 1."""
    number = sum(scores.values())
    if not number:
        return Evidence(0, 0.5, 0.5, 0.0, 0.0)
    values = sorted({0.0, 1.0, *scores})
    weights = np.array([max(UNSEEN_WEIGHT, scores.get(value, 0)) for value in values])
    points = np.array(values)
    share = weights / weights.sum()
    under = [_most_likely(points, share, score_of_elo(elo)) for elo in (hypotheses.elo0, hypotheses.elo1)]
    llr = float(max(0, number - LEARNT_ENCOUNTERS) * (share @ np.log(under[1] / under[0])))
    score = sum(value * count for value, count in scores.items()) / number
    return Evidence(number, score, *middle_and_error(scores), llr)


def _most_likely(points: Floats, share: Floats, mean: float) -> Floats:
    """Return the most likely distribution on ``points`` with this mean, given observed shares.

    It is share / (1 + t (points - mean)) for the t that makes it a distribution of that mean (Owen, "Empirical
    Likelihood", 2001, section 2.4).
    """
    deviations = points - mean
    low, high = float(-1.0 / deviations.max()), float(-1.0 / deviations.min())
    terms = list(zip((share * deviations).tolist(), deviations.tolist(), strict=True))
    for _ in range(BISECTIONS):
        t = (low + high) / 2
        low, high = (t, high) if sum(weighted / (1.0 + t * gap) for weighted, gap in terms) > 0 else (low, t)
    return np.asarray(share / (1.0 + t * deviations))


@dataclass(frozen=True)
class Verdict:
    """The state of a test: its evidence and scores at the decision, or of everything while it is open."""

    decision: Decision
    evidence: Evidence
    scores: dict[float, int]


class SequentialTest:
    """A test in progress. Scores are to be added in the order of the schedule.

    Short matches finish early; counting results in the order of arrival would favour the results of short matches.
    """

    def __init__(self, hypotheses: Hypotheses) -> None:
        self._hypotheses = hypotheses
        self._counted: Counter[float] = Counter()
        self.decision = Decision.OPEN

    def add(self, score: float) -> None:
        """Count the score of the next encounter; after the decision it is ignored."""
        if self.decision != Decision.OPEN:
            return
        self._counted[score] += 1
        if self._counted.total() < MIN_ENCOUNTERS:
            return
        low, high = self._hypotheses.bounds
        llr = evidence(self._counted, self._hypotheses).llr
        if llr >= high:
            self.decision = Decision.ACCEPTED
        elif llr <= low:
            self.decision = Decision.REJECTED

    @property
    def verdict(self) -> Verdict:
        """The verdict so far."""
        return Verdict(self.decision, evidence(self._counted, self._hypotheses), dict(self._counted))
