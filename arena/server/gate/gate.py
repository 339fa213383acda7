"""The gate: checks every operation in this order: origin, person, permission, rate; then reads what was sent.

A person who may not do something learns nothing about it: the response is the same whether it exists or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import starmap
from math import ceil
from typing import Any

import anyio
import anyio.to_thread
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from arena.base.errors import UsageError
from arena.base.text import counted
from arena.community.submissions.upload_directory import Received, UploadDirectory
from arena.server.gate.description import description_of
from arena.server.gate.followed_matches import FollowedMatches
from arena.server.gate.homes import HomeBuilders, Homes
from arena.server.gate.operation import (
    Document,
    Done,
    Download,
    Follow,
    OfHome,
    Operation,
    Result,
    ToShow,
    Visit,
    Who,
)
from arena.server.gate.request import (
    Actor,
    actor_of,
    check_encryption,
    check_origin,
    fields_of,
    receive_upload,
    site_of,
)
from arena.server.gate.responses import (
    NO_REFUSAL,
    Refusal,
    document_response,
    done_response,
    download_response,
    home_page_response,
    page_response,
    problem_of_sent,
    to_sign_in,
)
from arena.server.http.addresses import address_of, network_of, query_of
from arena.server.http.endpoint import Endpoint
from arena.server.http.events import HEADERS
from arena.server.http.observation import ACTOR
from arena.server.http.page_response import wants_json
from arena.server.http.problems import AwayLog, Problem, ProblemError, unavailable
from arena.site.frame.model import Model, Page, Parameters
from arena.site.links import ServedLinks
from arena.store.people.people_store import PeopleStore
from arena.store.people.rates import Rate
from arena.store.people.values import PERMISSIONS, SCOPE_PERMISSIONS, Permission, Role

THREADS = 4
PASSWORDS_AT_A_TIME = 2
"""Each takes 64 MiB."""

MAX_WAITING = 200
"""Requests for a thread."""

BUSY = unavailable("Too much to do", "Too many people ask at once; try again in a few seconds.", 5)


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
        self._people, self._uploads, self._homes, self._links = people, uploads, homes, links
        self._builders = HomeBuilders(homes)
        self._followed = FollowedMatches(people)
        self._away_log = AwayLog()
        self._threads = anyio.CapacityLimiter(THREADS)
        self._password_threads = anyio.CapacityLimiter(PASSWORDS_AT_A_TIME)
        self._by_path: dict[str, dict[str, Operation]] = {}
        for operation in operations:
            self._by_path.setdefault(operation.path, {})[operation.method] = operation

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses of the operations."""
        return tuple(starmap(self._endpoint, self._by_path.items()))

    def end_streams(self) -> None:
        """End the streams, which keep the server from ending."""
        self._followed.end_streams()

    async def close(self) -> None:
        """End the streams, and the processes that build pages."""
        await self._followed.close()
        await self._builders.close()

    def _endpoint(self, path: str, by_method: Mapping[str, Operation]) -> Endpoint:
        async def answer(request: Request) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            return await self._answer(request, by_method[method])

        return Endpoint(
            path=path,
            handler=answer,
            methods=tuple(by_method),
            descriptions=lambda: {method: description_of(operation) for method, operation in by_method.items()},
        )

    async def _answer(self, request: Request, operation: Operation) -> Response:
        if operation.method != "GET":
            check_origin(request)
        if not operation.is_in_the_open:
            check_encryption(request)
        actor = await anyio.to_thread.run_sync(self._admitted_actor, request, operation, limiter=self._threads)
        if actor is None:
            return to_sign_in(request)
        request.scope[ACTOR] = actor.number
        sent, received = query_of(request.scope["query_string"]), None
        result: Result | Problem
        try:
            if operation.takes_upload:
                fields, received = await receive_upload(request, self._uploads, actor.number)
                sent |= fields
            elif operation.method != "GET":
                sent = await fields_of(request, operation.max_body_bytes)
            if operation.method != "GET" and operation.who is not Who.ANYBODY:
                await anyio.to_thread.run_sync(self._admit_again, request, operation, actor, limiter=self._threads)
            sent |= request.path_params
            visit, result = await self._run_operation(request, operation, actor, sent, received)
        except (UsageError, ValidationError) as error:
            self._away_log.note(error)
            problem = problem_of_sent(request, operation, sent, error)
            if not operation.form or wants_json(request):
                raise ProblemError(problem) from error
            result = problem
        finally:
            if received is not None:
                await anyio.to_thread.run_sync(self._remove_unless_kept, received, limiter=self._threads)
        match result:
            case Problem():  # not in the except clause: else logs would link an error of the page to the form
                return await self._form_again(request, operation, actor, sent, result)
            case Done():
                return done_response(request, result)
            case Download():
                return download_response(result)
            case Document():
                return document_response(request, result)
            case OfHome():
                return home_page_response(request, result)
            case Follow():
                if request.method == "HEAD":
                    return Response(headers=HEADERS)
                may_follow = partial(self._may_still, request, operation, actor)
                network = network_of(address_of(request))
                return self._followed.follow(result.number, result.shown, may_follow, network)
        return await self._page(request, operation, visit, result)

    async def _page(
        self, request: Request, operation: Operation, visit: Visit, model: Any, refusal: Refusal = NO_REFUSAL
    ) -> Response:
        unseen: Mapping[int, int] = {}
        if visit.actor.session is not None and not wants_json(request):
            unseen = await anyio.to_thread.run_sync(lambda: visit.unseen, limiter=self._threads)
        return page_response(request, operation, self._links, visit.actor, model, sum(unseen.values()), refusal)

    def _remove_unless_kept(self, received: Received) -> None:
        if not self._people.submissions.has_upload(received.name):
            self._uploads.remove(received.name)

    async def _run_operation(
        self,
        request: Request,
        operation: Operation,
        actor: Actor,
        sent: dict[str, Any],
        received: Received | None = None,
    ) -> tuple[Visit, Result]:
        visit = Visit(
            actor=actor,
            people=self._people,
            uploads=self._uploads,
            homes=self._homes,
            received=received,
            site=site_of(request),
            address=address_of(request),
            device=request.headers.get("user-agent", ""),
        )
        fields = operation.fields.model_validate(sent)
        limiter = self._password_threads if operation.takes_password else self._threads
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise ProblemError(BUSY)
        result = await anyio.to_thread.run_sync(operation.handler, visit, fields, limiter=limiter)
        if isinstance(result, ToShow):
            models = [await self._model(request, result, *page) for page in result.pages]
            result = await anyio.to_thread.run_sync(result.finish, models, limiter=self._threads)
        return visit, result

    async def _model(self, request: Request, result: ToShow, page: Page, parameters: Parameters) -> Model | None:
        if result.are_awaited:
            return await self._builders.newest(result.home, page, parameters)
        return await self._builders.kept(result.home, page, parameters, is_program=wants_json(request))

    async def _form_again(
        self, request: Request, operation: Operation, actor: Actor, sent: dict[str, Any], problem: Problem
    ) -> Response:
        """Return the page with the form, the problem and what was sent; if that fails as well, the problem."""
        page = self._by_path[operation.form]["GET"]
        known_fields = {name: value for name, value in sent.items() if name in page.fields.model_fields}
        try:
            visit, model = await self._run_operation(request, page, actor, known_fields)
        except (UsageError, ValidationError) as error:
            raise ProblemError(problem) from error
        refusal = Refusal(problem=problem, sent=_as_in_forms(sent), action=operation.path.rpartition("/")[2])
        return await self._page(request, page, visit, model, refusal)

    def _admitted_actor(self, request: Request, operation: Operation) -> Actor | None:
        """Return who may do it; None for a visitor who has to sign in first."""
        actor = actor_of(request, self._people)
        if may(actor, operation):
            has_person = actor.person is not None and operation.who is not Who.ANYBODY
            if operation.rate is not None:
                requester = f"person {actor.number}" if has_person else network_of(address_of(request))
                spend(self._people, f"{operation.path} {requester}", operation.rate)
            return actor
        if actor.person is None:
            if operation.method == "GET" and not wants_json(request):
                return None
            raise ProblemError(
                Problem(status=401, title="Sign in first", error="This takes an account; sign in, or send a token.")
            )
        sentence = _refusal(actor, actor.person.role, operation)
        raise ProblemError(Problem(status=403, title="Not allowed", error=sentence))

    def _admit_again(self, request: Request, operation: Operation, actor: Actor) -> None:
        """Raise ProblemError if who was admitted may do it no longer: until a body has come can take minutes."""
        if not self._may_still(request, operation, actor):
            sentence = "Your account, session, token or role changed while this was sent; try again."
            raise ProblemError(Problem(status=403, title="Not allowed any more", error=sentence))

    def _may_still(self, request: Request, operation: Operation, actor: Actor) -> bool:
        try:
            now = actor_of(request, self._people)
        except ProblemError:
            return False
        return now.number == actor.number and may(now, operation)


def _as_in_forms(sent: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return the values that a form could have sent: JSON may have others, which pages can't show again."""
    return {
        name: value.replace("\r\n", "\n") if isinstance(value, str) else value
        for name, value in sent.items()
        if isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))
    }


def _refusal(actor: Actor, role: Role, operation: Operation) -> str:
    required = operation.who
    if actor.token is None or (isinstance(required, Permission) and required not in PERMISSIONS[role]):
        return f"Your role, {role}, may not do this."
    sufficient_scopes = [scope for scope, granted in SCOPE_PERMISSIONS.items() if required in granted]
    if sufficient_scopes and not operation.only_in_browser:
        return f"This token may not do this; make one with the scope {sufficient_scopes[0]} on your account page"
    return "A token may not do this; sign in with a browser."


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


def spend(people: PeopleStore, key: str, rate: Rate) -> None:
    """Count that something was done; raise ProblemError if that was too often."""
    if seconds := ceil(people.rates.take(key, rate)):
        sentence = f"This was done too often; try again in {counted(seconds, 'second')}."
        raise ProblemError(Problem(status=429, title="Too often", error=sentence, retry_after_seconds=seconds))
