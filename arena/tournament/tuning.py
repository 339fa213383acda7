"""Tuning the parameters of a bot: rounds of trials against the start, drawn where the results so far are best.

Each round is a tournament in the format ``trials``, and depends on the results of earlier rounds alone. So a run that
was killed finds the tournaments that it has played, and continues. In the end the result meets the start in a
tournament of fresh encounters; only these say whether it is better.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

from arena.base.seeds import derived_seed
from arena.ratings.distributions import t_quantile
from arena.ratings.local_optimum import LocalOptimum, Point, Sample
from arena.tournament.tuning_parameter import TuningParameter

MAX_POINTS = 50
"""Variants of a round: as many bots are in a tournament at a time."""

MIN_TEST_ENCOUNTERS = 8
"""Fewer have no interval worth the name."""

Values = tuple[str, ...]
"""A value of each parameter, as in the arguments of the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningRound:
    """What is to be played next, and what is known before it.

    Attributes:
        number: from 1; the round after the last is the final test.
        variants: how often each was drawn.
        encounters_each: how many encounters a variant has against the start each time.
        trials_before: encounters of the rounds before.
        estimate: the values that are estimated to be best; None before the first trial.
    """

    number: int
    variants: Mapping[Values, int]
    encounters_each: int
    trials_before: int
    estimate: Values | None


Play = Callable[[TuningRound], Sequence[Sequence[float]]]
"""Plays a round; returns for each variant its share of the points of each encounter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """What is played.

    Attributes:
        parameters: that are tuned.
        encounters: of all rounds together, about.
        rounds: how often new variants are drawn.
        test_encounters: of the final test.
        rng_seed: from which variants are drawn.
    """

    parameters: tuple[TuningParameter, ...]
    encounters: int = 200
    rounds: int = 4
    test_encounters: int = 100
    rng_seed: int = 0

    @property
    def points(self) -> int:
        """How many variants are drawn in a round."""
        return -(-self.encounters // (self.rounds * self.encounters_each))

    @property
    def encounters_each(self) -> int:
        """How many encounters a variant has each time it is drawn: as few as there are variants for."""
        return -(-self.encounters // (self.rounds * MAX_POINTS))

    @property
    def start(self) -> Values:
        """The values before tuning."""
        return tuple(one.text_of(one.start) for one in self.parameters)

    def values_at(self, point: Point) -> Values:
        """Return the values at a point."""
        return tuple(one.value_at(share) for one, share in zip(self.parameters, point, strict=True))

    def point_of(self, values: Values) -> Point:
        """Return where values are, each from 0 to 1."""
        return tuple(one.share_of(value) for one, value in zip(self.parameters, values, strict=True))


class TuningVerdict(StrEnum):
    """What the final test says of the result."""

    BETTER = "better"
    WORSE = "worse"
    OPEN = "not distinguishable"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalTest:
    """The result against the start.

    Attributes:
        encounters: how many there were.
        score: the result's share of the points.
        low: the lower end of its 95 % interval.
        high: the upper end.
    """

    encounters: int
    score: float
    low: float
    high: float

    @property
    def verdict(self) -> TuningVerdict:
        """Better or worse only if the interval does not include one half."""
        if self.low > 0.5:
            return TuningVerdict.BETTER
        return TuningVerdict.WORSE if self.high < 0.5 else TuningVerdict.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An encounter of a variant with the start.

    Attributes:
        round: from 1.
        values: of the variant.
        score: its share of the points.
    """

    round: int
    values: Values
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningResult:
    """What tuning has found.

    Attributes:
        plan: what was played.
        trials: all encounters but those of the final test.
        values: that are estimated to be best.
        effective: on how many trials the estimate rests; the others are confidently worse.
        test: the final test; None if the values are those of the start.
    """

    plan: TuningPlan
    trials: tuple[Trial, ...]
    values: Values
    effective: float
    test: FinalTest | None

    @property
    def verdict(self) -> TuningVerdict:
        """What the final test says; values that are those of the start can't be better."""
        return TuningVerdict.OPEN if self.test is None else self.test.verdict


def tune(plan: TuningPlan, play: Play) -> TuningResult:
    """Play rounds of trials, and the final test.

    Args:
        plan: what is played.
        play: plays a round; or finds what was played of it before.
    """
    trials = list[Trial]()
    for number in range(1, plan.rounds + 1):
        points = _points(plan, trials, random.Random(derived_seed("tuning", plan.rng_seed, number)))
        variants = Counter(map(plan.values_at, points))
        del variants[plan.start]
        upcoming = TuningRound(
            number=number,
            variants=variants,
            encounters_each=plan.encounters_each,
            trials_before=len(trials),
            estimate=plan.values_at(_optimum(plan, trials).centre) if trials else None,
        )
        scores = play(upcoming) if variants else []
        for values, of_variant in zip(variants, scores, strict=True):
            trials += [Trial(round=number, values=values, score=score) for score in of_variant]
    if not trials:
        return TuningResult(plan=plan, trials=(), values=plan.start, effective=0.0, test=None)
    optimum = _optimum(plan, trials)
    best = plan.values_at(optimum.centre)
    test = None
    if best != plan.start:
        upcoming = TuningRound(
            number=plan.rounds + 1,
            variants={best: 1},
            encounters_each=plan.test_encounters,
            trials_before=len(trials),
            estimate=best,
        )
        (scores_of_best,) = play(upcoming)
        test = final_test(scores_of_best)
    return TuningResult(plan=plan, trials=tuple(trials), values=best, effective=optimum.effective, test=test)


def _optimum(plan: TuningPlan, trials: Sequence[Trial]) -> LocalOptimum:
    return LocalOptimum([Sample(plan.point_of(trial.values), trial.score) for trial in trials])


def _points(plan: TuningPlan, trials: Sequence[Trial], rng: random.Random) -> list[Point]:
    """Return points for a round: at first spread evenly over each range, then where the results so far are best."""
    if trials:
        return _optimum(plan, trials).draw(plan.points, rng.random)
    columns = []
    for _ in plan.parameters:
        shares = [(number + rng.random()) / plan.points for number in range(plan.points)]
        rng.shuffle(shares)
        columns.append(shares)
    return list(zip(*columns, strict=True))


def final_test(scores: Sequence[float]) -> FinalTest | None:
    """Return the mean of scores with its 95 % interval; None of too few.

    A lost and a won encounter are added for the interval, as bots that always draw, or always win, have no variance.
    """
    count = len(scores)
    if count < MIN_TEST_ENCOUNTERS:
        return None
    added = [*scores, 0.0, 1.0]
    middle = sum(added) / len(added)
    variance = sum((score - middle) ** 2 for score in added) / (len(added) - 1)
    reach = t_quantile(len(added) - 1, 0.975) * sqrt(variance / len(added))
    return FinalTest(
        encounters=count,
        score=sum(scores) / count,
        low=max(0.0, middle - reach),
        high=min(1.0, middle + reach),
    )
