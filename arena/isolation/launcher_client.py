"""The arena's end of the launcher: starts it, sends it plans, and puts a new one in its place if it dies."""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import errno
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.enums import FaultKind
from arena.errors import BotError, VoidMatchError
from arena.isolation.process_tag import process_tag
from arena.isolation.stale_cleanup import SCRATCH_PREFIX, remove_stale

ANSWER_SECONDS = 20.0
"""A launcher that takes longer has been stopped by somebody; another takes its place."""

MAX_SPEC_BYTES = 128 * 1024
"""A message on a socket may not be much larger. Only a directory that others can't enter makes plans long: each file in
it is named."""

_TOO_LONG = (
    "{} has too many files to be opened to a bot one by one, and other users may not enter it; let them (chmod go+rx)"
)

_PR_SET_CHILD_SUBREAPER = 36
_OUR_ERRNOS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)


@dataclass(frozen=True, slots=True)
class LaunchedBot:
    """A bot that has been launched, with what is needed to end it."""

    pid: int
    uid: int | None
    spec: dict[str, Any]


class LauncherClient:
    """One launcher process, and the bots that it watches over.

    Attributes:
        alive: the bots that have been launched and not been ended, by their process numbers.
        launches_only_bots: this process starts nothing but bots in sessions of their own.
    """

    def __init__(self, launches_only_bots: bool) -> None:
        self.launches_only_bots = launches_only_bots
        self.alive: dict[int, LaunchedBot] = {}
        self._owner = os.getpid()
        self._process, self._socket = _start()

    @property
    def pid(self) -> int:
        """The launcher's own process number."""
        return self._process.pid

    def launch(self, spec: dict[str, Any], descriptors: Sequence[int]) -> LaunchedBot:
        """Launch a bot.

        Args:
            spec: from ``make_launch_spec``.
            descriptors: its stdin, stdout and stderr.

        Raises:
            BotError: of kind start, if its program can't be executed, or has too many files beside it to be let in.
            VoidMatchError: if this machine has no room for a process, or a step of its confinement failed.
        """
        read_end, write_end = os.pipe()
        try:
            reply = self._ask({"launch": spec}, [*descriptors, write_end])
            os.close(write_end)
            write_end = -1
            if "pid" not in reply:
                raise _failure(reply["failed"])
            launched = LaunchedBot(reply["pid"], reply["uid"], spec)
            self.alive[launched.pid] = launched
            report = _read_all(read_end)
        finally:
            os.close(read_end)
            if write_end >= 0:
                os.close(write_end)
        if report:
            os.waitpid(launched.pid, 0)
            self.forget(launched.pid)
            raise _failure(json.loads(report))
        return launched

    def forget(self, pid: int) -> None:
        """Have everything removed that a bot has left, once its group has been killed and itself reaped."""
        if pid in self.alive:
            with contextlib.suppress(VoidMatchError):
                self._ask({"ended": pid}, [])
            del self.alive[pid]

    def _ask(self, request: dict[str, Any], descriptors: Sequence[int]) -> dict[str, Any]:
        """Send a request and return the reply, starting the launcher anew once if it has died."""
        for _ in range(2):
            try:
                return self._exchange(request, descriptors)
            except OSError:
                self._replace()
        raise VoidMatchError("the launcher of bots was killed, twice in a row")

    def _exchange(self, request: dict[str, Any], descriptors: Sequence[int]) -> dict[str, Any]:
        message = json.dumps(request).encode()
        if "launch" in request and len(message) > MAX_SPEC_BYTES:
            raise BotError(FaultKind.START, _TOO_LONG.format(request["launch"]["directory"]))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self._socket.sendmsg([message], rights)
        reply = self._socket.recv(1 << 16)
        if not reply:
            raise ConnectionError("the launcher has gone")
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def _replace(self) -> None:
        """Put a new launcher in a dead one's place and hand it the bots that are alive."""
        self._process.kill()
        self._socket.close()
        self._process.wait()
        self._process, self._socket = _start()
        for bot in self.alive.values():
            with contextlib.suppress(OSError):
                self._exchange({"adopt": bot.spec, "pid": bot.pid, "uid": bot.uid}, [])

    def close(self) -> None:
        """Let it end what is left, and leave."""
        if self._owner == os.getpid():
            self._socket.close()
            self._process.wait()


def _start() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a launcher; return it and our end of its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("fork_server.py"))],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    ours.settimeout(ANSWER_SECONDS)
    return process, ours


_launcher: LauncherClient | None = None
_owner_pid = 0


def open_launcher(launches_only_bots: bool = False) -> LauncherClient:
    """Make this process ready to launch bots: adopt orphans and start the launcher. The second time, only return it.

    Args:
        launches_only_bots: this process starts nothing but bots in sessions of their own.
    """
    global _launcher, _owner_pid
    if _launcher is None or _owner_pid != os.getpid():
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        remove_stale()
        _launcher, _owner_pid = LauncherClient(launches_only_bots), os.getpid()
        atexit.register(close_launcher)
    return _launcher


def close_launcher() -> None:
    """End the launcher; for a process that has ended all its bots and stays."""
    global _launcher
    if _launcher is not None and _owner_pid == os.getpid():
        _launcher.close()
    _launcher = None


def make_scratch() -> str:
    """Return a new directory for one bot; its name tells whose it is, and has no links in it."""
    return os.path.realpath(tempfile.mkdtemp(prefix=f"{SCRATCH_PREFIX}{process_tag()}-"))


def _read_all(descriptor: int) -> bytes:
    """Return what comes until the exec closes the pipe."""
    report = b""
    while chunk := os.read(descriptor, 4096):
        report += chunk
    return report


def _failure(report: dict[str, Any]) -> BotError | VoidMatchError:
    """Return the exception for a launch that failed: the bot's fault if its program can't be executed, else ours."""
    step, number, subject = report["step"], report["errno"], report["subject"]
    reason = os.strerror(number) if number else "it failed"
    if step == "exec" and number not in _OUR_ERRNOS:
        return BotError(FaultKind.START, f"{subject} can't be executed: {reason}")
    return VoidMatchError(f"no bot can be launched: {step}{f' {subject}' if subject else ''}: {reason}")
