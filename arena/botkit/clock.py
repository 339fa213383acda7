"""The time for an action, and how much of it to use."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

SHARE = 0.9
"""The share of its time that an action uses; the rest is for transmission and for the loop that checks the clock."""

SPARE_SECONDS = 0.02
USUAL_ACTIONS_LEFT = 15

GOLDEN_RATIO = 0.618034
"""Multiples of it, without their whole part, are never close to each other."""

T = TypeVar("T")


@dataclass(slots=True)
class Clock:
    """The time for an action.

    Attributes:
        seconds: the time for this action, from the question on.
        bank_seconds: the time left in the bank for all remaining actions; None without a bank.
        asked_at: when the question arrived, by ``time.monotonic()``.
        increment_seconds: added to the bank after each action.
    """

    seconds: float
    bank_seconds: float | None
    asked_at: float
    increment_seconds: float = 0.0

    def seconds_left(self) -> float:
        """Return the remaining part of ``seconds``."""
        return self.seconds - (time.monotonic() - self.asked_at)

    def time_for_this_action(self, actions_left: int = USUAL_ACTIONS_LEFT) -> float:
        """Return how many seconds, from now, the bot should think.

        Nine tenths of the time for the action; with a bank, an even share of the bank and most of the increment, if
        that is
        less. Never negative. ``actions_left`` counts the bot's own actions in the rest of the match, this one included.
        """
        planned = self.seconds
        if self.bank_seconds is not None:
            planned = min(planned, self.bank_seconds / max(1, actions_left) + SHARE * self.increment_seconds)
        left = self.seconds_left()
        used = self.seconds - left
        return max(0.0, min(planned * SHARE - used, left - SPARE_SECONDS))


def until(stop_at: float, items: Iterable[T]) -> Iterator[T]:
    """Yield items, such as the legal actions, before ``stop_at`` by ``time.monotonic()``; the first one always.

    A position may have thousands of actions: a loop over them has to look at the clock too.
    """
    for number, item in enumerate(items):
        if number and time.monotonic() > stop_at:
            return
        yield item


def spread(items: Sequence[T]) -> Iterator[tuple[int, T]]:
    """Yield each item with its number, in an order that is spread over all of them at any time.

    A bot without time for all legal actions should not look at the first ones alone, which are neighbours.
    """
    step = max(1, round(len(items) * GOLDEN_RATIO))
    while math.gcd(step, len(items)) > 1:
        step += 1
    for turn in range(len(items)):
        number = turn * step % len(items)
        yield number, items[number]
