"""The health of the server, and the site as an ASGI application."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.base.errors import ArenaError
from arena.base.programs.service_program import HealthProblem
from arena.base.version import __version__
from arena.server.http import openapi
from arena.server.http.addresses import Addresses, Hosts, query_of
from arena.server.http.builders import Builders
from arena.server.http.endpoint import CspReports, Endpoint, Feeds, Guide
from arena.server.http.events import Events
from arena.server.http.observation import ROUTE, Observer, observing, with_security_headers
from arena.server.http.opened_home import OpenedHome
from arena.server.http.page_cache import PageCache
from arena.server.http.page_response import PageResponses
from arena.server.http.page_value import (
    FOR_GOOD,
    PAGE_CACHING,
    Rendered,
    Snapshots,
    ValueBuilder,
    rendered,
    response_of,
)
from arena.server.http.problems import DEFECT, ENDING, AwayLog, bad_address, problem_of
from arena.server.http.supervisor import Supervisor
from arena.server.http.watcher import Watcher
from arena.server.operating.service_programs import HOME, WEB
from arena.site.frame.model import Frozen, Lane, Page
from arena.site.links import ServedLinks
from arena.site.page_table import PAGES
from arena.site.pages.overview_model import BuilderHealth, HealthPage
from arena.site.render import asset, asset_digests

PROBLEMS_SECONDS = 1.0
"""Between two reads of health problems: each reads a database, and anybody may request the page."""

_log = logging.getLogger("arena.server.http")


class Health:
    """Collects the health of the server and its services."""

    def __init__(
        self,
        home: OpenedHome,
        versions: Watcher,
        builders: Mapping[Lane, Builders],
        csp_reports: CspReports,
        events: Events | None = None,
        now: Callable[[], float] = lambda: time.monotonic(),
        problems: Callable[[], tuple[HealthProblem, ...]] = tuple,
    ) -> None:
        self._home, self._versions, self._builders, self._csp_reports = home, versions, builders, csp_reports
        self._events, self._now = events, now
        self._started_at, self._read_problems = now(), problems
        self._problems: tuple[HealthProblem, ...] = ()
        self._problems_at = float("-inf")
        self._reading = asyncio.Lock()

    async def page(self) -> HealthPage:
        """Return the page of the server's health."""
        lost_at, problems = self._versions.lost_at, await self._newest_problems()
        changed_at = self._events.changed_at if self._events else None
        return HealthPage(
            is_store_readable=lost_at is None and self._is_home_readable(),
            is_home_writable=all(problem.service != HOME for problem in problems),
            version=__version__,
            store_lost_seconds=None if lost_at is None else round(self._now() - lost_at, 1),
            running_seconds=round(self._now() - self._started_at, 1),
            builders=tuple(
                BuilderHealth(lane=lane, processes=len(builders.processes), most_processes=builders.limits.processes)
                for lane, builders in self._builders.items()
            ),
            event_readers=self._events.readers if self._events else 0,
            last_change_seconds=None if changed_at is None else round(self._now() - changed_at, 1),
            csp_reports=self._csp_reports.count,
            troubles=tuple(dict.fromkeys(problem.public for problem in problems if problem.public)),
        )

    async def _newest_problems(self) -> tuple[HealthProblem, ...]:
        """Return the health problems of programs, read in a thread once for all requests."""
        async with self._reading:
            if self._now() - self._problems_at >= PROBLEMS_SECONDS:
                newest = await anyio.to_thread.run_sync(self._read_problems)
                for problem in newest:
                    if problem.service in (WEB, HOME) and problem not in self._problems:  # others write their own logs
                        _log.error("%s", problem.sentence)
                self._problems, self._problems_at = newest, self._now()
            return self._problems

    def _is_home_readable(self) -> bool:
        try:
            self._home()
        except ArenaError:
            return False
        return True


CONTENT_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class Site:
    """The site of a home, as an ASGI application. It is closed with ``close``."""

    def __init__(
        self,
        home: OpenedHome,
        *,
        versions: Watcher,
        hosts: Hosts | None = None,
        events: Events | None = None,
        endpoints: Sequence[Endpoint] = (),
        links: ServedLinks | None = None,
        supervisor: Supervisor | None = None,
        end_streams: Callable[[], None] | None = None,
        end: Callable[[], Awaitable[None]] | None = None,
        store: str | None = None,
        problems: Callable[[], tuple[HealthProblem, ...]] = tuple,
        observers: Sequence[Observer] = (),
        frozen: Callable[[str], Frozen | None] = lambda _: None,
    ) -> None:
        """Prepare to answer.

        Args:
            versions: of the topics of pages.
            events: in the store; None if nobody watches it.
            end_streams: ends the streams of the endpoints.
            end: ends what the endpoints have started.
            observers: called with every request when its answer begins.
            frozen: returns whether results of a tournament are embargoed now, or may be later; None if neither.
        """
        self._events, self._supervisor, self._end = events, supervisor, end
        self._end_streams = end_streams
        self._watching: asyncio.Task[None] | None = None
        self._ending: tuple[asyncio.Task[None], ...] | None = None
        self.versions = versions
        lanes = (Lane.RATINGS, Lane.BOARDS)
        self.builders = {lane: Builders(lane, str(home.directory), store) for lane in lanes}
        self.csp_reports = CspReports()
        self._openapi_document: Rendered | None = None
        self._away_log = AwayLog()
        health = Health(home, self.versions, self.builders, self.csp_reports, events, problems=problems)
        self._builder = ValueBuilder(home, self.builders, Snapshots(home().cache_directory))
        self.cache = PageCache(self._builder, self.versions, reads_all=lambda: home.audience.reads_all)
        links = links or ServedLinks(asset_digests())
        self._responses = PageResponses(self.cache, links, health.page, frozen)
        self._guide = Guide(links)
        self._feeds = Feeds(home, self.versions)
        self._endpoints = (*self._own_endpoints(), *endpoints)
        targets: list[tuple[str, Page | Endpoint, bool]] = [(page.path, page, True) for page in PAGES]
        targets += [(endpoint.path, endpoint, False) for endpoint in self._endpoints]
        self._addresses = Addresses(targets)
        guarded = (hosts or Hosts()).guarding(self._answer, self._responses.problem)
        self._app = observing(with_security_headers(guarded), observers)

    def _own_endpoints(self) -> tuple[Endpoint, ...]:
        return (
            *((self._events.endpoint,) if self._events else ()),
            *self._feeds.endpoints,
            *self._guide.endpoints,
            Endpoint(path="/static/{digest}/{name}", handler=_static),
            Endpoint(path="/robots.txt", handler=_robots),
            Endpoint(path="/tournaments", handler=_to_first_page),
            Endpoint(path="/csp-reports", handler=self.csp_reports.receive, methods=("POST",)),
            Endpoint(path="/openapi.json", handler=self._openapi),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        sender = _Sender(send, has_body=request.method != "HEAD")
        try:
            response = await self._response(request)
            await response(scope, receive, sender)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:  # only when the server ends
            if sender.has_begun:
                raise
            await self._responses.problem(request, ENDING)(scope, receive, sender)
        except Exception as error:
            if sender.has_begun:
                raise
            problem = problem_of(error)
            if problem is DEFECT:
                _log.error("a request failed", exc_info=error)
            self._away_log.note(error)
            await self._responses.problem(request, problem)(scope, receive, sender)

    async def _response(self, request: Request) -> ASGIApp:
        raw_path = request.scope.get("raw_path") or request.scope["path"].encode()
        if raw_path != b"/" and raw_path.endswith(b"/") and self._addresses.has(raw_path[:-1]):
            query = request.scope["query_string"].decode("latin-1")
            address = raw_path[:-1].decode("latin-1") + (f"?{query}" if query else "")
            return RedirectResponse(address, 308)
        match = self._addresses.find(raw_path)
        request.scope[ROUTE] = match.target.path
        allowed = match.target.allowed if isinstance(match.target, Endpoint) else ("GET", "HEAD")
        if request.method not in allowed:
            return self._responses.method_not_allowed(request, allowed)
        if isinstance(match.target, Endpoint):
            request.scope["path_params"] = dict(match.fields)
            return await match.target.handler(request)
        query = query_of(request.scope["query_string"])
        return await self._responses.page(request, match.target, dict(match.fields), query, match.suffix)

    async def _openapi(self, request: Request) -> Response:
        if self._openapi_document is None:
            text = json.dumps(openapi.document(PAGES, self._endpoints))
            self._openapi_document = rendered(text.encode(), "application/json")
        return response_of(self._openapi_document, request.headers, {"cache-control": PAGE_CACHING})

    @property
    def event_readers(self) -> int:
        """How many streams of events are open."""
        return self._events.readers if self._events is not None else 0

    async def start(self) -> None:
        """Start watching the store, and start the supervisor of the other programs."""
        if self._supervisor is not None:
            self._supervisor.start()
        if self._events is not None:
            self._watching = asyncio.create_task(self._events.run())

    def end_streams(self) -> None:
        """End the streams, which keep the server from ending, and begin to end the programs that it has started."""
        if self._ending is None:
            closings = (self._supervisor.close(),) if self._supervisor is not None else ()
            self._ending = tuple(map(asyncio.create_task, closings))
        if self._end_streams is not None:
            self._end_streams()
        if self._events is not None:
            self._events.close()

    async def close(self) -> None:
        """Stop watching the store and building pages."""
        self.end_streams()
        await asyncio.gather(*self._ending or ())
        if self._end is not None:
            await self._end()
        if self._watching is not None:
            await self._watching
        await self.cache.close()
        await self._builder.close()


class _Sender:
    def __init__(self, send: Send, has_body: bool) -> None:
        self.has_begun = False
        self._send, self._has_body = send, has_body

    async def __call__(self, message: Message) -> None:
        self.has_begun = True
        if message["type"] == "http.response.body" and not self._has_body:
            message = {**message, "body": b""}
        await self._send(message)


_assets: dict[str, Rendered] = {}


async def _static(request: Request) -> Response:
    """Return a file; its address has its digest, so that browsers keep it for good."""
    name, digest = request.path_params["name"], request.path_params["digest"]
    if asset_digests().get(name) != digest:
        raise bad_address("There is no such file; the page that names it is older than this server.", 404)
    if name not in _assets:
        _assets[name] = rendered(asset(name), f"{CONTENT_TYPES[name.rpartition('.')[2]]}; charset=utf-8")
    return response_of(_assets[name], request.headers, {"cache-control": FOR_GOOD})


async def _to_first_page(_: Request) -> Response:
    return RedirectResponse("/", 308)


async def _robots(request: Request) -> Response:
    """Let search engines find all pages, but none of the twins and streams."""
    text = "User-agent: *\nDisallow: /*.json\nDisallow: /*.csv\nDisallow: /events\n"
    return response_of(rendered(text.encode(), "text/plain; charset=utf-8"), request.headers, {})
