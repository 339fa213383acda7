"""The response with a page, or with a problem: as HTML, as JSON or as CSV.

A response with ``Retry-After`` is not up to date: a newer one is being built.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from math import ceil
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from arena.base.text import minute_text
from arena.server.http.builders import BUSY
from arena.server.http.observation import IS_EMBEDDABLE
from arena.server.http.page_cache import Found, PageCache
from arena.server.http.page_value import (
    HURRIED_SECONDS,
    LATE_SECONDS,
    NOT_KEPT,
    PAGE_CACHING,
    Rendered,
    Value,
    rendered,
    response_of,
)
from arena.server.http.problems import CHANGING, Problem, require_parameters, unavailable
from arena.server.http.topics import CONTESTS
from arena.site.frame.model import Frozen, Lane, Page, Parameters
from arena.site.links import ServedLinks
from arena.site.matches.match_model import MatchPage, MatchParameters
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.overview_model import HealthPage, OverviewPage, OverviewParameters
from arena.site.render import Setting, render, render_template

FIRST_PAGE = OverviewParameters()
"""The parameters of the first page; its further pages have no board."""

HOLD_SECONDS = 10.0
"""How long a board stays at least: nobody can follow shorter matches, and each board costs a builder."""
BOARD_SECONDS = 1.0
"""How long a reader waits for a board that was never built."""
NEWER_BOARD_SECONDS = HURRIED_SECONDS
SERVER_FAILED = 500
"""From this status on, another try may succeed, as after a builder that took too long on a busy machine."""


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
    """Chooses the match for the first page, and holds it for a while."""

    def __init__(self, cache: PageCache, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._cache, self._now = cache, now
        self._overview_read: Value | None = None
        self._newest_match: tuple[str, int] | None = None
        self._held_match: tuple[str, int] | None = None
        self._held_until = float("-inf")

    async def board(self, overview: Value) -> FeaturedBoard | None:
        """Return the board for a value of the first page; None without one."""
        if overview is not self._overview_read:
            self._newest_match = await anyio.to_thread.run_sync(
                lambda: OverviewPage.model_validate_json(overview.json).featured
            )
            self._overview_read = overview
        if self._newest_match != self._held_match and (self._now() >= self._held_until or self._newest_match is None):
            self._held_match, self._held_until = self._newest_match, self._now() + HOLD_SECONDS
        if self._held_match is None:
            return None
        tournament, match = self._held_match
        page, parameters = PAGE_BY_NAME["match"], MatchParameters(tournament=tournament, match=match)
        found = await self._cache.find(page, parameters, BOARD_SECONDS, NEWER_BOARD_SECONDS)
        if found.value is None and found.problem is not None:
            self._held_until = float("-inf")  # the match may be gone: choose again for the next reader
        version = "" if found.value is None else f"{found.value.version} {found.value.built_at}"
        return FeaturedBoard(
            value=found.value,
            is_late=not found.is_current and (found.problem is None or found.problem.status >= SERVER_FAILED),
            topics=page.topics_of(parameters),
            key=f"{tournament}/{match} {version}",
        )


HTML, JSON, CSV = "text/html; charset=utf-8", "application/json", "text/csv; charset=utf-8"

FIRST_SECONDS = {Lane.ROWS: 5.0, Lane.RATINGS: 0.3, Lane.BOARDS: 10.0}
"""How long a person waits for a page that was never built, before a page says that it is being built: only where
ratings are computed is that likely. Where a queue for the builder takes longer, the page says so at once.
"""

PROGRAM_SECONDS = 20.0
"""How long a program waits for the same."""

PENDING = unavailable("Not computed yet", "The arena is still computing this page; try again in a few seconds.", 5)
LEADING_TO_MATCHES = frozenset({"tournament", "bot"})
"""The fields of pages that lead to a match: a builder for its board starts meanwhile."""

RENDERING_THREADS = 2


class PageResponses:
    """Makes the responses."""

    def __init__(
        self,
        cache: PageCache,
        links: ServedLinks,
        health: Callable[[], Awaitable[HealthPage]],
        frozen: Callable[[str], Frozen | None] = lambda _: None,
    ) -> None:
        self._cache, self._links, self._health, self._frozen = cache, links, health, frozen
        self._threads = anyio.CapacityLimiter(RENDERING_THREADS)
        self._featured = FeaturedMatch(cache)

    async def page(
        self, request: Request, page: Page, fields: Mapping[str, str], query: dict[str, str], suffix: str
    ) -> Response:
        """Return the response with a page, from the fields of the path, those of the query, and the suffix."""
        suffix = suffix or (".json" if wants_json(request) else "")
        table = query.pop("table", None) if suffix == ".csv" else None
        require_parameters(page.parameters, fields.keys(), query)
        parameters = page.parameters.model_validate({**query, **fields})
        request.scope[IS_EMBEDDABLE] = parameters.may_be_framed
        if page.lane is Lane.SERVER:
            return await self._server_page(request, page, parameters, suffix, table)
        found = await self._find(request, page, parameters, is_program=bool(suffix))
        if found.value is None:
            return self._without_value(request, found.problem, suffix)
        if not suffix and LEADING_TO_MATCHES & fields.keys() and not _prefers_to_wait(request):
            self._cache.prepare(Lane.BOARDS)
        frozen = self._frozen(fields["tournament"]) if "tournament" in fields else None
        board = await self._featured.board(found.value) if parameters == FIRST_PAGE and not suffix else None
        setting = self._setting(page, parameters, found, frozen, board.topics if board else ())
        match = board.value if board else None
        make = partial(self._rendered, page, parameters, found.value, suffix, table, setting, match)
        aged = {} if found.age_seconds is None else {"age": f"{found.age_seconds:.0f}"}
        if found.is_store_away:
            rendering = await make()  # not kept, as it shows its age
            headers = {"cache-control": NOT_KEPT, "retry-after": "5", **aged}
        else:
            notice = (
                f"{frozen.address} {frozen.sentence}"
                if frozen is not None and suffix != ".csv"
                else board.key
                if board
                else ""
            )
            rendering = await found.value.rendered(suffix, table, make, f"{notice} {setting.as_of}")
            self._cache.count(page, parameters)
            late = {"cache-control": NOT_KEPT, "retry-after": str(ceil(found.ready_seconds)), **aged}
            is_current = found.is_current and not (board and board.is_late)
            headers = {"cache-control": PAGE_CACHING} if is_current else late
        return response_of(rendering, request.headers, headers)

    async def _find(self, request: Request, page: Page, parameters: Parameters, *, is_program: bool) -> Found:
        seconds = FIRST_SECONDS[page.lane]
        first_seconds = PROGRAM_SECONDS if is_program else self._cache.worth_waiting(page.lane, seconds)
        late_seconds = LATE_SECONDS if is_program or _prefers_to_wait(request) else HURRIED_SECONDS
        return await self._cache.find(page, parameters, first_seconds, late_seconds)

    async def _server_page(
        self, request: Request, page: Page, parameters: Parameters, suffix: str, table: str | None
    ) -> Response:
        model = await self._health()
        value = Value(model.model_dump_json().encode(), "", 0.0, 0.0)
        rendering = await self._rendered(page, parameters, value, suffix, table, Setting(links=self._links))
        status = 200 if model.is_well else 503
        return response_of(rendering, request.headers, {"cache-control": NOT_KEPT}, status)

    def _setting(
        self, page: Page, parameters: Parameters, found: Found, frozen: Frozen | None, others: tuple[str, ...]
    ) -> Setting:
        assert found.value is not None
        topics = (*page.topics_of(parameters), *others)
        known_at = datetime.now(UTC) - timedelta(seconds=found.age_seconds or 0.0)
        return Setting(
            links=self._links,
            topics=topics if frozen is None else (*topics, CONTESTS.path),
            age_seconds=found.age_seconds if found.is_store_away else None,
            as_of="" if found.age_seconds is None or found.is_store_away else minute_text(known_at.isoformat()),
            frozen=frozen if frozen is not None and frozen.sentence else None,
            contest=frozen.address if frozen is not None else "",
        )

    async def _rendered(
        self,
        page: Page,
        parameters: Parameters,
        value: Value,
        suffix: str,
        table: str | None,
        setting: Setting,
        match: Value | None = None,
    ) -> Rendered:
        def make() -> Rendered:
            if suffix == ".json" and setting.frozen is None:
                return rendered(value.json, JSON)
            model = page.model.model_validate_json(value.json)
            if suffix == ".json":
                return rendered(model.model_copy(update={"frozen": setting.frozen}).model_dump_json().encode(), JSON)
            if suffix == ".csv":
                return rendered(model.csv(table).encode(), CSV)
            featured = None if match is None else MatchPage.model_validate_json(match.json)
            return rendered(render(page, parameters, model, setting, featured).encode(), HTML)

        return await anyio.to_thread.run_sync(make, limiter=self._threads)

    def _without_value(self, request: Request, problem: Problem | None, suffix: str) -> Response:
        if problem is not None and (suffix or problem not in (BUSY, CHANGING)):
            return self.problem(request, problem, suffix)
        if suffix:
            return self.problem(request, PENDING, suffix)
        headers = {"cache-control": NOT_KEPT, "retry-after": "1" if problem is None else "5"}
        return response_of(self._pending, request.headers, headers, 202)

    @cached_property
    def _pending(self) -> Rendered:
        html = render_template("pending", Setting(links=self._links), room="", twin=None)
        return rendered(html.encode(), HTML)

    def problem(self, request: Request, problem: Problem, suffix: str = "") -> Response:
        """Return the response that says what is wrong: as JSON to programs, else as a page."""
        headers = {"cache-control": NOT_KEPT}
        if problem.retry_after_seconds is not None:
            headers["retry-after"] = str(problem.retry_after_seconds)
        if suffix or wants_json(request) or request.scope["path"].endswith((".json", ".csv")):
            shown: dict[str, Any] = {"error": problem.error, "status": problem.status, "title": problem.title}
            if problem.fields:
                shown["fields"] = [field.model_dump() for field in problem.fields]
            body = json.dumps(shown)
            return response_of(rendered(body.encode(), JSON), request.headers, headers, problem.status)
        setting = Setting(links=self._links)
        values: dict[str, Any] = {"room": "", "twin": None, "title": problem.title, "sentence": problem.error}
        values["suggested"] = problem.suggested
        html = render_template("error", setting, **values)
        return response_of(rendered(html.encode(), HTML), request.headers, headers, problem.status)

    def method_not_allowed(self, request: Request, allowed: Iterable[str]) -> Response:
        """Return the response to a method that is not answered; the body of the request is not read."""
        names = ", ".join(allowed)
        error = f"{request.method} is not allowed at this address; expected {names}."
        response = self.problem(request, Problem(status=405, title="Nothing to change here", error=error))
        response.headers["allow"] = names
        response.headers["connection"] = "close"
        return response


def wants_json(request: Request) -> bool:
    """Return whether the client asks for JSON, as programs do."""
    accepted = request.headers.get("accept", "").lower()
    return "application/json" in accepted and "text/html" not in accepted


def _prefers_to_wait(request: Request) -> bool:
    """Return whether a client prefers to wait for the newest value (RFC 7240, 4.3), as live pages do after an event."""
    preferences = request.headers.get("prefer", "").lower().split(",")
    return any(preference.strip().startswith("wait=") for preference in preferences)
