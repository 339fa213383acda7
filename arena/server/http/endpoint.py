"""Addresses that are not pages: their descriptions for programs, reports of browsers, feeds, and the guide."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp

from arena.analysis.text.tables import printable
from arena.base.errors import nearest, suggestion
from arena.base.text import shortened_text
from arena.server.http.addresses import LOCAL
from arena.server.http.page_value import PAGE_CACHING, Rendered, rendered, response_of
from arena.server.http.problems import Problem, ProblemError, bad_address
from arena.server.http.topics import Topic
from arena.server.http.watcher import Watcher
from arena.site.frame.model import MAX_NAME_CHARACTERS
from arena.site.guide import GUIDE, example_bot, guide_contents, guide_names, guide_page
from arena.site.links import ServedLinks
from arena.site.pages.results import bot_feed, tournament_feed
from arena.site.render import Setting, feed_xml, render_template
from arena.store.home import ArenaHome

Handler = Callable[[Request], Awaitable[ASGIApp]]
"""Returns the response to a request, which may raise our errors until it begins; the fields of the path are in
``request.path_params``.
"""


REFUSALS = {
    405: "Only GET and HEAD are answered.",
    421: "The request names a host that is not this one.",
    422: "What is stored can't be shown, or the rules of the game fail.",
}
"""The refusals of any GET."""
TOO_LONG = {414: "The address is too long."}
"""The refusal of an address with a field in its path."""
NAME_SCHEMA = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARACTERS}
NOT_CHANGED = {"304": {"description": "It is as `If-None-Match` says."}}


class Description(NamedTuple):
    """An operation as an OpenAPI object, and the schemas of the models in it."""

    operation: Mapping[str, Any]
    schemas: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that is no page.

    Attributes:
        operation: its description in the OpenAPI document; None to leave it out.
        descriptions: returns the same by method; called when somebody asks for the document, for it takes long.
    """

    path: str
    handler: Handler
    methods: tuple[str, ...] = ("GET",)
    operation: Mapping[str, Any] | None = field(default=None)
    descriptions: Callable[[], Mapping[str, Description]] = field(default=dict)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The methods that are answered."""
        return (*self.methods, "HEAD") if "GET" in self.methods else self.methods


def operation(
    summary: str, content_type: str, parameters: Sequence[Mapping[str, Any]], refusals: dict[int, str]
) -> dict[str, Any]:
    """Return the OpenAPI description of an endpoint that is read, with what statuses mean there."""
    answers = {str(status): problem_answer(meaning) for status, meaning in sorted((REFUSALS | refusals).items())}
    return {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {"200": {"description": summary, "content": {content_type: {}}}, **answers},
    }


def operation_of_names(
    summary: str, content_type: str, names: Sequence[str], missing: str, refusals: dict[int, str] | None = None
) -> dict[str, Any]:
    """Return the same for an endpoint with names in its path; ``missing`` says that nothing has them."""
    parameters = [{"name": name, "in": "path", "required": True, "schema": NAME_SCHEMA} for name in names]
    refused = {400: "The address is not right.", 404: missing, **TOO_LONG} if names else {}
    described = operation(summary, content_type, parameters, refused | (refusals or {}))
    return {**described, "responses": described["responses"] | NOT_CHANGED}


def problem_answer(meaning: str) -> dict[str, Any]:
    """Return the description of a response that is a problem."""
    problem = {"text/html": {"schema": {"type": "string"}}}
    problem |= {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": meaning, "content": problem}


# The body of a request, bounded while it is read.


async def read_body(request: Request, what: str, max_bytes: int, seconds: float) -> bytes:
    """Return the body of a request; ``what`` begins the sentence of the ProblemError if it is too long or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > max_bytes:
                    raise not_taken(413, f"{what} has at most {max_bytes} bytes.")
    except TimeoutError:
        raise not_taken(408, f"{what} comes within {seconds:g} s.") from None
    return bytes(body)


def content_type_of(request: Request) -> str:
    """Return the type of the body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def not_taken(status: int, sentence: str) -> ProblemError:
    """Return the error for a body that is not taken."""
    return ProblemError(Problem(status=status, title="Not taken", error=sentence))


# Browsers report what the content security policy has blocked on a page: all reports are counted, and a few logged.

MAX_REPORT_BYTES = 8 * 1024
MAX_LOGGED_PER_MINUTE = 10
MAX_LOGGED_CHARACTERS = 500
BODY_SECONDS = 5.0

_MAYBE_SECRET = re.compile(r"[A-Za-z0-9_-]{32,}")
"""A report has the address of its page, and the address of an invitation is as good as a password."""

CONTENT_TYPES = ("application/csp-report", "application/reports+json", "application/json")

_log = logging.getLogger("arena.server.http")


class CspReports:
    """Counts the reports since the server started."""

    def __init__(self) -> None:
        self.count = self._logged = 0
        self._minute_began = time.monotonic()

    async def receive(self, request: Request) -> Response:
        """Take a report; raise ProblemError if it is too long, or not a report."""
        if content_type_of(request) not in CONTENT_TYPES:
            raise not_taken(415, f"Expected one of the types {', '.join(CONTENT_TYPES)}.")
        self._take(await read_body(request, "A report", MAX_REPORT_BYTES, BODY_SECONDS))
        return Response(status_code=204)

    def _take(self, body: bytes) -> None:
        self.count += 1
        if time.monotonic() - self._minute_began >= 60.0:
            self._minute_began, self._logged = time.monotonic(), 0
        self._logged += 1
        if self._logged <= MAX_LOGGED_PER_MINUTE:
            text = _MAYBE_SECRET.sub("{secret}", body.decode("utf-8", "replace"))
            text = printable(text[:MAX_LOGGED_CHARACTERS])
            _log.warning("a browser reports a violation of the content security policy: %s", text)


CONTENT_TYPE = "application/atom+xml; charset=utf-8"
MAX_KEPT = 50


class Feeds:
    """Answers with feeds; each is built again when something has changed."""

    def __init__(self, home: Callable[[], ArenaHome], versions: Watcher) -> None:
        self._home = home
        self._versions = versions
        self._rendered = lru_cache(MAX_KEPT)(self._render)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses of feeds."""
        return tuple(
            Endpoint(
                path=f"/{kind}s/{{{kind}}}/feed.atom",
                handler=partial(self._answer, kind),
                operation=operation_of_names(
                    f"The latest results of a {kind}, as an Atom feed.",
                    "application/atom+xml",
                    [kind],
                    f"There is no such {kind}.",
                    {503: "The store can't be read."},
                ),
            )
            for kind in ("tournament", "bot")
        )

    async def _answer(self, kind: str, request: Request) -> Response:
        name = request.path_params[kind]
        topics = [(Topic(name) if kind == "tournament" else Topic(bots=(name,))).path]
        versions = (self._versions.version_of(topics), self._versions.corrections_of(topics))
        site = f"{request.url.scheme}://{request.url.netloc}"
        rendering = await anyio.to_thread.run_sync(self._rendered, kind, name, site, versions)
        return response_of(rendering, request.headers, {"cache-control": PAGE_CACHING})

    def _render(self, kind: str, name: str, site: str, _versions: tuple[object, ...]) -> Rendered:
        page = f"/{kind}s/{quote(name, safe='@' if kind == 'bot' else '')}"
        feed = (tournament_feed if kind == "tournament" else bot_feed)(self._home(), name)
        return rendered(feed_xml(feed, site, f"{page}/feed.atom", page), CONTENT_TYPE)


# ``/guide``: how to write a bot and submit it here, and the documentation.


HTML = "text/html; charset=utf-8"
MAX_KEPT_PAGES = 100
ELSEWHERE = {"/docs": GUIDE, "/help": GUIDE, "/about": GUIDE, "/protocol": f"{GUIDE}/protocol"}
"""Addresses that people guess, and the pages they mean."""


class Guide:
    """Answers with the pages of the guide; their commands have the address under which the client reached the site."""

    def __init__(self, links: ServedLinks) -> None:
        self._links = links
        self._rendered = lru_cache(MAX_KEPT_PAGES)(self._render)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses of the guide, and others that lead there."""
        other_addresses = ELSEWHERE if self._links.play else {**ELSEWHERE, "/play": f"{GUIDE}/playing_in_the_browser"}
        fields = {GUIDE: (), f"{GUIDE}/{{page}}": ("page",), f"{GUIDE}/{{chapter}}/{{page}}": ("chapter", "page")}
        return (
            *(Endpoint(path=path, handler=self._answer, operation=_operation(names)) for path, names in fields.items()),
            *(Endpoint(path=path, handler=_leading_to(target)) for path, target in other_addresses.items()),
        )

    async def _answer(self, request: Request) -> Response:
        name = "/".join(request.path_params.values())
        if name and name not in guide_names():
            sentence = f"There is no page {shortened_text(name)!r} in the guide: {suggestion(name, guide_names())}"
            near = nearest(name, guide_names())
            raise bad_address(sentence, 404, GUIDE if near is None else f"{GUIDE}/{near}")
        site = f"{request.url.scheme}://{request.url.netloc}"
        rendering = await anyio.to_thread.run_sync(self._rendered, site, name)
        return response_of(rendering, request.headers, {"cache-control": PAGE_CACHING})

    def _render(self, site: str, name: str) -> Rendered:
        setting = Setting(links=self._links)
        page = guide_page(name)
        if page is not None:
            page = page if self._links.account else page.without_accounts()
            values = {"page": page, "site": site}
            html = render_template("guide_page", setting, room="guide", twin=None, **values)
        else:
            html = render_template(
                "guide",
                setting,
                room="guide",
                twin=None,
                bot=example_bot(),
                manifest=NEXT_MANIFEST,
                commands=_commands(site) if self._links.account else LOCAL_COMMANDS,
                contents=guide_contents(),
                has_readme="readme" in guide_names(),
                has_tonight="tonight" in guide_names(),
            )
        return rendered(html.encode(), HTML)


NEXT_MANIFEST = ('name = "my_bot"', 'version = "2"', 'command = ["python3", "my_bot.py"]')
"""Of the second version of the example; a file alone is always version 1."""
LOCAL_COMMANDS = ("arena play plaid my_bot.py arena:random_legal", "arena check my_bot.py")


def _commands(site: str) -> tuple[str, ...]:
    is_plain = site.startswith("http://") and site.removeprefix("http://").rsplit(":", 1)[0].strip("[]") not in LOCAL
    option = " --plain-http" if is_plain else ""
    return (*LOCAL_COMMANDS, f"arena site login {site}{option}", f"arena submit my_bot.py --to {site}{option}")


def _leading_to(target: str) -> Handler:
    async def answer(_: Request) -> Response:
        return RedirectResponse(target, 307)  # temporary, as the site may be opened to people later

    return answer


def _operation(names: tuple[str, ...]) -> dict[str, object]:
    summary = "A page of the guide." if names else "How to write a bot and submit it here, and the documentation."
    return operation_of_names(summary, "text/html", names, "The guide has no such page.")
