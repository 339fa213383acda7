"""The homes that operations read: the one that everybody sees, and those of contests with hidden results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from arena.contests.hidden_place import has_hidden_home, hidden_home_path
from arena.home import DATABASE_FILE, ArenaHome
from arena.site.models.model import Model, Parameters
from arena.site.page import Lane, Page
from arena.site.publish.result_place import result_path
from arena.web.builders import Builders, LaneLimits
from arena.web.opened_home import OpenedHome
from arena.web.page_cache import PageCache
from arena.web.page_response import FIRST_SECONDS, PROGRAM_SECONDS

LIMITS = LaneLimits(processes=1, seconds=60.0, memory_bytes=2 * 1024**3)
MAX_BUILDERS = 3
"""Homes for which there are processes at a time."""
MAX_KEPT = 20
"""Pages of such homes."""


@dataclass(frozen=True, slots=True)
class HomePlace:
    """Where a home is.

    Attributes:
        directory: of the home.
        store: the URL of its database; None for a file in the directory.
        is_apart: whether it is a file there, whatever $ARENA_STORE says.
    """

    directory: Path
    store: str | None = None
    is_apart: bool = False


class Homes:
    """The homes of an arena.

    Attributes:
        public: the one that everybody sees.
        public_place: where that is.
        pages: of that, as the site has built them; None if they are to be built again.
    """

    def __init__(self, home: OpenedHome, store: str | None = None) -> None:
        """Prepare; nothing is opened.

        Args:
            home: the one that everybody sees.
            store: the URL of its database; None for a file.
        """
        self.public = home
        self.public_place = HomePlace(home.directory, store)
        self.pages: PageCache | None = None

    def hidden_place(self, contest: str) -> HomePlace:
        """Return where the hidden home of a contest is, or would be."""
        return HomePlace(hidden_home_path(self.public.directory, contest), is_apart=True)

    def has_hidden(self, contest: str) -> bool:
        """Return whether something of a contest is in a hidden home."""
        return has_hidden_home(self.public.directory, contest)

    @contextmanager
    def hidden(self, contest: str) -> Iterator[ArenaHome | None]:
        """Open the hidden home of a contest; None if it has no such home."""
        place = self.hidden_place(contest)
        if not self.has_hidden(contest):
            yield None
            return
        with ArenaHome(place.directory, store=place.directory / DATABASE_FILE) as home:
            yield home

    def result_path(self, contest: str) -> Path:
        """Return where the signed result of a contest is, or would be."""
        return result_path(self.public.directory, contest)


class HomeBuilders:
    """Builds pages of any home in processes that end when nobody asks."""

    def __init__(self, homes: Homes) -> None:
        """Prepare; no process is started.

        Args:
            homes: of which pages are built.
        """
        self._homes = homes
        self._builders: dict[HomePlace, Builders] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._kept: dict[tuple[HomePlace, Page, Parameters], tuple[object, asyncio.Task[Model]]] = {}

    async def build(self, place: HomePlace, page: Page, parameters: Parameters) -> Model:
        """Return what a page of a home shows.

        Raises:
            ProblemError: if it can't be built.
        """
        builders = self._builders.pop(place, None) or Builders(
            Lane.BOARDS, str(place.directory), place.store, LIMITS, is_apart=place.is_apart
        )
        self._builders[place] = builders  # as the latest
        for other in [one for one in self._builders if one != place][: 1 - MAX_BUILDERS or None]:
            self._end(self._builders.pop(other))
        value = await builders.build(page, parameters)
        return page.model.model_validate_json(value.json)

    async def newest(self, place: HomePlace, page: Page, parameters: Parameters) -> Model:
        """Return what a page shows; that of a hidden home is not built again before it has changed.

        Raises:
            ProblemError: if it can't be built.
        """
        if not place.is_apart:
            return await self.build(place, page, parameters)
        return await asyncio.shield(self._build_once(place, page, parameters))

    async def kept(self, place: HomePlace, page: Page, parameters: Parameters, *, is_program: bool) -> Model | None:
        """Return what a page shows, which is not built again before its home has changed.

        Args:
            place: of the home.
            page: the page.
            parameters: what its address says.
            is_program: whether a program waits for it, which is more patient than a person.

        Returns:
            None if it can't be built, or not so soon; it is being built then.
        """
        seconds = PROGRAM_SECONDS if is_program else FIRST_SECONDS[Lane.RATINGS]
        if place == self._homes.public_place and self._homes.pages is not None:
            found = await self._homes.pages.find(page, parameters, seconds)
            if found.value is None:
                return None
            return await anyio.to_thread.run_sync(page.model.model_validate_json, found.value.json)
        task = self._build_once(place, page, parameters)
        await asyncio.wait((task,), timeout=seconds)
        if not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()

    def _build_once(self, place: HomePlace, page: Page, parameters: Parameters) -> asyncio.Task[Model]:
        key, stamp = (place, page, parameters), _stamp(place.directory / DATABASE_FILE)
        known = self._kept.pop(key, None)
        if known is None or (known[1].done() and (known[0] != stamp or known[1].exception() is not None)):
            known = stamp, asyncio.create_task(self.build(place, page, parameters))
        self._kept[key] = known  # as the latest
        for other in list(self._kept)[:-MAX_KEPT]:
            if self._kept[other][1].done():
                del self._kept[other]
        return known[1]

    def _end(self, builders: Builders) -> None:
        ending = asyncio.create_task(builders.close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End the processes."""
        tasks = [task for _, task in self._kept.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._ending, *(builders.close() for builders in self._builders.values()))


def _stamp(database: Path) -> tuple[tuple[int, int], ...]:
    """Return what differs after a commit to a database in a file."""
    files = (database, database.with_name(f"{database.name}-wal"))
    found = []
    for path in files:
        with suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size))
    return tuple(found)
