"""A match is played again if the arena can't tell whether a bot kept its time."""

from __future__ import annotations

from collections.abc import Callable

from arena.base.errors import LateError
from arena.base.records import MatchRecord, MatchSpec

MAX_TRIES = 3


def play_until_judged(play: Callable[[MatchSpec], MatchRecord], spec: MatchSpec) -> MatchRecord:
    """Play a match; play it again where the machine stood still or others took the processor.

    Args:
        play: plays a match once. If the same bot was to act in every try, the referee takes the last for its fault.
        spec: the match.

    Raises:
        LateError: if nobody can say even after ``MAX_TRIES`` tries.
    """
    for _ in range(MAX_TRIES - 1):
        try:
            return play(spec)
        except LateError as error:
            spec = spec.after_void(error.seat)
    return play(spec)
