"""What launches the bots of this process: a fork server, or on systems that are not Linux the process itself."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence

from arena.base.enums import FaultKind
from arena.base.errors import BotError, VoidMatchError
from arena.base.machine import CAN_PIN, HAS_PROC
from arena.sandbox.isolation.bot_uids import leave_uids
from arena.sandbox.isolation.launch_spec import LaunchSpec
from arena.sandbox.isolation.launcher_client import OUR_ERRNOS, LaunchedBot, LauncherClient
from arena.sandbox.isolation.reaper import remove_stale
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.rulesets import leave_rulesets

_PR_SET_CHILD_SUBREAPER = 36


class PlainLauncher(LauncherClient):
    """Starts bots as any program does: in a session of their own, with a clean environment."""

    def __init__(self) -> None:
        self.launches_only_bots = False
        self.alive: dict[int, LaunchedBot] = {}
        self._servers = {}

    def launch(self, spec: LaunchSpec, descriptors: Sequence[int]) -> LaunchedBot:
        """Launch a bot, with a pipe that nobody writes to and that ends when it exits."""
        exit_read, exit_write = os.pipe()
        stdin, stdout, stderr = descriptors
        try:
            process = subprocess.Popen(
                spec["command"],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=spec["directory"],
                env=spec["environment"],
                pass_fds=(exit_write,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(exit_read)
            if error.errno in OUR_ERRNOS:
                raise VoidMatchError(f"no bot can be launched: {error.strerror}") from error
            raise BotError(FaultKind.START, f"{spec['command'][0]} can't be executed: {error.strerror}") from error
        finally:
            os.close(exit_write)
        process.returncode = 0  # whoever ends the bot waits for it, and learns what it used
        launched = LaunchedBot(pid=process.pid, user=None, spec=spec, exit_descriptor=exit_read)
        self.alive[launched.pid] = launched
        return launched

    def needs_members(self, launched: LaunchedBot) -> bool:
        """Return False: without /proc, only the group of a bot is known."""
        return False

    def forget(self, pid: int, known: set[int]) -> None:
        """Remove the scratch directory of a bot; orphans are adopted by the first process of the system."""
        launched = self.alive.pop(pid, None)
        if launched is not None:
            remove_tree(launched.spec["scratch"])


_launcher: LauncherClient | None = None


def open_launcher(launches_only_bots: bool = False) -> LauncherClient:
    """Return this process's client of its fork server; the first call starts the server and adopts orphans.

    ``launches_only_bots``: this process starts nothing else, so each child in another session is a bot's.
    """
    global _launcher
    if _launcher is None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        remove_stale()
        _launcher = LauncherClient(launches_only_bots) if HAS_PROC else PlainLauncher()
        atexit.register(close_launcher)
    return _launcher


@contextlib.contextmanager
def kept_on(cores: Collection[int] | None) -> Iterator[None]:
    """Keep this thread, and the bots that it launches meanwhile, on some cores; None changes nothing."""
    if cores is None or not CAN_PIN:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        _run_launches_on(cores)
        yield
    finally:
        _run_launches_on(before)


def _run_launches_on(cores: Collection[int]) -> None:
    for pid in (0, *(_launcher.server_pids if _launcher is not None else ())):
        with contextlib.suppress(OSError):  # it has died, and its successor is started from here
            os.sched_setaffinity(pid, cores)


def close_launcher() -> None:
    """End the fork server, in a process that has ended all its bots and runs on."""
    global _launcher
    if _launcher is not None:
        _launcher.close()
    _launcher = None


def _forget_launcher() -> None:
    """Leave the fork server, spare uids and rulesets to the process of which this one is a copy."""
    global _launcher
    _launcher = None
    leave_uids()
    leave_rulesets()


os.register_at_fork(after_in_child=_forget_launcher)
