"""How long an action may take, and how much of that to use."""

from __future__ import annotations

import time
from dataclasses import dataclass

SHARE = 0.9
"""Of what an action may take: the rest is for the way there and back, and for the loop that looks at the clock."""

SPARE_SECONDS = 0.02
USUAL_ACTIONS_LEFT = 15


@dataclass(slots=True)
class Clock:
    """How long the action may take.

    Attributes:
        seconds: for this action, from when it was asked.
        bank_seconds: left in the bank for all actions to come; None without a bank.
        asked_at: when the question arrived, as ``time.monotonic()`` tells.
        increment_seconds: added to the bank after each action.
    """

    seconds: float
    bank_seconds: float | None
    asked_at: float
    increment_seconds: float = 0.0

    def seconds_left(self) -> float:
        """Return what is left of ``seconds``."""
        return self.seconds - (time.monotonic() - self.asked_at)

    def time_for_this_action(self, actions_left: int = USUAL_ACTIONS_LEFT) -> float:
        """Return for how many seconds, from now, it is wise to think.

        Nine tenths of what the action may take; with a bank its share of the bank and most of the increment, if that
        is less. Never negative.

        Args:
            actions_left: how many actions of its own the bot expects in this match, this one included.
        """
        wise = self.seconds
        if self.bank_seconds is not None:
            wise = min(wise, self.bank_seconds / max(1, actions_left) + SHARE * self.increment_seconds)
        left = self.seconds_left()
        used = self.seconds - left
        return max(0.0, min(wise * SHARE - used, left - SPARE_SECONDS))
