"""``/metrics``, at an address of its own that only operators reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.server.http.hosts import Hosts
from arena.server.http.problems import Problem
from arena.server.metrics.exposition import CONTENT_TYPE, Metric, exposition

PATH = "/metrics"


def metrics_app(hosts: Hosts, *sources: Callable[[], Iterable[Metric]]) -> ASGIApp:
    """Return an application that answers with metrics, to requests for names of this machine.

    Args:
        hosts: the names.
        sources: return the metrics; those after the first are called in a thread.
    """
    limiter = anyio.CapacityLimiter(1)
    first, *others = sources

    def read_others() -> list[Metric]:
        return [metric for source in others for metric in source()]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response: Response
        if request.url.path != PATH:
            response = PlainTextResponse(f"expected {PATH}\n", 404)
        elif request.method != "GET":
            response = PlainTextResponse("expected GET\n", 405, headers={"allow": "GET"})
        else:
            metrics = [*first(), *await anyio.to_thread.run_sync(read_others, limiter=limiter)]
            headers = {"cache-control": "no-store", "content-type": CONTENT_TYPE}
            response = Response(exposition(metrics), headers=headers)
        await response(scope, receive, send)

    return hosts.guarding(answer, _refused)


def _refused(_: Request, problem: Problem) -> Response:
    return PlainTextResponse(f"{problem.error}\n", problem.status)
