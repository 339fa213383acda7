"""``/events``: what happens, as server-sent events."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from arena.server.http.channel import Channel
from arena.server.http.client_address import address_of, network_of
from arena.server.http.cursor import parse_cursor
from arena.server.http.endpoint import Endpoint, operation
from arena.server.http.hub import Hub
from arena.server.http.reader import Reader
from arena.server.http.topics import MAX_TOPICS, parse_topics

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # a proxy passes on each event when it comes
}


def event_endpoint(hub: Hub) -> Endpoint:
    """Return the address of the events of a hub."""

    async def answer(request: Request) -> Response:
        query = request.query_params
        last_id = request.headers.get("last-event-id")  # later than the cursor with which the stream began
        place = last_id or query.get("cursor")
        cursor = parse_cursor(place) if place else None
        topics = parse_topics(",".join(query.getlist("topics")))
        if request.method == "HEAD":
            return Response(headers=HEADERS)
        return EventStream(hub, *await hub.join(topics, cursor, network_of(address_of(request))))

    return Endpoint(path="/events", handler=answer, operation=OPERATION)


class EventStream(Response):
    """Sends events until the reader has gone, is too slow, or the hub is closed."""

    def __init__(self, hub: Hub, channel: Channel, reader: Reader) -> None:
        """Prepare the stream of a reader that has joined."""
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._hub, self._channel, self._reader = hub, channel, reader

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send."""
        gone = asyncio.create_task(_end_when_gone(self._reader, receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while data := await self._reader.take():
                await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self._hub.leave(self._channel, self._reader)


async def _end_when_gone(reader: Reader, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    reader.end()


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
        400: "A topic or a cursor is not right.",
        404: "There is no such tournament or match.",
        503: "There are too many readers, or the store can't be read.",
    },
)
