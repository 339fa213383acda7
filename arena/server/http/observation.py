"""Middleware for every request: counts and logs it, and adds security headers to its response."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.base.programs.log_lines import FIELDS, REQUEST

# Logs and counts have no address, path, query, header or name: only the template of the address, and the number of the
# person.

ROUTE, ACTOR = "arena.route", "arena.actor"
"""In the scope of a request: the template of its address, and the number of the person who asks."""

UNKNOWN_ROUTE = "unknown"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD = "OTHER"
NO_ANSWER = 0
"""In place of a status: the client disconnected before the response began."""

OUR_FAULT = 500
REQUEST_HEADER = b"x-request-id"
"""Header of responses with status 500 and above, so that readers can report the request; others have none."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A request whose answer has begun; what follows may be a stream.

    Attributes:
        route: the template of the address; ``UNKNOWN_ROUTE`` for one that nothing has.
        status: of the response; ``NO_ANSWER`` without one.
        actor: the number of the person who asked; None for visitors, and where nobody is looked up.
    """

    method: str
    route: str
    status: int
    seconds: float
    actor: int | None


Observer = Callable[[Answered], None]


def observing(app: ASGIApp, observers: Sequence[Observer]) -> ASGIApp:
    """Return an application that gives each request an id, and calls the observers when its answer begins."""

    async def observed(scope: Scope, receive: Receive, send: Send) -> None:
        request_id, started_at = os.urandom(6).hex(), time.monotonic()
        REQUEST.set(request_id)
        has_begun = False

        def report(status: int) -> None:
            method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
            route, actor = scope.get(ROUTE, UNKNOWN_ROUTE), scope.get(ACTOR)
            for observer in observers:
                observer(Answered(method, route, status, time.monotonic() - started_at, actor))

        async def send_and_report(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                if message["status"] >= OUR_FAULT:
                    headers = [*message.get("headers", ()), (REQUEST_HEADER, request_id.encode())]
                    message = {**message, "headers": headers}
                report(message["status"])
            await send(message)

        try:
            await app(scope, receive, send_and_report)
        finally:
            if not has_begun:
                report(NO_ANSWER)

    return observed


_log = logging.getLogger("arena.requests")


def log_request(answered: Answered) -> None:
    """Log a request."""
    milliseconds = round(1000 * answered.seconds, 1)
    fields = {
        "method": answered.method,
        "route": answered.route,
        "status": answered.status,
        "milliseconds": milliseconds,
        "person": answered.actor,
    }
    person = "" if answered.actor is None else f" person {answered.actor}"
    line = f"{answered.method} {answered.route} {answered.status} {milliseconds} ms{person}"
    _log.info("%s", line, extra={FIELDS: fields})


def let_requests_be_logged() -> None:
    """Log requests, whatever the level of other messages is."""
    _log.setLevel(logging.INFO)


# The headers of every response: browsers run only our own files, and report attempts to run anything else.

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors {ancestors}; report-uri /csp-reports; report-to csp"
)

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer, forms of ours would be sent with "Origin: null"
    (b"reporting-endpoints", b'csp="/csp-reports"'),
]

CLOSED = [*_HEADERS, (b"content-security-policy", _POLICY.format(ancestors="'none'").encode())]
EMBEDDABLE = [*_HEADERS, (b"content-security-policy", _POLICY.format(ancestors="*").encode())]

IS_EMBEDDABLE = "arena.is_embeddable"
"""In the scope of a request: whether other sites may show the response in a frame."""


def with_security_headers(app: ASGIApp) -> ASGIApp:
    """Return an application that adds the headers to every response."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = EMBEDDABLE if scope.get(IS_EMBEDDABLE) else CLOSED
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await app(scope, receive, send_with_headers)

    return guarded
