"""The values of pages: one build of each at a time, kept in bounded memory, and shown again when the next one is late.

A value is current if it was built at the version that the topics of its page have now. A stale one is shown
while the next one is built, as is the last one when the store can't be read.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from arena.base.errors import ArenaError, text_of
from arena.server.http.page_value import LATE_SECONDS, NAMES_END, Value, ValueBuilder, names_of, rest_seconds
from arena.server.http.problems import DEFECT, Problem, problem_of
from arena.server.http.watcher import Watcher
from arena.site.frame.model import Lane, Page, Parameters

MAX_BYTES = 24 * 1024 * 1024
"""Of all values and their renderings."""

ENTRY_BYTES = 1000
"""Of an entry without its value."""

CURRENT_SECONDS = 5.0
QUIET_CURRENT_SECONDS = 60.0
CURRENT_PER_BUILD_SECOND = 20.0
"""How long a value is current without an event, which nobody sends for a director that was killed or for a game whose
module is there at last: in seconds while something it shows is being played, in seconds otherwise, and in seconds for
each that it takes to build. Looking again costs at most a twentieth of a core.
"""


OLD_SECONDS = 60.0
OLD_LATE_SECONDS = 2.0
"""A page with an older outdated value shows its time; a reader waits longer for the next if a builder is free."""

FRESHEN_SECONDS = 0.5
"""Between two times that a few look-ups bring a resting value up to date."""

FAILURE_SECONDS = 1.0
SLOW_FAILURE_SECONDS = 30.0
"""How long a failure is remembered; the second one for pages that take too long or crash their builder."""

_log = logging.getLogger("arena.server.http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The value of a page, or its problem; neither while the first one is being built.

    ``age_seconds`` is set if the store can't be read, and for an outdated value older than a minute; in
    ``ready_seconds`` a newer value may be there.
    """

    value: Value | None
    problem: Problem | None = None
    is_current: bool = False
    age_seconds: float | None = None
    is_store_away: bool = False
    ready_seconds: float = 1.0


class _Stamp(NamedTuple):
    version: str
    progress: str
    corrections: str


@dataclass(slots=True, eq=False)
class _Entry:
    value: Value | None = None
    current_at: float = 0.0
    loading: asyncio.Task[None] | None = None
    building: asyncio.Task[None] | None = None
    began_at: float = 0.0
    freshening: asyncio.Task[None] | None = None
    freshen_at: float = 0.0
    failure: Problem | None = None
    failed_until: float = 0.0
    failed_version: str = ""
    size_bytes: int = 0

    @property
    def is_at_rest(self) -> bool:
        return self.building is None and self.loading is None and self.freshening is None


class PageCache:
    """The values of all pages, and their size."""

    def __init__(
        self,
        builder: ValueBuilder,
        versions: Watcher,
        now: Callable[[], float] = lambda: time.monotonic(),
        max_bytes: int = MAX_BYTES,
        reads_all: Callable[[], bool] = lambda: False,
    ) -> None:
        """Begin empty; ``reads_all`` returns whether readers may read what bots wrote, until a home has people."""
        self._reads_all = reads_all
        self._builder, self._versions, self._now, self._max_bytes = builder, versions, now, max_bytes
        self._entries: OrderedDict[tuple[str, Parameters], _Entry] = OrderedDict()
        self.size_bytes = 0

    def prepare(self, lane: Lane) -> None:
        """Start a builder for a page that may be asked for next."""
        self._builder.prepare(lane)

    def worth_waiting(self, lane: Lane, seconds: float) -> float:
        """Return how long a person waits for a page that was never built: not at all where others are built longer."""
        return seconds if self._builder.expected_seconds(lane) <= seconds else 0.0

    async def find(
        self, page: Page, parameters: Parameters, first_seconds: float, late_seconds: float = LATE_SECONDS
    ) -> Found:
        """Return a page; wait ``first_seconds`` if nothing is there yet, ``late_seconds`` for a newer value."""
        topics = page.topics_of(parameters)
        entry = self._entry(page, parameters)
        if entry.loading is not None:
            await asyncio.shield(entry.loading)
        corrections = self._versions.corrections_of(topics)
        if entry.value is not None and (
            entry.value.names != names_of(corrections) or (entry.value.has_all_words and not self._reads_all())
        ):
            entry.value = None  # it may name a person who has left, or have words that are not for all readers
        progress = self._versions.progress_of(topics)
        stamp = _Stamp(self._versions.version_of(topics), progress, corrections)
        if self._age_seconds(entry, stamp) > OLD_SECONDS:
            late_seconds = OLD_LATE_SECONDS
        deadline = self._now() + self._patience_seconds(entry, page, corrections, first_seconds, late_seconds)
        while not self._is_current(entry, stamp):
            if entry.failure is not None and self._now() < entry.failed_until:
                return self._found_late(entry, stamp)
            if entry.building is None:
                if entry.failure is not None and entry.failure.status < 500 and entry.failed_version != stamp.version:
                    entry.failure = None  # what did not exist may exist since then
                if self._now() < (entry.value.rests_until(corrections) if entry.value else 0.0):
                    await self._wait_for_freshening(entry, page)
                    return self._found_late(entry, stamp)
                entry.building = asyncio.create_task(self._build(entry, page, parameters, stamp))
            seconds = deadline - self._now()
            if seconds <= 0:
                await self._wait_for_freshening(entry, page)
                return self._found_late(entry, stamp)
            await asyncio.wait({entry.building}, timeout=seconds)
            stamp = stamp._replace(version=self._versions.version_of(topics))
        entry.current_at = self._now()
        self._count_bytes(entry)
        return Found(value=entry.value, is_current=True)

    async def _wait_for_freshening(self, entry: _Entry, page: Page) -> None:
        """Bring a resting value up to date by a few look-ups, if the last time was long enough ago."""
        is_due = entry.freshening is None and bool(page.freshener) and self._now() >= entry.freshen_at
        if is_due and entry.value is not None:
            entry.freshen_at = self._now() + FRESHEN_SECONDS
            entry.freshening = asyncio.create_task(self._freshen(entry, page, entry.value))
        if entry.freshening is not None:
            await asyncio.shield(entry.freshening)

    async def _freshen(self, entry: _Entry, page: Page, value: Value) -> None:
        try:
            json = await self._builder.freshened(page, value.json)
        except ArenaError as error:
            _log.warning("the page %s is not brought up to date: %s", page.name, text_of(error))
        else:
            if entry.value is value and json != value.json:
                entry.value = replace(value, json=json, renderings={})
        finally:
            entry.freshening = None
            self._count_bytes(entry)

    def _patience_seconds(
        self, entry: _Entry, page: Page, corrections: str, first_seconds: float, late_seconds: float
    ) -> float:
        if entry.value is None:
            return first_seconds
        most_seconds = max(late_seconds, LATE_SECONDS)
        if entry.building is not None and self._now() - entry.began_at > most_seconds:
            return 0.0  # the build is slow, or waits for others
        if entry.value.is_before(corrections):
            return most_seconds
        has_to_wait = entry.building is None and self._builder.is_busy(page.lane)
        return late_seconds if entry.value.build_seconds <= most_seconds and not has_to_wait else 0.0

    def _age_seconds(self, entry: _Entry, stamp: _Stamp) -> float:
        """Return how long ago a value was current; 0 if nothing has happened since it was built."""
        value = entry.value
        is_outdated = value is not None and (value.version, value.progress) != (stamp.version, stamp.progress)
        return self._now() - entry.current_at if is_outdated else 0.0

    def _is_current(self, entry: _Entry, stamp: _Stamp) -> bool:
        value = entry.value
        if (
            value is None
            or entry.failure is not None
            or (value.version, value.progress) != (stamp.version, stamp.progress)
            or self._versions.lost_at is not None
        ):
            return False
        least_seconds = CURRENT_SECONDS if value.progress else QUIET_CURRENT_SECONDS
        seconds = max(least_seconds, CURRENT_PER_BUILD_SECOND * value.build_seconds)
        return self._now() - value.built_at < seconds

    def _found_late(self, entry: _Entry, stamp: _Stamp) -> Found:
        value, problem, lost_at = entry.value, entry.failure, self._versions.lost_at
        is_away = lost_at is not None or (problem is not None and problem.is_store_away)
        if value is None or not is_away:
            begins_at = self._now() if entry.building is None else entry.began_at
            rests_until, seconds = (value.rests_until(stamp.corrections), value.build_seconds) if value else (0.0, 0.0)
            ready_at = max(begins_at, rests_until) + seconds
            age_seconds = self._age_seconds(entry, stamp)
            return Found(
                value=value,
                problem=problem,
                age_seconds=age_seconds if age_seconds > OLD_SECONDS else None,
                ready_seconds=max(1.0, ready_at - self._now()),
            )
        current_at = lost_at if lost_at is not None and value.version == stamp.version else entry.current_at
        return Found(value=value, problem=problem, age_seconds=self._now() - current_at, is_store_away=True)

    def _entry(self, page: Page, parameters: Parameters) -> _Entry:
        """Return the entry of a page; a new one loads the value that an earlier server has kept."""
        key = (page.name, parameters)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry()
            if page.lane is Lane.RATINGS:
                entry.loading = asyncio.create_task(self._load(entry, page, parameters))
        self._entries.move_to_end(key)
        return entry

    async def _load(self, entry: _Entry, page: Page, parameters: Parameters) -> None:
        has_all_words = self._reads_all()
        try:
            earlier = await self._builder.earlier(page, parameters, has_all_words)
            if earlier is not None:
                kept_version, (json, seconds, _, age_seconds) = earlier
                state, _, names = kept_version.partition(NAMES_END)
                version, _, progress = state.partition(" ")
                built_at = self._now() - rest_seconds(seconds, None)
                entry.value = Value(
                    json, version, built_at, seconds, progress, names=names, has_all_words=has_all_words
                )
                entry.current_at = self._now() - age_seconds
        finally:
            entry.loading = None
            self._count_bytes(entry)

    async def _build(self, entry: _Entry, page: Page, parameters: Parameters, stamp: _Stamp) -> None:
        entry.began_at = self._now()
        has_all_words = self._reads_all()
        try:
            built = await self._builder.build(page, parameters, entry.value is None)
        except Exception as error:
            self._note_failure(entry, page, error, stamp.version)
        else:
            if has_all_words and not self._reads_all():
                return  # the home has got people meanwhile
            now = self._now()
            names = names_of(stamp.corrections)
            value = Value(
                built.json,
                stamp.version,
                now,
                built.seconds,
                stamp.progress,
                stamp.corrections,
                names,
                built.cpu_seconds,
                has_all_words=has_all_words,
            )
            self._accept(entry, value)
            # with the progress, else "being played" would stay current when no run is left
            kept_version = f"{stamp.version} {stamp.progress}{NAMES_END}{names}"
            await self._builder.keep(page, parameters, kept_version, built, has_all_words)
        finally:
            entry.building = None
            self._count_bytes(entry)

    def _accept(self, entry: _Entry, value: Value) -> None:
        """Take a value that was built; an equal one keeps its renderings."""
        earlier = entry.value
        if earlier is not None and (earlier.json, earlier.version) == (value.json, value.version):
            value.renderings = earlier.renderings
        entry.value, entry.failure, entry.current_at = value, None, value.built_at

    def _note_failure(self, entry: _Entry, page: Page, error: Exception, version: str) -> None:
        problem = problem_of(error)
        if problem is DEFECT:
            _log.error("the page %s can't be built", page.name, exc_info=error)
        elif problem.is_store_away and entry.failure is None:
            _log.warning("the page %s: %s", page.name, text_of(error))
        if problem.status < 500:
            entry.value = None  # what the page shows does not exist any more
        is_slow = problem.status >= 500 and not problem.is_store_away and problem.retry_after_seconds is None
        entry.failure, entry.failed_version = problem, version
        entry.failed_until = self._now() + (SLOW_FAILURE_SECONDS if is_slow else FAILURE_SECONDS)

    def count(self, page: Page, parameters: Parameters) -> None:
        """Count how much memory a page takes now, such as after it was rendered."""
        entry = self._entries.get((page.name, parameters))
        if entry is not None:
            self._count_bytes(entry)

    def _count_bytes(self, entry: _Entry) -> None:
        size_bytes = ENTRY_BYTES + (entry.value.size_bytes if entry.value is not None else 0)
        self.size_bytes += size_bytes - entry.size_bytes
        entry.size_bytes = size_bytes
        if self.size_bytes <= self._max_bytes:
            return
        for key, oldest in list(self._entries.items()):
            if self.size_bytes <= self._max_bytes:
                return
            if oldest is not entry and oldest.is_at_rest:
                del self._entries[key]
                self.size_bytes -= oldest.size_bytes

    async def close(self) -> None:
        """Stop building."""
        tasks = [
            task
            for entry in self._entries.values()
            for task in (entry.building, entry.loading, entry.freshening)
            if task
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
