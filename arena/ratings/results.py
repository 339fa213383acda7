"""Results, checked."""

from __future__ import annotations

from collections.abc import Sequence

from arena.base.errors import UsageError

Result = tuple[Sequence[str], Sequence[int]]
"""The names in seat order, and the rank of each: 1 is best, ties share."""

Encounter = tuple[Result, ...]
"""The rated results of one encounter."""


def check_result(names: Sequence[str], ranks: Sequence[int]) -> None:
    """Raise UsageError if a result is malformed."""
    if len(names) < 2 or len(names) != len(ranks):
        raise UsageError(f"a result needs two or more names and a rank for each, not {names!r} and {ranks!r}")
    if len(set(names)) != len(names):
        raise UsageError(f"a name appears twice in one result: {names!r}")
    if not all(type(rank) is int for rank in ranks):
        raise UsageError(f"ranks are whole numbers, not {ranks!r}")
