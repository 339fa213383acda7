"""Which matches count for ratings: the one place that says so.

An opening here is the bots in their seats, the game with its options, and the actions of the opening. Where the bots
have always played the same match from an opening, it counts once: a deterministic bot that plays one match five times
has not shown its strength five times. Where they vary, every match is a fresh draw and counts, even if its actions
occurred before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def counting(openings: Sequence[Hashable], actions: Sequence[Hashable]) -> list[bool]:
    """Return for each match whether it counts.

    Args:
        openings: the opening of each match, as a value that is equal for equal openings.
        actions: all actions of each match, as a value that is equal for equal actions.
    """
    first: dict[Hashable, Hashable] = {}
    varied: set[Hashable] = set()
    for opening, played in zip(openings, actions, strict=True):
        if first.setdefault(opening, played) != played:
            varied.add(opening)
    counts = []
    seen: set[Hashable] = set()
    for opening in openings:
        counts.append(opening in varied or opening not in seen)
        seen.add(opening)
    return counts
