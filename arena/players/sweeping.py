"""Leaving no process behind.

Three nets, each for what slips through the one before:

1. every bot leads a session and a process group of its own, and its group is killed when it is ended;
2. this process adopts orphans (PR_SET_CHILD_SUBREAPER), so what a bot started in another group becomes our child when
   its parent dies; ``sweep`` kills and reaps those. A process can't join our session, so an orphan is a child of ours
   in a foreign session. In a worker, which launches nothing but bots, every such child is one; elsewhere only those
   are taken for orphans that carry the mark of a bot in their environment;
3. a warden process (``arena.players.warden``) kills the bots' groups if this process itself is killed.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36

MARK = "ARENA_BOT"
"""The environment variable that every bot is launched with."""

_live: set[int] = set()
_owns_every_child = False
_warden: subprocess.Popen[bytes] | None = None
_owner_pid = 0


def expect_bots(owns_every_child: bool = False) -> None:
    """Make this process ready to launch bots: adopt orphans and start the warden. Does nothing the second time.

    Args:
        owns_every_child: this process starts nothing but bots in sessions of their own.
    """
    global _warden, _owner_pid, _owns_every_child
    if _owner_pid == os.getpid():
        return
    _owner_pid, _owns_every_child = os.getpid(), owns_every_child
    atexit.register(dismiss_warden)
    _live.clear()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _warden = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("warden.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )


def note_launch(pid: int) -> None:
    """Remember a bot that has just been launched as the leader of its own session."""
    _live.add(pid)
    _tell_warden(f"+{pid}\n")


def note_end(pid: int) -> None:
    """Forget a bot whose group has been killed; to be called before it is reaped, while its number is still its own."""
    _live.discard(pid)
    _tell_warden(f"-{pid}\n")


def _tell_warden(line: str) -> None:
    if _warden is not None and _warden.stdin is not None:
        with contextlib.suppress(OSError):
            _warden.stdin.write(line.encode())


def dismiss_warden() -> None:
    """End the warden; for a process that has ended all its bots and stays."""
    global _warden, _owner_pid
    if _warden is not None and _owner_pid == os.getpid():
        if _warden.stdin is not None:
            _warden.stdin.close()
        _warden.wait()
    _warden, _owner_pid = None, 0


def descendants(pid: int) -> set[int]:
    """Return the processes that a process has started, and those that they have, as far as their parents live."""
    found: set[int] = set()
    coming = [pid]
    while coming:
        for child in _children(coming.pop()):
            if child not in found:
                found.add(child)
                coming.append(child)
    return found


def sweep(known: set[int]) -> None:
    """Kill and reap orphans that bots have left to us; bots that are noted as alive are left alone.

    Args:
        known: the descendants a bot had when it was ended.
    """
    for _ in range(100):  # an orphan's death may hand us its own children: go on until there are none
        orphans = _orphans(known)
        if not orphans:
            return
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def _orphans(known: set[int]) -> list[int]:
    own_session = os.getsid(0)
    warden_pid = _warden.pid if _warden is not None else 0
    found = []
    for pid in _children(os.getpid()):
        if pid == warden_pid or pid in _live:
            continue
        with contextlib.suppress(OSError):
            if os.getsid(pid) != own_session and (_owns_every_child or pid in known or _is_marked(pid)):
                found.append(pid)
    return found


def _is_marked(pid: int) -> bool:
    return f"{MARK}=".encode() in Path(f"/proc/{pid}/environ").read_bytes()


def _children(pid: int) -> list[int]:
    """Return the process numbers of a process's children; none where the system doesn't tell."""
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(pid) for pid in listing.read_text().split()]
    return found
