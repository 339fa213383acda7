"""Times as they are stored, from a clock that tests can set."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

DAY_SECONDS = 24 * 60 * 60.0
NEVER = "9999-12-31T23:59:59+00:00"

Now = Callable[[], float]
"""Returns the time as seconds since 1970."""


class Clock:
    """Times as text, in the order of time."""

    def __init__(self, now: Now = lambda: time.time()) -> None:
        self.now = now

    @staticmethod
    def between(earlier: str, later: str) -> float:
        """Return the seconds between two stored times."""
        return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()

    def text(self, seconds_from_now: float = 0.0) -> str:
        """Return a time, UTC, as ISO 8601 to the second."""
        return datetime.fromtimestamp(self.now() + seconds_from_now, UTC).isoformat(timespec="seconds")
