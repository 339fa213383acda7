"""``/events``: what happens, as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from starlette.datastructures import Headers, QueryParams
from starlette.types import Receive, Scope, Send

from arena.web.channel import Channel
from arena.web.cursor import parse_cursor
from arena.web.hub import Hub
from arena.web.reader import Reader
from arena.web.server_protocol import TRANSPORT
from arena.web.topics import parse_topics

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy passes on each event when it comes
)

MAX_CURSORS = 100
"""One for each tab that shares a stream."""

BUFFER_BYTES = 64 * 1024
"""In the system, and in our process, for a reader that does not read."""


class EventStream:
    """The application behind ``/events``."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the reader has gone, is too slow, or the hub is closed.

        Raises:
            ArenaError: as ``Hub.join`` does, before anything is sent.
            ProblemError: the same.
        """
        channel, reader = await self._join(scope)
        gone = asyncio.create_task(_end_when_gone(reader, receive))
        try:
            _bound_buffers(scope, reader)
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            if scope["method"] != "HEAD":
                await self._send_all(reader, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self._hub.leave(channel, reader)

    async def _join(self, scope: Scope) -> tuple[Channel, Reader]:
        query = QueryParams(scope["query_string"])
        last_id = Headers(scope=scope).get("last-event-id")  # later than the cursor with which the stream began
        cursors = [parse_cursor(text) for text in ([last_id] if last_id else query.getlist("cursor")[:MAX_CURSORS])]
        return await self._hub.join(parse_topics(",".join(query.getlist("topics"))), cursors)

    async def _send_all(self, reader: Reader, send: Send) -> None:
        while data := await reader.take():
            reader.sending_since = self._hub.clock()
            await send({"type": "http.response.body", "body": data, "more_body": True})
            reader.sending_since = None


async def _end_when_gone(reader: Reader, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    reader.end()


def _bound_buffers(scope: Scope, reader: Reader) -> None:
    """Bound what waits for a reader, where the server lets us."""
    transport = scope.get("state", {}).get(TRANSPORT)
    if transport is None:
        return
    reader.abort = transport.abort
    transport.set_write_buffer_limits(BUFFER_BYTES)
    with contextlib.suppress(OSError):
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
