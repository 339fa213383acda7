"""Builder processes from the side of the web process: which page is next, and when a process starts and ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from pydantic import ValidationError

from arena.base.programs.service_program import come_first
from arena.base.programs.systemd import CREDENTIALS_VARIABLE
from arena.server.http.builder_messages import (
    BuildAnswer,
    BuilderStart,
    BuildRequest,
    BuiltValue,
    FrameError,
    framed,
    receive_frame,
)
from arena.server.http.problems import ProblemError, unavailable
from arena.site.frame.model import Lane, Model, Page, Parameters
from arena.store.home import STORE_VARIABLE

MAX_WAITING = 256
"""Pages that wait for their turn; several readers may wait for each."""

FIRST_PER_LATER = 3
"""How many pages that nobody has seen yet go before one that is only out of date."""

LAST_TURNS = 8
"""A queue knows how long about this number of turns took on average."""

BUSY = unavailable(
    "Too many pages are being built", f"More than {MAX_WAITING} pages wait to be built; try again in a few seconds.", 5
)


class FairQueue:
    """Admits a few builds at a time; the others wait, each kind in the order of arrival."""

    def __init__(
        self, at_once: int, max_waiting: int = MAX_WAITING, now: Callable[[], float] = lambda: time.monotonic()
    ) -> None:
        self.refused = 0
        self._now = now
        self._at_once = self._free = at_once
        self._max_waiting = max_waiting
        self._first: deque[asyncio.Future[None]] = deque()
        self._later: deque[asyncio.Future[None]] = deque()
        self._first_in_a_row = 0
        self._turn_seconds = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether a page would have to wait."""
        return self._free <= 0

    @property
    def expected_seconds(self) -> float:
        """How long a page that nobody has seen yet would wait for its turn, if turns take as long as the last few."""
        return 0.0 if self._free > 0 else self._turn_seconds * (len(self._first) + 1) / self._at_once

    @property
    def busy(self) -> int:
        """How many pages have their turn now."""
        return self._at_once - self._free

    @property
    def waiting(self) -> int:
        """How many pages wait for their turn."""
        return len(self._first) + len(self._later)

    @asynccontextmanager
    async def turn(self, is_first: bool) -> AsyncIterator[None]:
        """Wait for a turn, sooner for a page that nobody has seen yet; raise ProblemError if too many wait."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._wait(self._first if is_first else self._later)
        began = self._now()
        try:
            yield
        finally:
            self._turn_seconds += (self._now() - began - self._turn_seconds) / LAST_TURNS
            self._give_next_turn()

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        if self.waiting >= self._max_waiting:
            self.refused += 1
            raise ProblemError(BUSY)
        waiter = asyncio.get_running_loop().create_future()
        queue.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                with suppress(ValueError):  # it was skipped already
                    queue.remove(waiter)
            else:  # it got its turn as it was cancelled
                self._give_next_turn()
            raise

    def _give_next_turn(self) -> None:
        while self._first or self._later:
            is_later = bool(self._later) and (not self._first or self._first_in_a_row >= FIRST_PER_LATER)
            self._first_in_a_row = self._first_in_a_row + 1 if self._later and not is_later else 0
            waiter = (self._later if is_later else self._first).popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1


IDLE_SECONDS = 60.0
START_SECONDS = 30.0

_log = logging.getLogger("arena.server.http")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLimits:
    """The limits of a lane: processes at a time, seconds for a page, memory of each process (None: unlimited)."""

    processes: int
    seconds: float
    memory_bytes: int | None = None


LIMITS = {
    Lane.RATINGS: LaneLimits(processes=1, seconds=300.0),
    Lane.BOARDS: LaneLimits(processes=2, seconds=10.0, memory_bytes=2 * 1024**3),
}

CRASHED = unavailable(
    "This page can’t be built", "The process that builds this page has crashed; reload the page to try again."
)


class Builders:
    """The builders of one lane."""

    def __init__(
        self,
        lane: Lane,
        directory: str,
        store: str | None,
        limits: LaneLimits | None = None,
        *,
        is_apart: bool = False,
    ) -> None:
        """Prepare; with ``is_apart``, the database is always the file in the directory."""
        self.lane = lane
        self.limits = limits or LIMITS[lane]
        self._directory, self._store = directory, store
        self._hidden_variables = {STORE_VARIABLE, CREDENTIALS_VARIABLE} if is_apart else set()
        self.queue = FairQueue(self.limits.processes)
        self._running: set[_Builder] = set()
        self._idle: list[_Builder] = []
        self._ending: set[asyncio.Task[int]] = set()
        self._preparing: asyncio.Task[None] | None = None

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the running processes."""
        return tuple(sorted(builder.process.pid for builder in self._running))

    async def build(self, page: Page, parameters: Parameters, is_first: bool = True) -> BuiltValue:
        """Return the value of a page, sooner if nobody has seen it yet; raise ProblemError if it can't be built."""
        request = BuildRequest(page=page.name, parameters=parameters.model_dump(mode="json"))
        async with self.queue.turn(is_first):
            return await self._ask(request)

    def prepare(self) -> None:
        """Start a process for the next page, unless one runs."""
        if not self._running and not self.queue.is_busy and self._preparing is None:
            self._preparing = asyncio.create_task(self._prepare())

    async def _prepare(self) -> None:
        try:
            async with self.queue.turn(is_first=False):
                if not self._running:
                    self._keep(await self._start_ready())
        except ProblemError:
            pass  # a page that needs one says so
        finally:
            self._preparing = None

    async def _ask(self, request: BuildRequest) -> BuiltValue:
        started = time.monotonic()
        builder = self._take_idle()
        answer = await self._answer_of(builder, request) if builder is not None else None
        if answer is None:  # an idle builder may have ended meanwhile
            answer = await self._answer_of(await self._start_ready(), request)
        if answer is None:
            _log.warning("a builder of %s has crashed with the page %s", self.lane, request.page)
            raise ProblemError(CRASHED)
        outcome, value = answer
        if outcome.log:
            _log.warning("the page %s: %s", request.page, outcome.log)
        if outcome.problem is not None:
            raise ProblemError(outcome.problem)
        return BuiltValue(value, min(outcome.seconds, time.monotonic() - started), outcome.cpu_seconds)

    async def _answer_of(self, builder: _Builder, request: BuildRequest) -> tuple[BuildAnswer, bytes] | None:
        """Return the answer of a builder; None if it has crashed."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                answer = await builder.ask(request)
        except TimeoutError:
            sentence = f"It took longer than {self.limits.seconds:g} s to build this page, and was given up."
            raise ProblemError(unavailable("This page takes too long", sentence)) from None
        except (FrameError, ValidationError, OSError):
            return None
        else:
            self._keep(builder)
            return answer
        finally:
            if builder not in self._idle:
                self._end(builder)

    def _take_idle(self) -> _Builder | None:
        if not self._idle:
            return None
        builder = self._idle.pop()
        builder.cancel_end()
        return builder

    async def _start_ready(self) -> _Builder:
        start = asyncio.create_task(self._start())
        try:
            builder = await asyncio.shield(start)
        except asyncio.CancelledError:
            self._end(await start)  # nobody else knows of this process
            raise
        except OSError as error:
            _log.warning("a builder of %s can't be started: %s", self.lane, error)
            raise ProblemError(CRASHED) from error
        self._running.add(builder)
        try:
            async with asyncio.timeout(START_SECONDS):
                await builder.is_ready()
        except (FrameError, TimeoutError) as error:
            _log.warning("a builder of %s does not start: %s", self.lane, error)
            self._end(builder)
            raise ProblemError(CRASHED) from error
        except asyncio.CancelledError:
            self._end(builder)
            raise
        return builder

    async def _start(self) -> _Builder:
        environment = {name: value for name, value in os.environ.items() if name not in self._hidden_variables}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "arena.server.http.builder"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **environment},
            start_new_session=True,  # Ctrl-C is for the web process, which ends its builders
        )
        come_first(process.pid)  # until it is ready, as a reader waits for this
        builder = _Builder(process)
        builder.send(
            BuilderStart(
                lane=self.lane,
                directory=self._directory,
                store=self._store,
                import_path=tuple(sys.path),
                parent=os.getpid(),
                memory_bytes=self.limits.memory_bytes,
            )
        )
        return builder

    def _keep(self, builder: _Builder) -> None:
        self._idle.append(builder)
        builder.end_later(IDLE_SECONDS, lambda: self._end(builder))

    def _end(self, builder: _Builder) -> None:
        if builder in self._idle:
            self._idle.remove(builder)
        self._running.discard(builder)
        builder.kill()
        ending = asyncio.create_task(builder.process.wait())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End all processes."""
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.gather(self._preparing, return_exceptions=True)
        for builder in list(self._running):
            self._end(builder)
        await asyncio.gather(*self._ending)


class _Builder:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._end: asyncio.TimerHandle | None = None

    def send(self, message: Model) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(framed(message.model_dump_json().encode()))

    async def is_ready(self) -> None:
        """Wait until the process takes requests; raise FrameError if it has ended."""
        assert self.process.stdout is not None
        await receive_frame(self.process.stdout)

    async def ask(self, request: BuildRequest) -> tuple[BuildAnswer, bytes]:
        """Return the answer and the value of the page; raise FrameError or ValidationError if they are malformed."""
        assert self.process.stdout is not None
        self.send(request)
        answer = BuildAnswer.model_validate_json(await receive_frame(self.process.stdout))
        return answer, b"" if answer.problem is not None else await receive_frame(self.process.stdout)

    def end_later(self, seconds: float, end: Callable[[], None]) -> None:
        """Call a function unless ``cancel_end`` is called before."""
        self._end = asyncio.get_running_loop().call_later(seconds, end)

    def cancel_end(self) -> None:
        if self._end is not None:
            self._end.cancel()

    def kill(self) -> None:
        """End it at once, with all it has started."""
        self.cancel_end()
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
