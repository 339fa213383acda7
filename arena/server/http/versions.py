"""How far the topics of a page have got: the page is the same as long as its version is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol


class Versions(Protocol):
    """Knows the version of topics without asking the store."""

    @property
    def lost_at(self) -> float | None:
        """Since when the store can't be read (monotonic seconds); None if it can."""

    def version_of(self, topics: Sequence[str]) -> str:
        """Return the version of topics together: a text that differs after any event of any of them."""

    def progress_of(self, topics: Sequence[str]) -> str:
        """Return a text that differs when there is news of how far the runs of topics are."""

    def corrections_of(self, topics: Sequence[str]) -> str:
        """Return a text that differs after one of the topics was corrected, deleted or renamed."""


class VersionOfTheSecond:
    """A version that differs each second, for a store that nobody watches."""

    lost_at: float | None = None

    def version_of(self, _: Sequence[str]) -> str:
        """Return which second it is, since the machine started."""
        return f"{time.monotonic():.0f}"

    def progress_of(self, _: Sequence[str]) -> str:
        """Return nothing: the version differs often enough."""
        return ""

    def corrections_of(self, _: Sequence[str]) -> str:
        """Return nothing: nobody says what has happened."""
        return ""
