"""What the site has and does now, read when it is asked for: builders, readers, the queue of submissions, the disk."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from arena.base.errors import ArenaError
from arena.base.programs.service_program import Trouble
from arena.base.version import __version__
from arena.server.http.builders import Builders
from arena.server.metrics.exposition import Metric, MetricKind, Sample
from arena.server.operating.parts import PARTS, WEB, WORK
from arena.server.operating.troubles import HOME
from arena.site.frame.page import Lane
from arena.store.home import CONTESTS_DIRECTORY, DATABASE_FILE, PEOPLE_FILE, ArenaHome
from arena.store.people.directing import LADDER, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.submission import FINAL, SubmissionState

MEASURE_SECONDS = 300.0
"""How often files are measured, which takes a while where there are many."""
MAX_ENTRIES = 1_000_000
SILENT = "silent"
"""In place of what a program does that does not run."""

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
        troubles: Callable[[], Sequence[Trouble]] = tuple,
        now: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare.

        Args:
            home: returns the home; another one if it was replaced.
            directory: of the home.
            builders: by lane.
            readers: returns how many streams of events are open.
            people: the database of people, where they may enter.
            troubles: returns what is wrong with the parts of the site.
            now: the clock.
        """
        self._home, self._directory, self._people = home, directory, people
        self._troubles = troubles
        self._builders, self._readers, self._now = builders, readers, now
        self._started_at = now()
        self._sizes: dict[str, int] = {}
        self._measured_at: float | None = None

    def metrics(self) -> Iterator[Metric]:
        """Yield the numbers; what can't be read now is left out."""
        yield _gauge("arena_info", "The version of the arena.", [Sample(1, {"version": __version__})])
        yield _gauge("arena_running_seconds", "Since the start.", [Sample(self._now() - self._started_at)])
        yield _gauge("arena_event_readers", "Streams of events that are open.", [Sample(self._readers())])
        yield from self._of_builders()
        yield from self._readable("results", self._of_results)
        if self._people is not None:
            yield from self._readable("people", partial(self._of_people, self._people))
            yield from self._of_troubles()
        yield from self._readable("disk", self._of_disk)

    def _readable(self, what: str, read: Callable[[], Iterator[Metric]]) -> Iterator[Metric]:
        is_readable, metrics = True, list[Metric]()
        try:
            metrics += read()
        except (ArenaError, OSError):
            is_readable = False
        yield from metrics
        yield _gauge(f"arena_{what}_readable", f"Whether it could be read: {what}.", [Sample(is_readable)])

    def _of_builders(self) -> Iterator[Metric]:
        lanes = self._builders.items()
        for name, meaning, value in (
            ("processes", "Builder processes that there are.", lambda one: len(one.processes)),
            ("busy", "Builders that build a page.", lambda one: one.busy),
            ("waiting", "Pages that wait for a builder.", lambda one: one.waiting),
        ):
            samples = [Sample(value(one), {"lane": str(lane)}) for lane, one in lanes]
            yield _gauge(f"arena_builders_{name}", meaning, samples)
        yield Metric(
            "arena_builders_refused_total",
            MetricKind.COUNTER,
            "Pages that were refused because too many waited.",
            [Sample(one.refused, {"lane": str(lane)}) for lane, one in lanes],
        )

    def _of_results(self) -> Iterator[Metric]:
        tournaments, records = self._home().store.totals()
        yield _gauge("arena_tournaments", "Tournaments in the store, hidden ones too.", [Sample(tournaments)])
        yield _gauge("arena_records", "Records of all tournaments, hidden ones too.", [Sample(records)])

    def _of_people(self, people: PeopleStore) -> Iterator[Metric]:
        queue = people.submissions.queue()
        samples = {state: Sample(queue.counts.get(state, 0), {"state": str(state)}) for state in SubmissionState}
        yield _gauge(
            "arena_submissions_unfinished",
            "Submissions that wait or are being checked.",
            [sample for state, sample in samples.items() if state not in FINAL],
        )
        yield Metric(
            "arena_submissions_finished_total",
            MetricKind.COUNTER,
            "Submissions by what became of them, as long as they are stored.",
            [sample for state, sample in samples.items() if state in FINAL],
        )
        yield from self._of_ladders(people)
        oldest = [Sample(queue.oldest_seconds)]
        yield _gauge("arena_submission_oldest_seconds", "How long the oldest that is not decided has waited.", oldest)

    def _of_ladders(self, people: PeopleStore) -> Iterator[Metric]:
        reports = people.directors.reports(LADDER)
        states = Counter(SILENT if people.directors.is_silent(one) else str(one.state) for one in reports)
        samples = [Sample(states[state], {"state": state}) for state in (*map(str, DirectorState), SILENT)]
        yield _gauge("arena_ladders", "Ladders by what their programs do.", samples)

    def _of_troubles(self) -> Iterator[Metric]:
        counts = Counter(one.part for one in self._troubles())
        names = (HOME, WEB, WORK, *(part.name for part in PARTS))
        samples = [Sample(counts[name], {"part": name}) for name in names]
        yield _gauge("arena_troubles", "What is wrong with the parts, as /health says in sentences.", samples)

    def _of_disk(self) -> Iterator[Metric]:
        if self._measured_at is None or self._now() - self._measured_at >= MEASURE_SECONDS:
            self._sizes, self._measured_at = self._measured(), self._now()
        yield _gauge(
            "arena_disk_bytes",
            f"Bytes of files in the home, measured every {MEASURE_SECONDS:g} s.",
            [Sample(size_bytes, {"part": part}) for part, size_bytes in self._sizes.items()],
        )
        disk = os.statvfs(self._directory)
        yield _gauge("arena_disk_free_bytes", "Free on the disk of the home.", [Sample(disk.f_bavail * disk.f_frsize)])

    def _measured(self) -> dict[str, int]:
        sizes = {part: _size_bytes(self._directory / part) for part in DIRECTORIES}
        for part, name in FILES.items():
            files = [self._directory / f"{name}{ending}" for ending in ("", "-wal")]
            sizes[part] = sum(path.stat().st_size for path in files if path.exists())
        return sizes


def _gauge(name: str, meaning: str, samples: list[Sample]) -> Metric:
    return Metric(name, MetricKind.GAUGE, meaning, samples)


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
