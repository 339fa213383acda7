"""A parameter of a bot that is tuned: its range, where it starts, and the argument that carries it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log

from arena.base.errors import UsageError

MAX_PARAMETERS = 8
"""A quadratic model of more has too many coefficients for the encounters that anybody plays."""

LOGARITHMIC_FROM = 10.0
"""The ratio of the ends of a range from which on equal steps are equal factors."""

DIGITS = 4
_NUMBER = r"[-+]?\d{1,12}(?:\.\d{1,12})?"
_PARAMETER = re.compile(rf"([A-Za-z][A-Za-z0-9_]{{0,30}})=({_NUMBER})\.\.({_NUMBER})(?:@({_NUMBER}))?")


@dataclass(frozen=True, slots=True)
class TuningParameter:
    """A parameter.

    Attributes:
        name: between braces, in the arguments of the bot.
        low: the least value.
        high: the largest.
        start: the value it has before it is tuned.
        is_whole: whether its values are whole numbers.
    """

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
    """Return a number without an exponent."""
    return f"{value:.12f}".rstrip("0").rstrip(".")


def parse_parameter(text: str) -> TuningParameter:
    """Return a parameter from ``NAME=LOW..HIGH`` or ``NAME=LOW..HIGH@START``.

    Numbers without a decimal point make a parameter of whole numbers. It starts in the middle of its range by default.

    Raises:
        UsageError: naming the text and what is expected.
    """
    expected = "expected NAME=LOW..HIGH or NAME=LOW..HIGH@START, such as rollouts=10..1000@100 or c=0.1..2.0"
    found = _PARAMETER.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--param {text!r}: {expected}")
    name, *numbers = found.groups()
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
    """Raise UsageError unless there are parameters with names of their own, and each is in the arguments."""
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
    return [part for one in parameters for part in (f"--{one.name.replace('_', '-')}", f"{{{one.name}}}")]


def filled_args(args: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return arguments with values in place of ``{name}``; other braces are left as they are."""
    return [re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), arg) for arg in args]
