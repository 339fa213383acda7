"""How two JSON values differ: what a page says, and what follows from the records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from math import isclose
from typing import Any

from arena.base.text import shortened_text

TOLERANCE = 0.02
"""Two fits of the same results, by another version or on another machine, may differ by a few of the fit's own."""

_NOTHING = object()


def differences(said: Any, expected: Any, is_complete: bool) -> Iterator[str]:
    """Yield where a value differs from what is expected, as the beginning of a sentence that ends with "by …".

    Args:
        said: a value from JSON, of any kind and depth.
        expected: the value it is compared with.
        is_complete: whether it has to have every key of the expected value, and no other: not if another version of the
            arena has written it.
    """
    waiting: list[tuple[str, Any, Any]] = [("", said, expected)]
    while waiting:
        where, one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            keys = (
                [*other, *(key for key in one if key not in other)] if is_complete else [k for k in other if k in one]
            )
            inner = [(f"{where}.{key}", one.get(key, _NOTHING), other.get(key, _NOTHING)) for key in keys]
            waiting += reversed(inner)
        elif isinstance(one, list) and isinstance(other, list):
            pairs = enumerate(zip_longest(one, other, fillvalue=_NOTHING))
            waiting += reversed([(f"{where}[{number}]", *pair) for number, pair in pairs])
        elif not _is_same(one, other):
            yield f"{shortened_text(where.lstrip('.'))} is {_shown(one)}, but {_shown(other)}"


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
        return numbers and _are_close(one, other)
    return type(one) is type(other) and bool(one == other)


def _are_close(one: float, other: float) -> bool:
    try:
        return isclose(one, other, rel_tol=0.0, abs_tol=TOLERANCE)
    except OverflowError:  # JSON may have whole numbers that no float can hold
        return False


def _shown(value: Any) -> str:
    return "missing" if value is _NOTHING else shortened_text(repr(value))
