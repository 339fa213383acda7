"""The program of a builder: a process that builds pages for the web process, one at a time.

It ends with the web process, also if that was killed: a thread waits for the end of its requests, and the kernel sends
a signal in case the rules of a game keep all threads from running.
"""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import resource
import signal
import sys
import threading
import time
import traceback
from functools import cached_property
from typing import BinaryIO

from arena.analysis.measures.resting_leaderboards import RestingLeaderboards, let_leaderboards_rest
from arena.base.errors import ArenaError, text_of
from arena.base.programs.service_program import be_nice, end_with
from arena.server.http.builder_messages import (
    MAX_FRAME_BYTES,
    BuildAnswer,
    BuilderStart,
    BuildRequest,
    BuiltValue,
    FrameError,
    framed,
    read_frame,
)
from arena.server.http.opened_home import OpenedHome
from arena.server.http.problems import DEFECT, Problem, problem_of
from arena.site.frame.model import Lane
from arena.site.page_table import PAGE_BY_NAME, PAGES
from arena.store.results.values import read_whole

NICENESS = {Lane.BOARDS: 5, Lane.RATINGS: 10}
"""A tournament that is being played comes first; at 10, a board of 2 ms of work waited for seconds on full cores."""

GARBAGE_THRESHOLD = 100_000
"""A million results are read a third faster than if the garbage collector looked at every 700 new objects."""

MAX_LOG_CHARACTERS = 4000


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = _take_pipes()
    settings = BuilderStart.model_validate_json(read_frame(requests) or b"")
    end_with(settings.parent, signal.SIGKILL)  # the rules of a game may keep all threads from running
    gc.set_threshold(GARBAGE_THRESHOLD)
    if settings.memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (settings.memory_bytes, settings.memory_bytes))
    sys.path[:] = settings.import_path
    let_leaderboards_rest(RestingLeaderboards())
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting), daemon=True).start()
    builder = _Builder(settings)
    builder.prepare()  # while it still comes first, as a reader waits for this
    be_nice(NICENESS[settings.lane])
    payloads = [b""]  # it is ready
    while True:
        for payload in payloads:
            answers.write(framed(payload))
        answers.flush()
        payloads = builder.answer(waiting.get())


class _Builder:
    def __init__(self, start: BuilderStart) -> None:
        self._start = start

    def prepare(self) -> None:
        """Import the builders of the pages of its lane, and open the home; if that fails, its first page says why."""
        for page in PAGES:
            if page.lane is self._start.lane:
                page.function()
        with contextlib.suppress(ArenaError):
            self._opened()

    @cached_property
    def _opened(self) -> OpenedHome:
        return OpenedHome(self._start.directory, self._start.store)

    def answer(self, payload: bytes) -> list[bytes]:
        try:
            built = self._build(BuildRequest.model_validate_json(payload))
        except Exception as error:
            return [_failure(error).model_dump_json().encode()]
        except BaseException as error:  # the rules of a game may raise SystemExit
            return [BuildAnswer(problem=DEFECT, log=repr(error)[:MAX_LOG_CHARACTERS]).model_dump_json().encode()]
        answer = BuildAnswer(seconds=built.seconds, cpu_seconds=built.cpu_seconds or 0.0)
        return [answer.model_dump_json().encode(), built.json]

    def _build(self, request: BuildRequest) -> BuiltValue:
        page = PAGE_BY_NAME[request.page]
        parameters = page.parameters.model_validate(request.parameters)
        opened = self._opened
        started, cpu_started = time.monotonic(), time.process_time()
        home = opened()
        value = read_whole(lambda: page.build(home, parameters)).model_dump_json().encode()
        if len(value) > MAX_FRAME_BYTES:
            raise FrameError(f"the page {page.name} has {len(value)} bytes")
        return BuiltValue(value, time.monotonic() - started, time.process_time() - cpu_started)


def _failure(error: Exception) -> BuildAnswer:
    problem: Problem = problem_of(error)
    if problem is DEFECT:
        return BuildAnswer(problem=problem, log=traceback.format_exc()[-MAX_LOG_CHARACTERS:])
    return BuildAnswer(problem=problem, log=text_of(error)[:MAX_LOG_CHARACTERS] if problem.is_store_away else "")


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes from and to the web process; games read from and print to the null device instead."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return os.fdopen(requests, "rb"), os.fdopen(answers, "wb")


def _receive(requests: BinaryIO, waiting: queue.SimpleQueue[bytes]) -> None:
    """Pass requests on; at their end, end the process even if it is building a page."""
    with contextlib.suppress(FrameError, OSError):
        while (payload := read_frame(requests)) is not None:
            waiting.put(payload)
    os._exit(0)


if __name__ == "__main__":
    main()
