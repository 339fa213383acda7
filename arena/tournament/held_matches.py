"""Matches of a ladder that were given up, or whose bots rest: each is tried again later, ever more rarely."""

from __future__ import annotations

import time
from collections.abc import Container
from typing import NamedTuple

from arena.records import MatchSpec

RETRY_SECONDS = 60.0
MAX_RETRY_SECONDS = 3600.0
"""Until a match is tried once more; each time twice as long."""


class _Held(NamedTuple):
    """A match.

    Attributes:
        spec: for its next try.
        pause_seconds: until that.
        again_at: when it is tried again.
    """

    spec: MatchSpec
    pause_seconds: float
    again_at: float


class HeldMatches:
    """The matches that were held back in one run."""

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}

    def hold(self, spec: MatchSpec) -> None:
        """Hold a match back for a while."""
        before = self._held.get(spec.match)
        pause_seconds = RETRY_SECONDS if before is None else min(2 * before.pause_seconds, MAX_RETRY_SECONDS)
        self._held[spec.match] = _Held(spec, pause_seconds, time.monotonic() + pause_seconds)

    def due(self, held: Container[int]) -> list[MatchSpec]:
        """Return matches that may be tried again now, at most one for each bot.

        Args:
            held: the numbers of those that still have no record and are not being tried.
        """
        now = time.monotonic()
        due: list[MatchSpec] = []
        tried: set[str] = set()
        for match, one in self._held.items():
            labels = {bot.label for bot in one.spec.bots}
            if match in held and one.again_at <= now and labels.isdisjoint(tried):
                tried |= labels
                due.append(one.spec)
        return due
