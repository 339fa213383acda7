"""The gate: every operation passes it, and is refused there or done.

In this order: does it come from our own pages, who asks, may they, how often; only then is read what was sent. Whoever
may not do something learns nothing about it: the same response, whether it exists or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from math import ceil
from typing import Any
from urllib.parse import quote, urlencode

import anyio
import anyio.to_thread
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from arena.errors import UsageError
from arena.names import as_file_name
from arena.site.links import ServedLinks
from arena.site.render import Setting, render, render_template
from arena.store.people.people_store import PeopleStore
from arena.submissions.upload_directory import Received, UploadDirectory
from arena.text import counted, shortened_text
from arena.web.addresses import query_of
from arena.web.endpoint import Endpoint
from arena.web.observation import ACTOR
from arena.web.people.actor import Actor, actor_of, cookie_of
from arena.web.people.body import fields_of
from arena.web.people.client_address import address_of, network_of
from arena.web.people.description import description_of
from arena.web.people.followed_matches import HEADERS, FollowedMatches
from arena.web.people.homes import HomeBuilders, Homes
from arena.web.people.operation import (
    Document,
    Done,
    Download,
    Follow,
    OfHome,
    Operation,
    Result,
    ToBuild,
    ToShow,
    Visit,
    Who,
)
from arena.web.people.origin import check_encryption, check_origin, site_of
from arena.web.people.upload import receive_upload
from arena.web.problems import Problem, ProblemError, problem_of
from arena.web.rendered import NOT_KEPT, rendered, response_of

HTML, JSON = "text/html; charset=utf-8", "application/json"
THREADS = 4
PASSWORDS_AT_A_TIME = 2
"""Each takes 64 MiB."""

MAX_WAITING = 200
"""Requests for a thread."""

BUSY = Problem(
    status=503,
    title="Too much to do",
    error="Too many people ask at once; try again in a few seconds.",
    retry_after_seconds=5,
)

MAX_PLACE_CHARACTERS = 500


class Gate:
    """Answers requests for operations."""

    def __init__(
        self,
        people: PeopleStore,
        uploads: UploadDirectory,
        homes: Homes,
        links: ServedLinks,
        operations: Iterable[Operation],
    ) -> None:
        """Prepare.

        Args:
            people: the database.
            uploads: what is handed in.
            homes: where tournaments are.
            links: the addresses of pages.
            operations: what can be done.
        """
        self._people, self._uploads, self._homes, self._links = people, uploads, homes, links
        self._builders = HomeBuilders(homes)
        self._followed = FollowedMatches(people)
        self._threads = anyio.CapacityLimiter(THREADS)
        self._password_threads = anyio.CapacityLimiter(PASSWORDS_AT_A_TIME)
        self._by_path: dict[str, dict[str, Operation]] = {}
        for operation in operations:
            self._by_path.setdefault(operation.path, {})[operation.method] = operation

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses of the operations."""
        return tuple(
            _endpoint(path, self._answering(by_method), by_method) for path, by_method in self._by_path.items()
        )

    def end_streams(self) -> None:
        """End the streams, which would else keep the server from ending."""
        self._followed.end_streams()

    async def close(self) -> None:
        """End the streams, and the processes that build pages."""
        await self._followed.close()
        await self._builders.close()

    def _answering(self, by_method: dict[str, Operation]) -> Any:
        async def answer(request: Request) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            return await self._answer(request, by_method[method])

        return answer

    async def _answer(self, request: Request, operation: Operation) -> Response:
        if operation.method != "GET":
            check_origin(request)
        if not operation.is_in_the_open:
            check_encryption(request)
        actor = await anyio.to_thread.run_sync(self._admit, request, operation, limiter=self._threads)
        if actor is None:
            return _to_sign_in(request)
        request.scope[ACTOR] = actor.number
        sent, received = query_of(request.scope["query_string"]), None
        try:
            if operation.takes_upload:
                fields, received = await receive_upload(request, self._uploads, actor.number)
                sent |= fields
            elif operation.method != "GET":
                sent = await fields_of(request, operation.max_body_bytes)
            sent |= request.path_params
            visit, result = await self._do(request, operation, actor, sent, received)
        except (UsageError, ValidationError) as error:
            if operation.form and not wants_json(request):
                return await self._form_again(request, operation, actor, sent, _problem(error))
            raise ProblemError(_problem(error)) from error
        finally:
            if received is not None:
                await anyio.to_thread.run_sync(self._remove_unless_kept, received, limiter=self._threads)
        match result:
            case Done():
                return _done(request, result)
            case Download():
                return _download(result)
            case Document():
                return _document(request, result)
            case OfHome():
                return _of_home(request, result)
            case Follow():
                if request.method == "HEAD":
                    return Response(headers=HEADERS)
                may_follow = partial(self._may_still, request, operation, actor)
                return self._followed.follow(result.number, result.shown, may_follow)
        return self._shown(request, operation, visit, result)

    def _remove_unless_kept(self, received: Received) -> None:
        """Remove an upload that became no submission."""
        if not self._people.submissions.has_upload(received.name):
            self._uploads.remove(received.name)

    async def _do(
        self,
        request: Request,
        operation: Operation,
        actor: Actor,
        sent: dict[str, Any],
        received: Received | None = None,
    ) -> tuple[Visit, Result]:
        visit = Visit(
            actor=actor,
            fields=operation.fields.model_validate(sent),
            people=self._people,
            uploads=self._uploads,
            homes=self._homes,
            received=received,
            site=site_of(request),
            address=address_of(request),
            device=request.headers.get("user-agent", ""),
        )
        limiter = self._password_threads if operation.takes_password else self._threads
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise ProblemError(BUSY)
        result = await anyio.to_thread.run_sync(operation.handler, visit, limiter=limiter)
        if isinstance(result, ToBuild):
            models = [await self._builders.newest(result.home, *page) for page in result.pages]
            result = await anyio.to_thread.run_sync(result.finish, models, limiter=self._threads)
        elif isinstance(result, ToShow):
            is_program = wants_json(request)
            found = [await self._builders.kept(result.home, *page, is_program=is_program) for page in result.pages]
            result = await anyio.to_thread.run_sync(result.finish, found, limiter=self._threads)
        return visit, result

    async def _form_again(
        self, request: Request, operation: Operation, actor: Actor, sent: dict[str, Any], problem: Problem
    ) -> Response:
        """Return the page with the form, with what is wrong and what was sent; if that fails as well, what is wrong."""
        page = self._by_path[operation.form]["GET"]
        known = {name: value for name, value in sent.items() if name in page.fields.model_fields}
        try:
            visit, model = await self._do(request, page, actor, known)
        except (UsageError, ValidationError) as error:
            raise ProblemError(problem) from error
        return self._shown(request, page, visit, model, problem, sent)

    def _admit(self, request: Request, operation: Operation) -> Actor | None:
        """Return who may do it; None for a visitor who has to sign in first.

        Raises:
            ProblemError: if they may not, or not so often.
        """
        actor = actor_of(request, self._people)
        if may(actor, operation):
            has_person = actor.person is not None and operation.who is not Who.ANYBODY
            self._count(operation, f"person {actor.number}" if has_person else network_of(address_of(request)))
            return actor
        if actor.person is None:
            if operation.method == "GET" and not wants_json(request):
                return None
            raise ProblemError(Problem(status=401, title="Sign in first", error="Only who has signed in may do this."))
        who = "This token" if actor.token is not None else f"Your role, {actor.person.role},"
        raise ProblemError(Problem(status=403, title="Not allowed", error=f"{who} may not do this."))

    def _may_still(self, request: Request, operation: Operation, actor: Actor) -> bool:
        """Return whether who asked is still who they were, and may do it."""
        try:
            now = actor_of(request, self._people)
        except ProblemError:
            return False
        return now.number == actor.number and may(now, operation)

    def _count(self, operation: Operation, whose: str) -> None:
        if operation.rate is not None:
            wait = self._people.rates.take(f"{operation.path} {whose}", operation.rate)
            if wait:
                raise too_often(wait)

    def _shown(
        self,
        request: Request,
        operation: Operation,
        visit: Visit,
        model: Any,
        problem: Problem | None = None,
        sent: dict[str, Any] | None = None,
    ) -> Response:
        headers = {"cache-control": NOT_KEPT} | ({"retry-after": "1"} if operation.is_late(model) else {})
        if wants_json(request) or not operation.template:
            response = response_of(rendered(model.model_dump_json().encode(), JSON), request.headers, headers)
        else:
            html = render_template(
                operation.template,
                self._setting(operation, model) if problem is None else Setting(links=self._links),
                room=operation.room,
                twin=None,
                model=model,
                actor=visit.actor,
                error=problem.error if problem is not None else "",
                sent=sent or {},
            )
            status = problem.status if problem is not None else 200
            response = response_of(rendered(html.encode(), HTML), request.headers, headers, status)
        response.headers["vary"] += ", Cookie, Authorization"
        return response

    def _setting(self, operation: Operation, model: Any) -> Setting:
        return Setting(
            links=self._links,
            topics=operation.topics(model),
            is_asked_for_again=operation.is_asked_for_again(model),
        )


def _endpoint(path: str, handler: Any, by_method: Mapping[str, Operation]) -> Endpoint:
    return Endpoint(
        path=path,
        handler=handler,
        methods=tuple(by_method),
        descriptions=lambda: {method: description_of(operation) for method, operation in by_method.items()},
    )


def _problem(error: UsageError | ValidationError) -> Problem:
    """Return the problem for what was sent. It does not repeat values: one of them may be a password."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        name = shortened_text(".".join(map(str, first["loc"])))
        problem = Problem(status=400, title="Not done", error=f"{name!r}: {first['msg'][:1].lower()}{first['msg'][1:]}")
    else:
        problem = problem_of(error).model_copy(update={"title": "Not done"})
    sentence = problem.error[:1].upper() + problem.error[1:]
    sentence = sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."
    return problem.model_copy(update={"error": sentence})


def may(actor: Actor, operation: Operation) -> bool:
    """Return whether somebody may do it."""
    if operation.only_in_browser and actor.session is None:
        return False
    match operation.who:
        case Who.ANYBODY:
            return True
        case Who.MEMBER:
            return actor.person is not None
        case Who.MEMBER_IN_BROWSER:
            return actor.session is not None
        case Who.PROGRAM:
            return actor.token is not None
    return operation.who in actor.permissions


def too_often(wait_seconds: float) -> ProblemError:
    """Return the refusal of what was done too often."""
    seconds = ceil(wait_seconds)
    sentence = f"This was done too often; try again in {counted(seconds, 'second')}."
    return ProblemError(Problem(status=429, title="Too often", error=sentence, retry_after_seconds=seconds))


def place_of_ours(text: str) -> str:
    """Return a path that is on this site for certain: what else was sent becomes the account."""
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= MAX_PLACE_CHARACTERS
    return text if is_plain and text.startswith("/") and not text.startswith("//") else "/account"


def wants_json(request: Request) -> bool:
    """Return whether a program asks."""
    accepted = request.headers.get("accept", "").lower()
    return "application/json" in accepted and "text/html" not in accepted


def _done(request: Request, done: Done) -> Response:
    if wants_json(request):
        body = json.dumps({"done": done.sentence, "to": done.to}).encode()
        response = response_of(rendered(body, JSON), request.headers, {"cache-control": NOT_KEPT})
    else:
        response = Response(status_code=303, headers={"location": done.to, "cache-control": NOT_KEPT})
    if done.session is not None:
        response.headers["set-cookie"] = cookie_of(request, done.session or None)
    return response


def _download(result: Download) -> Response:
    """Return a file that no browser shows or runs, whatever is in it."""
    headers = {"cache-control": NOT_KEPT, "content-security-policy": "sandbox"}
    name = as_file_name(result.name).encode("ascii", "replace").decode()
    return FileResponse(result.path, headers=headers, media_type="application/octet-stream", filename=name)


def _document(request: Request, result: Document) -> Response:
    """Return bytes as a file that no browser shows or runs."""
    name = as_file_name(result.name).encode("ascii", "replace").decode()
    headers = {
        "cache-control": NOT_KEPT,
        "content-security-policy": "sandbox",
        "content-disposition": f'attachment; filename="{name}"',
    }
    return response_of(rendered(result.content, result.media_type), request.headers, headers)


def _of_home(request: Request, result: OfHome) -> Response:
    """Return a page of another home."""
    if wants_json(request):
        content, kind = result.model.model_dump_json().encode(), JSON
    else:
        setting = Setting(
            links=result.links,
            is_asked_for_again=True,
            notice=result.notice,
            notice_address=result.notice_address,
        )
        content, kind = render(result.page, result.parameters, result.model, setting).encode(), HTML
    response = response_of(rendered(content, kind), request.headers, {"cache-control": NOT_KEPT})
    response.headers["vary"] += ", Cookie, Authorization"
    return response


def _to_sign_in(request: Request) -> Response:
    query = request.scope["query_string"].decode("latin-1")
    place = quote(request.url.path) + (f"?{query}" if query else "")
    headers = {"location": f"/sign-in?{urlencode({'next': place_of_ours(place)})}", "cache-control": NOT_KEPT}
    return Response(status_code=303, headers=headers)
