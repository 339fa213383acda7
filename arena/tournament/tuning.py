"""Tuning the parameters of a bot: their ranges, and rounds of trials against the start."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, isfinite, log

from arena.base.errors import UsageError
from arena.base.seeds import derived_seed
from arena.ratings.distributions import t_quantile
from arena.ratings.local_optimum import LocalOptimum, Point, Sample
from arena.ratings.sequential import middle_and_error

# A parameter of a bot that is tuned: its range, where it starts, and the argument that carries it.

MAX_PARAMETERS = 8
"""The most parameters: a quadratic model of more has too many coefficients for any realistic number of encounters."""

LOGARITHMIC_FROM = 10.0
"""If the ends of a range differ by at least this factor, its steps are logarithmic."""

DIGITS = 4
_NUMBER = r"[-+]?\d{1,12}(?:\.\d{1,12})?"
_PARAMETER = re.compile(rf"([A-Za-z][A-Za-z0-9_]{{0,30}})=({_NUMBER})\.\.({_NUMBER})(?:@({_NUMBER}))?")


@dataclass(frozen=True, slots=True)
class TuningParameter:
    """A parameter that is tuned: its range, its value before, and whether its values are whole numbers."""

    name: str
    low: float
    high: float
    start: float
    is_whole: bool

    @property
    def is_logarithmic(self) -> bool:
        """Whether equal steps are equal factors: where the range is of positive numbers and wide."""
        return self.low > 0 and self.high >= LOGARITHMIC_FROM * self.low

    def value_at(self, share: float) -> str:
        """Return the value at a share of the range, from 0 to 1, as text."""
        if self.is_logarithmic:
            value = exp(log(self.low) + share * (log(self.high) - log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        value = min(self.high, max(self.low, value))
        return self.text_of(value)

    def text_of(self, value: float) -> str:
        """Return a value as text: a whole number, or one with four digits."""
        return str(round(value)) if self.is_whole else _plain(float(f"{value:.{DIGITS}g}"))

    def share_of(self, value: str) -> float:
        """Return where a value is in the range, from 0 to 1."""
        number = float(value)
        if self.is_logarithmic:
            return log(number / self.low) / log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)


def _plain(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")


def parse_parameter(text: str) -> TuningParameter:
    """Return a parameter from ``NAME=LOW..HIGH`` or ``NAME=LOW..HIGH@START``; START is the middle by default.

    If no number has a decimal point, the parameter takes whole numbers.
    """
    expected = "expected NAME=LOW..HIGH or NAME=LOW..HIGH@START, such as rollouts=10..1000@100 or c=0.1..2.0"
    parsed = _PARAMETER.fullmatch(text.strip())
    if parsed is None:
        raise UsageError(f"--param {text!r}: {expected}")
    name, *numbers = parsed.groups()
    is_whole = not any("." in number for number in numbers if number)
    low, high = float(numbers[0]), float(numbers[1])
    if not (isfinite(low) and low < high):
        raise UsageError(f"--param {text!r}: expected LOW below HIGH")
    middle = TuningParameter(name, low, high, low, is_whole)
    start = float(numbers[2]) if numbers[2] else float(middle.value_at(0.5))
    if not low <= start <= high:
        raise UsageError(f"--param {text!r}: START = {numbers[2]}: expected a number from LOW to HIGH")
    return TuningParameter(name, low, high, start, is_whole)


def check_parameters(parameters: Sequence[TuningParameter], args: Sequence[str]) -> None:
    """Raise UsageError unless there are parameters, their names differ, and the arguments have each of them."""
    if not 1 <= len(parameters) <= MAX_PARAMETERS:
        raise UsageError(f"--param: expected 1 to {MAX_PARAMETERS} parameters, got {len(parameters)}")
    names = [parameter.name for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--param {name}: expected one range for each parameter")
        if not any(f"{{{name}}}" in arg for arg in args):
            raise UsageError(f"--args: {{{name}}} is missing: each parameter has to be in the arguments of the bot")


def default_args(parameters: Sequence[TuningParameter]) -> list[str]:
    """Return the arguments by which bots usually take parameters: ``--name {name}`` for each."""
    return [
        part for parameter in parameters for part in (f"--{parameter.name.replace('_', '-')}", f"{{{parameter.name}}}")
    ]


def filled_args(args: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return arguments with values in place of ``{name}``; other braces are left as they are."""
    return [re.sub(r"\{(\w+)\}", lambda braces: values.get(braces[1], braces[0]), arg) for arg in args]


# Each round is a tournament in the format ``trials``, and depends on the results of earlier rounds alone. So a run that
# was killed finds the tournaments that it has played, and continues. In the end the result meets the start in a
# tournament of fresh encounters; only these say whether it is better.

MAX_POINTS = 50
"""The most variants of a round: all of them are bots of one tournament."""

MIN_TEST_ENCOUNTERS = 8
"""The fewest encounters of the final test: fewer give no useful interval."""

Values = tuple[str, ...]
"""A value of each parameter, as in the arguments of the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningRound:
    """What is to be played next, and what is known before it; the round after the last is the final test."""

    number: int
    variants: Mapping[Values, int]
    encounters_each: int
    trials_before: int
    estimate: Values | None


Play = Callable[[TuningRound], Sequence[Sequence[float]]]
"""Plays a round; returns for each variant its share of the points of each encounter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """How much is played: about ``encounters`` in all rounds together, and ``test_encounters`` in the final test."""

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
        """How many encounters a variant has each time it is drawn: as few as ``MAX_POINTS`` variants allow."""
        return -(-self.encounters // (self.rounds * MAX_POINTS))

    @property
    def start(self) -> Values:
        """The values before tuning."""
        return tuple(parameter.text_of(parameter.start) for parameter in self.parameters)

    def values_at(self, point: Point) -> Values:
        """Return the values at a point."""
        return tuple(parameter.value_at(share) for parameter, share in zip(self.parameters, point, strict=True))

    def point_of(self, values: Values) -> Point:
        """Return the point of values: where each is in its range, from 0 to 1."""
        return tuple(parameter.share_of(value) for parameter, value in zip(self.parameters, values, strict=True))


class TuningVerdict(StrEnum):
    """What the final test says of the result."""

    BETTER = "better"
    WORSE = "worse"
    OPEN = "not distinguishable"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalTest:
    """The result against the start: its share of the points of the encounters, with the 95 % interval."""

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
    """An encounter of a variant with the start, and the variant's share of the points."""

    round: int
    values: Values
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningResult:
    """What tuning has found.

    Attributes:
        trials: all encounters but those of the final test.
        effective: the effective number of trials behind the estimate; the others are confidently worse.
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


def tune(plan: TuningPlan, play: Play, tested: Values | None = None) -> TuningResult:
    """Play rounds of trials, and the final test; ``play`` plays a round, or finds what was played of it before.

    ``tested`` are the values of a final test that was begun before.
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
            estimate=plan.values_at(_optimum(plan, trials).best) if trials else None,
        )
        scores = play(upcoming) if variants else []
        for values, of_variant in zip(variants, scores, strict=True):
            trials += [Trial(round=number, values=values, score=score) for score in of_variant]
    if not trials:
        return TuningResult(plan=plan, trials=(), values=plan.start, effective=0.0, test=None)
    optimum = _optimum(plan, trials)
    best = tested or plan.values_at(optimum.best)
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
    """Return the mean of scores with its 95 % interval; None if there are too few."""
    count = len(scores)
    if count < MIN_TEST_ENCOUNTERS:
        return None
    middle, error = middle_and_error(Counter(scores))
    reach = t_quantile(count + 1, 0.975) * error
    return FinalTest(
        encounters=count,
        score=sum(scores) / count,
        low=max(0.0, middle - reach),
        high=min(1.0, middle + reach),
    )
