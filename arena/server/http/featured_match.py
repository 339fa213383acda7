"""The match whose board the first page shows: one that is being played, else the latest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio.to_thread

from arena.server.http.page_cache import PageCache
from arena.server.http.page_value import HURRIED_SECONDS, Value
from arena.site.matches.match_model import MatchParameters
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.overview_model import OverviewPage, OverviewParameters

FIRST_PAGE = OverviewParameters()
"""The parameters of the first page; older tournaments have no board."""

HOLD_SECONDS = 10.0
"""A board stays at least this long: nobody can follow matches of a moment, and each costs a builder."""
FIRST_SECONDS = 1.0
"""How long a reader waits for a board that was never built."""
SERVER_FAILED = 500
"""From this status on, a page may be there the next time, as after a builder that took too long on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturedBoard:
    """The page of a match for the first page.

    Attributes:
        value: None if it is not there.
        is_late: whether it is still being built, or could not be built this time: asked again, it may be another one.
        topics: the events after which it is another one.
        key: a text that differs when the board does.
    """

    value: Value | None
    is_late: bool
    topics: tuple[str, ...]
    key: str


class FeaturedMatch:
    """Chooses the match, and holds it for a while."""

    def __init__(self, cache: PageCache, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._cache, self._now = cache, now
        self._read: Value | None = None
        self._newest: tuple[str, int] | None = None
        self._held: tuple[str, int] | None = None
        self._held_until = float("-inf")

    async def board(self, overview: Value) -> FeaturedBoard | None:
        """Return the board for a value of the first page; None without one."""
        if overview is not self._read:
            self._newest = await anyio.to_thread.run_sync(
                lambda: OverviewPage.model_validate_json(overview.json).featured
            )
            self._read = overview
        if self._newest != self._held and (self._now() >= self._held_until or self._newest is None):
            self._held, self._held_until = self._newest, self._now() + HOLD_SECONDS
        if self._held is None:
            return None
        tournament, match = self._held
        page, parameters = PAGE_BY_NAME["match"], MatchParameters(tournament=tournament, match=match)
        found = await self._cache.find(page, parameters, FIRST_SECONDS, HURRIED_SECONDS)
        if found.value is None and found.problem is not None:
            self._held_until = float("-inf")  # it may be gone: the next reader gets the newest
        version = "" if found.value is None else f"{found.value.version} {found.value.built_at}"
        return FeaturedBoard(
            value=found.value,
            is_late=not found.is_current and (found.problem is None or found.problem.status >= SERVER_FAILED),
            topics=page.topics_of(parameters),
            key=f"{tournament}/{match} {version}",
        )
