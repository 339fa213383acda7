"""Builds the value of a page where its lane says: in a thread, or in a builder process."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import anyio
import anyio.to_thread
from pydantic import ValidationError

from arena.server.http.builders import CRASHED, Builders
from arena.server.http.built_value import BuiltValue
from arena.server.http.opened_home import OpenedHome
from arena.server.http.problems import ProblemError
from arena.server.http.snapshots import Snapshots
from arena.server.http.turns import Turns
from arena.site.frame.model import Parameters
from arena.site.frame.page import Lane, Page
from arena.store.results.again import read_whole

ROWS_AT_ONCE = 2
"""Pages built in threads of the server: they share its core with everything it answers."""

THREADS = 4
WORTH_KEEPING_SECONDS = 0.2

Value = TypeVar("Value")

_log = logging.getLogger("arena.server.http")


class ValueBuilder:
    """Builds the values of pages, as JSON."""

    def __init__(
        self,
        home: OpenedHome,
        builders: Mapping[Lane, Builders],
        snapshots: Snapshots | None = None,
    ) -> None:
        """Prepare to build.

        Args:
            home: where the arena is.
            builders: of the lanes that have processes.
            snapshots: where values are kept that took long to build; None to keep none.
        """
        self._home, self._builders, self._snapshots = home, builders, snapshots
        self._threads = anyio.CapacityLimiter(THREADS)
        self._rows = Turns(ROWS_AT_ONCE)

    def is_busy(self, lane: Lane) -> bool:
        """Return whether a value has to wait until others have been built."""
        return self._rows.is_busy if lane is Lane.ROWS else self._builders[lane].is_busy

    async def build(self, page: Page, parameters: Parameters, is_first: bool = True) -> BuiltValue:
        """Return the value of a page.

        Args:
            page: the page.
            parameters: what its address says.
            is_first: whether nobody has seen it yet.

        Raises:
            ArenaError: if it can't be built.
            ProblemError: if it can't be built.
        """
        if page.lane is Lane.ROWS:
            async with self._rows.turn(is_first):
                return await self._in_thread(lambda: self._from_rows(page, parameters))
        await self._in_thread(lambda: self._require_tournament(parameters))
        value = await self._builders[page.lane].build(page, parameters, is_first)
        try:
            await self._in_thread(lambda: page.model.model_validate_json(value.json))
        except ValidationError as error:
            _log.error("a builder of %s has sent a wrong value of the page %s: %s", page.lane, page.name, error)
            raise ProblemError(CRASHED) from error
        return value

    def _require_tournament(self, parameters: Parameters) -> None:
        """Raise UnknownNameError for a tournament that does not exist: a builder may take long to say so."""
        name = getattr(parameters, "tournament", None)
        if isinstance(name, str):
            self._home().store.tournament(name)

    def _from_rows(self, page: Page, parameters: Parameters) -> BuiltValue:
        started, worked = time.monotonic(), time.thread_time()
        json = read_whole(lambda: page.build(self._home(), parameters)).model_dump_json().encode()
        return BuiltValue(json, time.monotonic() - started, time.thread_time() - worked)

    async def freshened(self, page: Page, json: bytes) -> bytes:
        """Return the value of a page that rests, with what a few look-ups find.

        Raises:
            ArenaError: if the store can't be read.
        """

        def freshen() -> bytes:
            model = page.model.model_validate_json(json)
            newer = read_whole(lambda: page.freshened(self._home(), model))
            return json if newer is model else newer.model_dump_json().encode()

        return await self._in_thread(freshen)

    async def earlier(self, page: Page, parameters: Parameters) -> tuple[str, BuiltValue] | None:
        """Return the version and the value of a page that an earlier server has kept."""
        snapshots = self._snapshots
        if snapshots is None or page.lane is not Lane.RATINGS:
            return None

        def read() -> tuple[str, BuiltValue] | None:
            kept = snapshots.read(page, parameters)
            if kept is not None:
                page.model.model_validate_json(kept[1].json)
            return kept

        try:
            return await self._in_thread(read)
        except ValidationError:
            return None

    async def keep(self, page: Page, parameters: Parameters, version: str, value: BuiltValue) -> None:
        """Keep a value for the next server, if it took long to build."""
        snapshots = self._snapshots
        if snapshots is not None and page.lane is Lane.RATINGS and value.seconds >= WORTH_KEEPING_SECONDS:
            await self._in_thread(lambda: snapshots.write(page, parameters, version, value))

    async def _in_thread(self, work: Callable[[], Value]) -> Value:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    async def close(self) -> None:
        """End the builders."""
        await asyncio.gather(*(builders.close() for builders in self._builders.values()))
