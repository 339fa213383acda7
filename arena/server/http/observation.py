"""Says of every request how it was answered, to those who count and log; it has nothing that could be a secret.

What is said has no address, path, query, header or name: the template of the address, and the number of whoever asked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.base.programs.log_lines import REQUEST

ROUTE, ACTOR = "arena.route", "arena.actor"
"""In the scope of a request: the template of its address, and the number of the person who asks."""

UNKNOWN_ROUTE = "unknown"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD = "OTHER"
NO_ANSWER = 0
"""In place of a status: whoever asked has gone before an answer began."""

OUR_FAULT = 500
REQUEST_HEADER = b"x-request-id"
"""Of an answer that says that something is wrong here, so that its reader can say which; others are alike for all."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A request whose answer has begun.

    Attributes:
        method: one of ``METHODS``, or ``OTHER_METHOD``.
        route: the template of the address; ``UNKNOWN_ROUTE`` for one that nothing has.
        status: of the response; ``NO_ANSWER`` without one.
        seconds: until it began; what follows may be a stream.
        actor: the number of the person who asked; None for visitors, and where nobody is looked up.
    """

    method: str
    route: str
    status: int
    seconds: float
    actor: int | None


Observer = Callable[[Answered], None]


def observing(
    app: ASGIApp, observers: Sequence[Observer], now: Callable[[], float] = lambda: time.monotonic()
) -> ASGIApp:
    """Return an application that gives each request an id, and says how it was answered.

    Args:
        app: answers the requests.
        observers: are called when an answer begins.
        now: the clock.
    """

    async def observed(scope: Scope, receive: Receive, send: Send) -> None:
        number, started_at = os.urandom(6).hex(), now()
        REQUEST.set(number)
        has_begun = False

        def say(status: int) -> None:
            method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
            route, actor = scope.get(ROUTE, UNKNOWN_ROUTE), scope.get(ACTOR)
            for observer in observers:
                observer(Answered(method, route, status, now() - started_at, actor))

        async def send_and_say(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                if message["status"] >= OUR_FAULT:
                    headers = [*message.get("headers", ()), (REQUEST_HEADER, number.encode())]
                    message = {**message, "headers": headers}
                say(message["status"])
            await send(message)

        try:
            await app(scope, receive, send_and_say)
        finally:
            if not has_begun:
                say(NO_ANSWER)

    return observed
