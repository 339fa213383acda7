"""``/metrics``: the format of Prometheus, counts of requests, and an address that only operators reach."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.server.http.hosts import Hosts
from arena.server.http.observation import Answered
from arena.server.http.problems import Problem

# Metrics as text: version 0.0.4 of the exposition format of Prometheus.

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricKind(StrEnum):
    """What a metric's numbers are."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Sample:
    """A number.

    Attributes:
        value: the number.
        labels: what it is about, by the name of the label.
        ending: of the metric's name, for the parts of a histogram.
    """

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its numbers.

    Attributes:
        name: with its unit.
        kind: what its numbers are.
        meaning: a sentence.
        samples: the numbers.
    """

    name: str
    kind: MetricKind
    meaning: str
    samples: Iterable[Sample]


def exposition(metrics: Iterable[Metric]) -> str:
    """Return metrics as text."""
    return "".join(line for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterable[str]:
    yield f"# HELP {metric.name} {_escaped(metric.meaning)}\n"
    yield f"# TYPE {metric.name} {metric.kind}\n"
    for sample in metric.samples:
        labels = ",".join(f'{name}="{_escaped(value, quote=True)}"' for name, value in sample.labels.items())
        yield f"{metric.name}{sample.ending}{f'{{{labels}}}' if labels else ''} {_number(sample.value)}\n"


def _escaped(text: str, *, quote: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


# Counts requests, by the template of their address: how many labels there are does not depend on who asks for what.

BOUNDS_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class RequestMetrics:
    """Counts requests; an observer of them. Used in the loop of the server alone."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, _Times] = {}

    def __call__(self, answered: Answered) -> None:
        """Count a request."""
        self._counts[answered.route, answered.method, answered.status] += 1
        self._times.setdefault(answered.route, _Times()).add(answered.seconds)

    def metrics(self) -> Iterator[Metric]:
        """Yield the counts."""
        yield Metric(
            "arena_requests_total",
            MetricKind.COUNTER,
            "Requests, by the template of the address, method and status; 0 for those who left before an answer.",
            [
                Sample(count, {"route": route, "method": method, "status": str(status)})
                for (route, method, status), count in sorted(self._counts.items())
            ],
        )
        yield Metric(
            "arena_request_seconds",
            MetricKind.HISTOGRAM,
            "Seconds until an answer began.",
            [sample for route, times in sorted(self._times.items()) for sample in times.samples(route)],
        )


class _Times:
    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS_SECONDS) + 1)
        self._sum_seconds = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self._sum_seconds += seconds

    def samples(self, route: str) -> Iterator[Sample]:
        bounds = [*(f"{bound:g}" for bound in BOUNDS_SECONDS), "+Inf"]
        for bound, count in zip(bounds, accumulate(self._counts), strict=True):
            yield Sample(count, {"route": route, "le": bound}, "_bucket")
        yield Sample(self._sum_seconds, {"route": route}, "_sum")
        yield Sample(sum(self._counts), {"route": route}, "_count")


# ``/metrics``, at an address of its own that only operators reach.

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
