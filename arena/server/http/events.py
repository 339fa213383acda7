"""``/events``: the events in the store's log as server-sent events for readers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from arena.base.errors import StoreError
from arena.server.http.addresses import address_of, network_of
from arena.server.http.endpoint import Endpoint, operation
from arena.server.http.hub import Hub
from arena.server.http.topics import MAX_TOPICS, Change, parse_cursor, parse_topics
from arena.server.http.watcher import StoreLogs, Watcher
from arena.store.home import ArenaHome

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # a proxy passes on each event when it comes
}


class EventStream(Response):
    """Sends events until the reader has gone, or there are no more."""

    def __init__(
        self, take: Callable[[], Awaitable[bytes]], end: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        """Prepare; ``take`` returns nothing at the end of the stream, and ``end`` makes it do so."""
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._take, self._end, self._leave = take, end, leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the stream ends or the client disconnects."""
        gone = asyncio.create_task(self._end_when_gone(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while data := await self._take():
                await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self._leave()

    async def _end_when_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._end()


_TOPIC = {"type": "string", "pattern": "^(arena|contests|tournaments/[^/,]+(/matches/[1-9][0-9]*)?)$"}

OPERATION = operation(
    "What happens, as server-sent events.",
    "text/event-stream",
    [
        {
            "name": "topics",
            "in": "query",
            "required": True,
            "schema": {"type": "array", "items": _TOPIC, "minItems": 1, "maxItems": MAX_TOPICS},
            "style": "form",
            "explode": False,
            "description": "arena, contests, tournaments/NAME or tournaments/NAME/matches/NUMBER, as in addresses.",
        },
        {
            "name": "cursor",
            "in": "query",
            "schema": {"type": "string"},
            "description": "The id of the last event that was read; as the header Last-Event-ID.",
        },
    ],
    {
        400: "A topic or a cursor is malformed.",
        404: "There is no such tournament or match.",
        503: "There are too many readers, or the store can't be read.",
    },
)


WATCH_SECONDS = 30.0
"""How long a request in the store to watch a match lasts."""

RENEW_SECONDS = 10.0

log = logging.getLogger("arena.server.http")


class Events:
    """The watcher, its hub and their endpoint, while the server runs; ``changed_at`` is in monotonic seconds."""

    def __init__(self, home: Callable[[], ArenaHome], contests: Callable[[], int] = int) -> None:
        """Read the state of the logs; ``contests`` returns a number that changes with the public state of contests."""
        self.changed_at: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.watcher = Watcher(home, self._notify, contests=contests)
        self._hub = Hub(self.watcher.state, StoreLogs(home))
        self._home = home
        self.endpoint = Endpoint(path="/events", handler=self._answer, operation=OPERATION)

    @property
    def readers(self) -> int:
        """How many streams are open."""
        return self._hub.readers

    async def _answer(self, request: Request) -> Response:
        query = request.query_params
        cursor = request.headers.get("last-event-id") or query.get("cursor")  # the first one is newer
        place = parse_cursor(cursor) if cursor else None
        topics = parse_topics(",".join(query.getlist("topics")))
        if request.method == "HEAD":
            return Response(headers=HEADERS)
        channel, reader = await self._hub.join(topics, place, network_of(address_of(request)))
        return EventStream(reader.take, reader.end, lambda: self._hub.leave(channel, reader))

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
            with contextlib.suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(self._hub.apply, change)

    async def _renew_watches(self) -> None:
        """Note in the store which matches are watched, as long as they are."""
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
        except StoreError as error:  # readers then see only the result of the match
            log.warning("what is watched can't be written: %s", error)
