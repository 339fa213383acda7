"""``/tournaments/NAME/feed.atom`` and ``/bots/NAME/feed.atom``: feeds of results."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from arena.server.http.endpoint import NOT_CHANGED, TOO_LONG, Endpoint, operation
from arena.server.http.rendered import PAGE_CACHING, Rendered, rendered, response_of
from arena.server.http.topics import Topic
from arena.server.http.versions import Versions
from arena.site.feed import feed_xml
from arena.site.frame.model import MAX_NAME_CHARACTERS
from arena.site.pages.feed import Feed
from arena.site.pages.feeds import bot_feed, tournament_feed
from arena.store.home import ArenaHome

CONTENT_TYPE = "application/atom+xml; charset=utf-8"
MAX_KEPT = 50
NAME_SCHEMA = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARACTERS}


class Feeds:
    """Answers with feeds; each is built again when something has changed."""

    def __init__(self, home: Callable[[], ArenaHome], versions: Versions) -> None:
        """Prepare.

        Args:
            home: returns the home.
            versions: of the topics of feeds.
        """
        self._home = home
        self._versions = versions
        self._kept: OrderedDict[tuple[str, ...], Rendered] = OrderedDict()

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses of feeds."""
        handlers = {"tournament": self._of_tournament, "bot": self._of_bot}
        return tuple(
            Endpoint(path=f"/{kind}s/{{{kind}}}/feed.atom", handler=handler, operation=_operation(kind))
            for kind, handler in handlers.items()
        )

    async def _of_tournament(self, request: Request) -> Response:
        name = request.path_params["tournament"]
        page = f"/tournaments/{quote(name, safe='')}"
        return await self._answer(request, page, Topic(name), lambda: tournament_feed(self._home(), name))

    async def _of_bot(self, request: Request) -> Response:
        name = request.path_params["bot"]
        return await self._answer(
            request, f"/bots/{quote(name, safe='@')}", Topic(bots=(name,)), lambda: bot_feed(self._home(), name)
        )

    async def _answer(self, request: Request, page: str, topic: Topic, build: Callable[[], Feed]) -> Response:
        site = f"{request.url.scheme}://{request.url.netloc}"
        topics = [topic.path]
        key = (site, page, self._versions.version_of(topics), self._versions.corrections_of(topics))
        if key not in self._kept:
            self._kept[key] = await anyio.to_thread.run_sync(lambda: _rendered(build(), site, page))
        self._kept.move_to_end(key)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return response_of(self._kept[key], request.headers, {"cache-control": PAGE_CACHING})


def _rendered(feed: Feed, site: str, page: str) -> Rendered:
    return rendered(feed_xml(feed, site, f"{page}/feed.atom", page), CONTENT_TYPE)


def _operation(kind: str) -> dict[str, Any]:
    name = {"name": kind, "in": "path", "required": True, "schema": NAME_SCHEMA}
    refusals = {
        400: "The address is not right.",
        404: f"There is no such {kind}.",
        **TOO_LONG,
        503: "The store can't be read.",
    }
    found = operation(f"The latest results of a {kind}, as an Atom feed.", "application/atom+xml", [name], refusals)
    return {**found, "responses": found["responses"] | NOT_CHANGED}
