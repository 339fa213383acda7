"""The time for an action, and how much of it to use."""

from __future__ import annotations

import time
from dataclasses import dataclass

SHARE = 0.9
"""The share of its time that an action uses; the rest is for transmission and for the loop that checks the clock."""

SPARE_SECONDS = 0.02
USUAL_ACTIONS_LEFT = 15


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
        that is less. Never negative.

        Args:
            actions_left: how many of its own actions the bot expects in the rest of the match, including this one.
        """
        planned = self.seconds
        if self.bank_seconds is not None:
            planned = min(planned, self.bank_seconds / max(1, actions_left) + SHARE * self.increment_seconds)
        left = self.seconds_left()
        used = self.seconds - left
        return max(0.0, min(planned * SHARE - used, left - SPARE_SECONDS))
