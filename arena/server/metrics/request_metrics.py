"""Counts requests, by the template of their address: how many labels there are does not depend on who asks for what."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from arena.server.http.observation import Answered
from arena.server.metrics.exposition import Metric, MetricKind, Sample

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
