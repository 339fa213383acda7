"""Numbers for Prometheus: their format, counts of requests, the state of the site, and an address of their own."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.base.errors import ArenaError
from arena.base.programs.service_program import HealthProblem
from arena.base.version import __version__
from arena.server.http.addresses import Hosts
from arena.server.http.builders import Builders
from arena.server.http.observation import Answered
from arena.server.operating.service_programs import HOME, SERVICES, WEB, WORK
from arena.site.frame.model import Lane
from arena.store.home import CONTESTS_DIRECTORY, DATABASE_FILE, PEOPLE_FILE, ArenaHome
from arena.store.people.directors import LADDER, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.values import FINAL, SubmissionState

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """A number with its labels; ``ending`` follows the metric's name, for the parts of a histogram."""

    value: float
    labels: Mapping[str, str] = {}
    ending: str = ""


def metric(name: str, meaning: str, samples: float | Iterable[Sample], kind: str = "gauge") -> str:
    """Return a metric as text: its name, which has the unit, and its numbers, or the only one."""
    lines = [f"# HELP {name} {_escaped(meaning)}\n# TYPE {name} {kind}\n"]
    for value, labels, ending in [Sample(samples)] if isinstance(samples, int | float) else samples:
        shown = ",".join(f'{label}="{_escaped(text, quote=True)}"' for label, text in labels.items())
        number = str(int(value)) if float(value).is_integer() else repr(float(value))
        lines.append(f"{name}{ending}{f'{{{shown}}}' if shown else ''} {number}\n")
    return "".join(lines)


def _escaped(text: str, *, quote: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text


def _by(label: str, values: Mapping[Any, float]) -> list[Sample]:
    return [Sample(value, {label: str(key)}) for key, value in values.items()]


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

    def metrics(self) -> Iterator[str]:
        """Yield the counts."""
        yield metric(
            "arena_requests_total",
            "Requests, by the template of the address, method and status; 0 for those who left before an answer.",
            [
                Sample(count, {"route": route, "method": method, "status": str(status)})
                for (route, method, status), count in sorted(self._counts.items())
            ],
            "counter",
        )
        times = [sample for route, times in sorted(self._times.items()) for sample in times.samples(route)]
        yield metric("arena_request_seconds", "Seconds until an answer began.", times, "histogram")


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


def metrics_app(hosts: Hosts, *sources: Callable[[], Iterable[str]]) -> ASGIApp:
    """Return an application that answers with metrics; sources after the first are called in a thread."""
    limiter = anyio.CapacityLimiter(1)
    first, *others = sources

    def read_others() -> str:
        return "".join(text for source in others for text in source())

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response: Response
        if request.url.path != PATH:
            response = PlainTextResponse(f"expected {PATH}\n", 404)
        elif request.method != "GET":
            response = PlainTextResponse("expected GET\n", 405, headers={"allow": "GET"})
        else:
            text = "".join(first()) + await anyio.to_thread.run_sync(read_others, limiter=limiter)
            response = Response(text, headers={"cache-control": "no-store", "content-type": CONTENT_TYPE})
        await response(scope, receive, send)

    return hosts.guarding(answer, lambda _, problem: PlainTextResponse(f"{problem.error}\n", problem.status))


MEASURE_SECONDS = 300.0
"""How often files are measured, which takes a while where there are many."""
MAX_ENTRIES = 1_000_000
SILENT = "silent"
"""In place of the state of a program that does not run."""

DIRECTORIES = ("uploads", "bots", "cache", "logs", CONTESTS_DIRECTORY)
FILES = {"results": DATABASE_FILE, "people": PEOPLE_FILE}


class StateMetrics:
    """Reads what the site has now. What it reads from databases and disks is read in a thread of the caller."""

    def __init__(
        self,
        home: Callable[[], ArenaHome],
        directory: Path,
        builders: Mapping[Lane, Builders],
        readers: Callable[[], int],
        people: PeopleStore | None = None,
        problems: Callable[[], Sequence[HealthProblem]] = tuple,
        now: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare; ``home`` returns another one if it was replaced, ``readers`` how many streams of events are open."""
        self._home, self._directory, self._people = home, directory, people
        self._problems = problems
        self._builders, self._readers, self._now = builders, readers, now
        self._started_at = now()
        self._sizes: dict[str, int] = {}
        self._measured_at: float | None = None

    def metrics(self) -> Iterator[str]:
        """Yield the numbers; what can't be read now is left out."""
        yield metric("arena_info", "The version of the arena.", [Sample(1, {"version": __version__})])
        yield metric("arena_running_seconds", "Since the start.", self._now() - self._started_at)
        yield metric("arena_event_readers", "Streams of events that are open.", self._readers())
        yield from self._of_builders()
        yield from self._readable("results", self._of_results)
        if self._people is not None:
            yield from self._readable("people", partial(self._of_people, self._people))
            counts = Counter(problem.service for problem in self._problems())
            services = {name: counts[name] for name in (HOME, WEB, WORK, *(service.name for service in SERVICES))}
            meaning = "What is wrong with the services, as /health says in sentences."
            yield metric("arena_troubles", meaning, _by("part", services))
        yield from self._readable("disk", self._of_disk)

    def _readable(self, what: str, read: Callable[[], Iterator[str]]) -> Iterator[str]:
        is_readable, metrics = True, list[str]()
        try:
            metrics += read()
        except (ArenaError, OSError):
            is_readable = False
        yield from metrics
        yield metric(f"arena_{what}_readable", f"Whether it could be read: {what}.", is_readable)

    def _of_builders(self) -> Iterator[str]:
        for name, meaning, kind, value in (
            ("processes", "Builder processes that there are.", "gauge", lambda lane: len(lane.processes)),
            ("busy", "Builders that build a page.", "gauge", attrgetter("queue.busy")),
            ("waiting", "Pages that wait for a builder.", "gauge", attrgetter("queue.waiting")),
            (
                "refused_total",
                "Pages that were refused because too many waited.",
                "counter",
                lambda lane: lane.queue.refused,
            ),
        ):
            values = {lane: value(builders) for lane, builders in self._builders.items()}
            yield metric(f"arena_builders_{name}", meaning, _by("lane", values), kind)

    def _of_results(self) -> Iterator[str]:
        tournaments, records = self._home().store.totals()
        yield metric("arena_tournaments", "Tournaments in the store, hidden ones too.", tournaments)
        yield metric("arena_records", "Records of all tournaments, hidden ones too.", records)

    def _of_people(self, people: PeopleStore) -> Iterator[str]:
        queue = people.submissions.queue()
        counts = {state: queue.counts.get(state, 0) for state in SubmissionState}
        unfinished = {state: count for state, count in counts.items() if state not in FINAL}
        meaning = "Submissions that wait or are being checked."
        yield metric("arena_submissions_unfinished", meaning, _by("state", unfinished))
        finished = {state: count for state, count in counts.items() if state in FINAL}
        meaning = "Submissions by what became of them, as long as they are stored."
        yield metric("arena_submissions_finished_total", meaning, _by("state", finished), "counter")
        reports = people.directors.reports(LADDER)
        states = Counter(SILENT if people.directors.is_silent(report) else str(report.state) for report in reports)
        ladders = {state: states[state] for state in (*map(str, DirectorState), SILENT)}
        yield metric("arena_ladders", "Ladders by what their programs do.", _by("state", ladders))
        meaning = "How long the oldest that is not decided has waited."
        yield metric("arena_submission_oldest_seconds", meaning, queue.oldest_seconds)

    def _of_disk(self) -> Iterator[str]:
        if self._measured_at is None or self._now() - self._measured_at >= MEASURE_SECONDS:
            self._sizes, self._measured_at = self._measure_sizes(), self._now()
        meaning = f"Bytes of files in the home, measured every {MEASURE_SECONDS:g} s."
        yield metric("arena_disk_bytes", meaning, _by("part", self._sizes))
        disk = os.statvfs(self._directory)
        yield metric("arena_disk_free_bytes", "Free on the disk of the home.", disk.f_bavail * disk.f_frsize)

    def _measure_sizes(self) -> dict[str, int]:
        sizes = {service: _size_bytes(self._directory / service) for service in DIRECTORIES}
        for service, name in FILES.items():
            files = [self._directory / f"{name}{ending}" for ending in ("", "-wal")]
            sizes[service] = sum(path.stat().st_size for path in files if path.exists())
        return sizes


def _size_bytes(directory: Path) -> int:
    """Return the size of the files below a directory; links are not followed, and the work is bounded."""
    size_bytes = entries = 0
    waiting = [str(directory)]
    while waiting and entries < MAX_ENTRIES:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size_bytes += entry.stat(follow_symlinks=False).st_size
        except OSError:  # removed meanwhile
            continue
    return size_bytes
