"""What the hub asks the store: the events of a log, and which matches are still to be played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import anyio
import anyio.to_thread

from arena.server.http.changes import LoggedEvent
from arena.server.http.watcher import events_between
from arena.store.home import ArenaHome
from arena.store.results.store import Store

READS_AT_ONCE = 4

Value = TypeVar("Value")


class Logs(Protocol):
    """What the hub asks."""

    async def events_between(self, tournament: int, after: int, last: int) -> Sequence[LoggedEvent] | None:
        """Return the events of a tournament after one number, up to another; None if they are not all kept."""

    async def is_to_be_played(self, tournament: int, match: int) -> bool | None:
        """Return whether a match is still to be played; None if there is no such match."""


class StoreLogs:
    """The logs in a home's store, read in threads."""

    def __init__(self, home: Callable[[], ArenaHome]) -> None:
        self._home = home
        self._limiter = anyio.CapacityLimiter(READS_AT_ONCE)

    async def events_between(self, tournament: int, after: int, last: int) -> Sequence[LoggedEvent] | None:
        """Return the events of a tournament after one number, up to another; None if they are not all kept."""
        found = await self._read(lambda store: events_between(store, tournament, after, last))
        return None if found is None else [LoggedEvent(tournament, event) for event in found]

    async def is_to_be_played(self, tournament: int, match: int) -> bool | None:
        """Return whether a match is still to be played; None if there is no such match."""
        return await self._read(lambda store: store.is_to_be_played(tournament, match))

    async def _read(self, work: Callable[[Store], Value]) -> Value:
        return await anyio.to_thread.run_sync(lambda: work(self._home().store), limiter=self._limiter)
