"""Which matches count for ratings: the one place that says so.

A start is the bots in their seats, the game with its options, and the opening. Where the bots of a start have always
played the same match, it counts once: a deterministic bot that plays one match five times has not shown its strength
five times. Where they vary, every match is a fresh draw and counts, even if its actions occurred before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def counting(starts: Sequence[Hashable], actions: Sequence[Hashable]) -> list[bool]:
    """Tell of each match whether it counts.

    Args:
        starts: of each match, as anything that is equal when they are; None is unlike any other.
        actions: of each match, in the same way.
    """
    first: dict[Hashable, Hashable] = {}
    varied: set[Hashable] = set()
    for start, done in zip(starts, actions, strict=True):
        if first.setdefault(start, done) != done:
            varied.add(start)
    counts = []
    seen: set[Hashable] = set()
    for start in starts:
        counts.append(start is None or start in varied or start not in seen)
        seen.add(start)
    return counts
