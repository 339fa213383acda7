"""How the server is, which only it knows."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping

import anyio.to_thread

from arena.base.errors import ArenaError
from arena.base.programs.service_program import Trouble
from arena.base.version import __version__
from arena.server.http.builders import Builders
from arena.server.http.endpoint import CspReports
from arena.server.http.events import Events
from arena.server.http.opened_home import OpenedHome
from arena.server.http.page_value import Versions
from arena.server.operating.parts import WEB
from arena.server.operating.troubles import HOME
from arena.site.frame.model import Lane
from arena.site.pages.overview_model import BuilderHealth, HealthPage

TROUBLES_SECONDS = 1.0
"""From one look at what is wrong with programs to the next: it reads a database, and anybody may ask."""

_log = logging.getLogger("arena.server.http")


class Health:
    """Knows the parts of the server."""

    def __init__(
        self,
        home: OpenedHome,
        versions: Versions,
        builders: Mapping[Lane, Builders],
        csp_reports: CspReports,
        events: Events | None = None,
        now: Callable[[], float] = lambda: time.monotonic(),
        troubles: Callable[[], tuple[Trouble, ...]] = tuple,
    ) -> None:
        self._home, self._versions, self._builders, self._csp_reports = home, versions, builders, csp_reports
        self._events, self._now = events, now
        self._started_at, self._read_troubles = now(), troubles
        self._troubles: tuple[Trouble, ...] = ()
        self._troubles_at = float("-inf")
        self._reading = asyncio.Lock()

    async def page(self) -> HealthPage:
        """Return how the server is."""
        lost_at, troubles = self._versions.lost_at, await self._newest_troubles()
        changed_at = self._events.changed_at if self._events else None
        return HealthPage(
            is_store_readable=lost_at is None and self._is_there(),
            is_home_writable=all(one.part != HOME for one in troubles),
            version=__version__,
            store_lost_seconds=None if lost_at is None else round(self._now() - lost_at, 1),
            running_seconds=round(self._now() - self._started_at, 1),
            builders=tuple(
                BuilderHealth(lane=lane, processes=len(one.processes), most_processes=one.limits.processes)
                for lane, one in self._builders.items()
            ),
            event_readers=self._events.readers if self._events else 0,
            last_change_seconds=None if changed_at is None else round(self._now() - changed_at, 1),
            csp_reports=self._csp_reports.count,
            troubles=tuple(dict.fromkeys(one.public for one in troubles if one.public)),
        )

    async def _newest_troubles(self) -> tuple[Trouble, ...]:
        """Return the health problems of programs, read in a thread, once for all who ask."""
        async with self._reading:
            if self._now() - self._troubles_at >= TROUBLES_SECONDS:
                found = await anyio.to_thread.run_sync(self._read_troubles)
                self._say_new(found)
                self._troubles, self._troubles_at = found, self._now()
            return self._troubles

    def _say_new(self, found: tuple[Trouble, ...]) -> None:
        """Log all health problems of this process; the other services write their own logs."""
        for one in found:
            if one.part in (WEB, HOME) and one not in self._troubles:
                _log.error("%s", one.sentence)

    def _is_there(self) -> bool:
        try:
            self._home()
        except ArenaError:
            return False
        return True
