"""A game with one option changed: each whole number at its lowest and highest, each choice, and three players."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from arena.games.options import IntOption, Option

T = TypeVar("T")

_STEPS = 12
"""If the lowest or highest value does not fit the other options, this number of nearer ones is tried."""


def variants(
    table: Iterable[Option], fitting: Callable[[dict[str, Any]], T | None]
) -> Iterator[tuple[dict[str, Any], T]]:
    """Yield one changed option at a time, with what ``fitting`` has made of it.

    Args:
        table: the options.
        fitting: takes the changed option and returns what is made with it; None if it does not fit the others.
    """
    for option in table:
        tried: set[int | str] = {option.default}
        for values in _extremes(option):
            for value in values:
                if value in tried:
                    break
                tried.add(value)
                made = fitting({option.name: value})
                if made is not None:
                    yield {option.name: value}, made
                    break


def _extremes(option: Option) -> Iterator[Sequence[int | str]]:
    """Yield the values to try, the best one first, until one fits."""
    if not isinstance(option, IntOption):
        yield from ((choice,) for choice in option.choices)
        return
    yield range(option.minimum, min(option.maximum, option.minimum + _STEPS) + 1)
    if option.name == "players":
        yield range(3, min(option.maximum, 3) + 1)
    yield range(option.maximum, max(option.minimum, option.maximum - _STEPS) - 1, -1)
