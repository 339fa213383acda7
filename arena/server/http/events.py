"""From the store's log to the readers of ``/events``: the watcher, the hub and what is between them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

import anyio
import anyio.to_thread

from arena.base.errors import StoreError
from arena.server.http.changes import Change
from arena.server.http.event_stream import event_endpoint
from arena.server.http.hub import Hub
from arena.server.http.logs import StoreLogs
from arena.server.http.watcher import Watcher
from arena.store.home import ArenaHome

WATCH_SECONDS = 30.0
"""How long a match is watched, once the store was asked to."""

RENEW_SECONDS = 10.0

log = logging.getLogger("arena.server.http")


class Events:
    """All that has to do with events, while the server runs.

    Attributes:
        watcher: knows the versions of topics.
        endpoint: ``/events``.
        changed_at: when the watcher has last seen a change (monotonic seconds); None if it has seen none.
    """

    def __init__(self, home: Callable[[], ArenaHome], contests: Callable[[], int] = int) -> None:
        """Read how far the logs are.

        Args:
            home: returns the home; another one if it was replaced.
            contests: returns a number that is another one when what everybody may know of contests has changed.

        Raises:
            StoreError: if it can't be read.
        """
        self.changed_at: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.watcher = Watcher(home, self._notify, contests=contests)
        self._hub = Hub(self.watcher.state, StoreLogs(home))
        self._home = home
        self.endpoint = event_endpoint(self._hub)

    @property
    def readers(self) -> int:
        """How many streams are open."""
        return self._hub.readers

    async def run(self) -> None:
        """Watch the store and send events, until ``close`` is called."""
        self._loop = asyncio.get_running_loop()
        self.watcher.start()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._hub.run)
                tasks.start_soon(self._renew_watches)
        finally:
            self._loop = None
            await anyio.to_thread.run_sync(self.watcher.stop)

    def close(self) -> None:
        """End all streams, which a server does before it waits for its connections."""
        self._hub.close()

    def _notify(self, change: Change) -> None:
        """Hand a change over to the loop; called in the watcher's thread."""
        self.changed_at = time.monotonic()
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._hub.apply, change)

    async def _renew_watches(self) -> None:
        """Say in the store which matches are watched, as long as they are."""
        while not self._hub.is_closed:
            watched = self._hub.watched
            watched.changed.clear()
            try:
                await watched.add_again()
            except StoreError as error:  # it is tried again
                log.warning("which matches are to be played can't be read: %s", error)
            if places := watched.places:
                await anyio.to_thread.run_sync(self._watch, places)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(watched.changed.wait(), RENEW_SECONDS)

    def _watch(self, watched: frozenset[tuple[int, int]]) -> None:
        try:
            for tournament, match in sorted(watched):
                self._home().store.live_state(tournament).watch(match, WATCH_SECONDS)
        except StoreError as error:  # then the match is seen when it is over
            log.warning("what is watched can't be written: %s", error)
