"""Leaving no process behind.

Four nets, each for what slips through the one before:

1. every bot leads a session and a process group of its own, and its group is killed when it is ended; from the level
   ``landlock`` on, what it starts can't leave the group;
2. as root, all processes of its uid are killed; with control groups, all processes in them;
3. this process adopts orphans (PR_SET_CHILD_SUBREAPER), so what a bot started in another group becomes our child when
   its parent dies; ``reap_orphans`` kills and reaps those. A process can't join our session, so an orphan is a child
   of ours in a foreign session. In a worker, which launches nothing but bots, every such child is an orphan; elsewhere
   only those with a process tag in their environment are;
4. the launcher (``arena.isolation.fork_server``) does all this if this process itself is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from arena.isolation import procfs
from arena.isolation.launch_spec import TAG_VARIABLE
from arena.isolation.launcher_client import LauncherClient

MAX_ROUNDS = 1000


def descendants(pid: int) -> set[int]:
    """Return the processes that a process has started, and those that they have, as far as their parents live."""
    found: set[int] = set()
    coming = [pid]
    while coming:
        for child in children(coming.pop()):
            if child not in found:
                found.add(child)
                coming.append(child)
    return found


def bot_processes(pid: int, uid: int | None, scratch: str) -> set[int]:
    """Return a bot's process and all that belong to it, those included that have been left to us.

    Args:
        pid: the bot's process, the leader of its session.
        uid: the bot's own, if it has one.
        scratch: its scratch directory, by which orphans in other sessions are known: it is HOME in their environment.
    """
    found = {pid} | descendants(pid)
    for child in children(os.getpid()):
        if child not in found and _belongs(child, pid, uid, scratch):
            found |= {child} | descendants(child)
    return found


def _belongs(child: int, pid: int, uid: int | None, scratch: str) -> bool:
    with contextlib.suppress(OSError):
        if os.getsid(child) == pid:
            return True
        if uid is not None:
            return Path(f"/proc/{child}").stat().st_uid == uid
        return f"HOME={scratch}".encode() in procfs.environment(child)
    return False


def reap_orphans(launcher: LauncherClient, known: set[int]) -> None:
    """Kill and reap orphans that bots have left to us; bots that are alive are left alone.

    Args:
        launcher: knows the bots that are alive.
        known: the descendants a bot had when it was ended.
    """
    for _ in range(MAX_ROUNDS):  # an orphan's death may hand us its own children: go on until there are none
        orphans = _orphans(launcher, known)
        if not orphans:
            return
        for pid in orphans:  # all are stopped before the first dies, or they would go on multiplying
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        for pid in orphans:
            known |= descendants(pid)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def _orphans(launcher: LauncherClient, known: set[int]) -> list[int]:
    own_session = os.getsid(0)
    found = []
    for pid in children(os.getpid()):
        if pid == launcher.pid or pid in launcher.alive:
            continue
        with contextlib.suppress(OSError):
            if os.getsid(pid) != own_session and (launcher.launches_only_bots or pid in known or _is_marked(pid)):
                found.append(pid)
    return found


def _is_marked(pid: int) -> bool:
    return any(setting.startswith(f"{TAG_VARIABLE}=".encode()) for setting in procfs.environment(pid))


def children(pid: int) -> list[int]:
    """Return the process numbers of a process's children; none where the system doesn't tell."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as listing:
                found += [int(child) for child in listing.read().split()]
    return found
