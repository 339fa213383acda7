"""Services: programs that run while they have work, and start again after a failure."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from arena.base.programs.service_program import NOTHING_TO_DO
from arena.sandbox.isolation.reaper import reap_session

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""After running this long, a program begins with the first pause again."""
SHUTDOWN_SECONDS = 5.0

_log = logging.getLogger("arena.server.http")


class Service:
    """A program that runs while it has work, and ends with ``NOTHING_TO_DO``; then it rests until the next start.

    Its first argument is the process that started it, with which it ends.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        now: Callable[[], float] = lambda: time.monotonic(),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a Python module, with the arguments that follow the first, and more variables of the environment."""
        self._module, self._arguments, self._now = module, arguments, now
        self._environment = environment or {}
        self._process: asyncio.subprocess.Process | None = None
        self._ended_sessions: set[int] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = asyncio.Event()
        self._failure, self._started_at = "", 0.0
        self.rests = True

    @property
    def pid(self) -> int | None:
        """Its process; None while it does not run."""
        is_running = self._process is not None and self._process.returncode is None
        return self._process.pid if is_running and self._process is not None else None

    @property
    def problem(self) -> str:
        """Its last failure, until it has run for a while or has had nothing to do; "" without one."""
        is_steady = self.pid is not None and self._now() - self._started_at > STEADY_SECONDS
        return "" if self.rests or is_steady else self._failure

    def start(self) -> None:
        """Start the task that starts the program whenever it is wanted, and again if it fails."""
        self._task = asyncio.create_task(self._keep_running())

    def want(self) -> None:
        """Note that there is work for it."""
        self._is_wanted.set()

    async def _keep_running(self) -> None:
        pause_seconds = FIRST_PAUSE_SECONDS
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            self.rests = False
            self._started_at = self._now()
            try:
                code: object = await self._run_once()
                if code == NOTHING_TO_DO:
                    pause_seconds, self.rests, self._failure = FIRST_PAUSE_SECONDS, True, ""
                    continue
            except OSError as error:  # the system can't start a process now
                code = error.strerror
            pause_seconds = (
                FIRST_PAUSE_SECONDS if self._now() - self._started_at > STEADY_SECONDS else 2 * pause_seconds
            )
            pause_seconds = min(pause_seconds, LONGEST_PAUSE_SECONDS)
            self._failure = f"{self._module} has ended ({code}); it is started again"
            _log.error("%s in %g s", self._failure, pause_seconds)
            await asyncio.sleep(pause_seconds)
            self.want()

    async def _run_once(self) -> int:
        self._reap_orphans()
        command = [sys.executable, "-m", self._module, str(os.getpid()), *self._arguments]
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            env={**os.environ, **self._environment},
            start_new_session=True,  # Ctrl-C is for the web process, also while a program is still starting
        )
        code = await self._process.wait()
        self._ended_sessions.add(self._process.pid)
        self._reap_orphans()
        return code

    def _reap_orphans(self) -> None:
        """Reap what earlier programs have left; a process that has launched bots adopts such orphans."""
        self._ended_sessions = set(filter(reap_session, self._ended_sessions))

    async def close(self) -> None:
        """End the program and its task."""
        if self._task is None:
            return
        self._task.cancel()
        [failed] = await asyncio.gather(self._task, return_exceptions=True)
        if not isinstance(failed, asyncio.CancelledError):
            _log.error("%s was no longer kept running", self._module, exc_info=failed)
        if self._process is None:
            return
        _signal(self._process, signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), SHUTDOWN_SECONDS)
        except TimeoutError:
            _signal(self._process, signal.SIGKILL)
            await self._process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a process, unless it has ended.

    ``Process.terminate`` and ``Process.kill`` poll first, which takes the exit status away from asyncio, whose thread
    waits for it: "Unknown child process pid".
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
