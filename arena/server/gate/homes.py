"""The homes that operations read: the public one, and those of contests with embargoed results."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from arena.community.contests.contest_places import embargoed_home_path, has_embargoed_home, result_path
from arena.server.http.builder_messages import BuiltValue
from arena.server.http.builders import Builders, LaneLimits
from arena.server.http.opened_home import OpenedHome
from arena.server.http.page_cache import FAILURE_SECONDS, PageCache
from arena.server.http.page_response import FIRST_SECONDS, PROGRAM_SECONDS
from arena.server.http.page_value import rest_seconds
from arena.server.http.problems import DEFECT, problem_of
from arena.site.frame.model import Lane, Model, Page, Parameters
from arena.store.home import DATABASE_FILE, ArenaHome

LIMITS = LaneLimits(processes=1, seconds=60.0, memory_bytes=2 * 1024**3)
MAX_BUILDERS = 3
"""Homes for which there are processes at a time."""
MAX_KEPT = 20
"""Pages of such homes."""

_log = logging.getLogger("arena.server.http")


@dataclass(frozen=True, slots=True)
class HomePlace:
    """Where a home is: its directory, and the URL of its database (None for a file in the directory).

    With ``is_apart``, the database is a file there, whatever ``store_url`` says.
    """

    directory: Path
    store: str | None = None
    is_apart: bool = False


class Homes:
    """The homes of an arena: the public one with its pages (None: to be built again), and embargoed ones."""

    def __init__(self, home: OpenedHome, store: str | None = None) -> None:
        self.public = home
        self.public_place = HomePlace(home.directory, store)
        self.pages: PageCache | None = None

    def embargoed_place(self, contest: str) -> HomePlace | None:
        """Return where the embargoed home of a contest is; None if it has no such home."""
        if not has_embargoed_home(self.public.directory, contest):
            return None
        return HomePlace(embargoed_home_path(self.public.directory, contest), is_apart=True)

    @contextmanager
    def embargoed(self, contest: str) -> Iterator[ArenaHome | None]:
        """Open the embargoed home of a contest; None if it has no such home."""
        place = self.embargoed_place(contest)
        if place is None:
            yield None
            return
        with ArenaHome(place.directory, store=place.directory / DATABASE_FILE) as home:
            yield home

    def result_path(self, contest: str) -> Path:
        """Return where the signed result of a contest is, or would be."""
        return result_path(self.public.directory, contest)


@dataclass(slots=True, eq=False)
class _CachedPage:
    model: Model | None = None
    stamp: object = None
    rests_until: float = 0.0
    building: asyncio.Task[None] | None = None


class HomeBuilders:
    """Builds pages of any home in processes that end when nobody asks."""

    def __init__(self, homes: Homes, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._homes, self._now = homes, now
        self._builders: dict[HomePlace, Builders] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._cached: dict[tuple[HomePlace, Page, Parameters], _CachedPage] = {}

    async def _value(self, place: HomePlace, page: Page, parameters: Parameters) -> BuiltValue:
        builders = self._builders.pop(place, None) or Builders(
            Lane.BOARDS, str(place.directory), place.store, LIMITS, is_apart=place.is_apart
        )
        self._builders[place] = builders  # as the latest
        for oldest in [key for key in self._builders if key != place][: 1 - MAX_BUILDERS or None]:
            self._end(self._builders.pop(oldest))
        return await builders.build(page, parameters)

    async def newest(self, place: HomePlace, page: Page, parameters: Parameters) -> Model:
        """Return what a page shows; an embargoed page is not built again before its home has changed.

        Raises:
            ProblemError: if it can't be built.
        """
        cached, stamp = self._cached_page((place, page, parameters)), _stamp(place.directory / DATABASE_FILE)
        if cached.model is None or cached.stamp != stamp or not place.is_apart:
            value = await self._value(place, page, parameters)
            cached.model, cached.stamp = page.model.model_validate_json(value.json), stamp
        return cached.model

    async def kept(self, place: HomePlace, page: Page, parameters: Parameters, *, is_program: bool) -> Model | None:
        """Return what a page shows; it is not built again before its home has changed and it has rested.

        A program waits longer for a build than a person. None if it can't be built.
        """
        seconds = PROGRAM_SECONDS if is_program else FIRST_SECONDS[page.lane]
        if place == self._homes.public_place and self._homes.pages is not None:
            found = await self._homes.pages.find(page, parameters, seconds)
            if found.value is None:
                return None
            return await anyio.to_thread.run_sync(page.model.model_validate_json, found.value.json)
        cached = self._cached_page((place, page, parameters))
        stamp = _stamp(place.directory / DATABASE_FILE)
        is_current = cached.model is not None and cached.stamp == stamp
        if cached.building is None and not is_current and self._now() >= cached.rests_until:
            cached.building = asyncio.create_task(self._build(cached, stamp, place, page, parameters))
        if cached.building is not None:
            await asyncio.wait((cached.building,), timeout=seconds)
        return cached.model

    def _cached_page(self, key: tuple[HomePlace, Page, Parameters]) -> _CachedPage:
        cached = self._cached.pop(key, None) or _CachedPage()
        self._cached[key] = cached  # as the latest
        for other in list(self._cached)[:-MAX_KEPT]:
            if self._cached[other].building is None:
                del self._cached[other]
        return cached

    async def _build(
        self, cached: _CachedPage, stamp: object, place: HomePlace, page: Page, parameters: Parameters
    ) -> None:
        began_at = self._now()
        try:
            value = await self._value(place, page, parameters)
            cached.model = await anyio.to_thread.run_sync(page.model.model_validate_json, value.json)
            pause_seconds = rest_seconds(value.seconds, value.cpu_seconds)
        except Exception as error:
            cached.model = None
            pause_seconds = max(FAILURE_SECONDS, rest_seconds(self._now() - began_at, None))
            if problem_of(error) is DEFECT:
                _log.error("the page %s can't be built", page.name, exc_info=error)
        finally:
            cached.building = None
        cached.stamp, cached.rests_until = stamp, self._now() + pause_seconds

    def _end(self, builders: Builders) -> None:
        ending = asyncio.create_task(builders.close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End the processes."""
        tasks = [cached.building for cached in self._cached.values() if cached.building is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._ending, *(builders.close() for builders in self._builders.values()))


def _stamp(database: Path) -> tuple[tuple[int, int], ...]:
    """Return a value that changes with every commit to a database in a file."""
    files = (database, database.with_name(f"{database.name}-wal"))
    stats = []
    for path in files:
        with suppress(OSError):
            status = path.stat()
            stats.append((status.st_mtime_ns, status.st_size))
    return tuple(stats)
