"""No process is left behind.

Four nets, each for what slips through the one before:

1. Every bot leads a session and a process group of its own, and its group is killed when it is ended. From the level
   ``landlock`` on, no process of a bot can leave that group.
2. As root, all processes of the bot's uid are killed; with control groups, all processes in them.
3. This process adopts orphans (PR_SET_CHILD_SUBREAPER): a process in another group becomes our child when its parent
   dies, and ``reap_orphans`` kills and reaps it. No process can join our session, so a child of ours in another session
   is an orphan of a bot. A worker launches nothing but bots, so there every such child is one; in other processes only
   those with a process tag in their environment are.
4. The fork server (``arena.sandbox.isolation.fork_server``) does all this if this process is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal

from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.launch_spec import TAG_VARIABLE
from arena.sandbox.isolation.launcher_client import LauncherClient

MAX_ROUNDS = 1000


def descendants(pid: int) -> set[int]:
    """Return the processes that a process has started, directly or indirectly, as far as their parents are alive."""
    result: set[int] = set()
    parents = [pid]
    while parents:
        for child in children(parents.pop()):
            if child not in result:
                result.add(child)
                parents.append(child)
    return result


def bot_processes(pid: int, uid: int | None, scratch: str) -> set[int]:
    """Return all processes of a bot, including adopted orphans, which its scratch directory, their HOME, shows."""
    result = {pid} | descendants(pid)
    for child in children(os.getpid()):
        if child not in result and _is_of_bot(child, pid, uid, scratch):
            result |= {child} | descendants(child)
    return result


def _is_of_bot(child: int, pid: int, uid: int | None, scratch: str) -> bool:
    with contextlib.suppress(OSError):
        if os.getsid(child) == pid:
            return True
        if uid is not None:
            return os.stat(f"/proc/{child}").st_uid == uid
        return f"HOME={scratch}".encode() in procfs.environment(child)
    return False


def end_tracers(workers: set[int]) -> None:
    """Kill the bots that trace their worker, or another one, and could keep it stopped for ever.

    Without a uid of its own, and below the level ``landlock``, a bot may. A debugger of the operator's may go on.
    """
    tracers = {tracer for worker in workers for tracer in procfs.tracers(worker)}
    for bot in tracers and tracers.intersection(set().union(*map(descendants, workers))):
        with contextlib.suppress(OSError):
            os.kill(bot, signal.SIGKILL)


def reap_orphans(launcher: LauncherClient, known: set[int], session: int) -> None:
    """Kill and reap the orphans of bots that this process has adopted; bots that are alive are left alone.

    Args:
        known: the descendants that a bot had when it was ended.
        session: that bot's.
    """
    for _ in range(MAX_ROUNDS):  # the death of an orphan may make its own children ours
        orphans = _orphans(launcher, known, session)
        if not orphans:
            return
        for pid in orphans:  # all are stopped before the first is killed, or they could keep multiplying
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        for pid in orphans:
            known |= descendants(pid)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def _orphans(launcher: LauncherClient, known: set[int], session: int) -> list[int]:
    own_session = os.getsid(0)
    orphans = []
    for pid in children(os.getpid()):
        if pid in launcher.server_pids or pid in launcher.alive:
            continue
        with contextlib.suppress(OSError):
            its_session = os.getsid(pid)
            if its_session == session or (
                its_session != own_session and (launcher.launches_only_bots or pid in known or _has_tag(pid))
            ):
                orphans.append(pid)
    return orphans


def _has_tag(pid: int) -> bool:
    return any(setting.startswith(f"{TAG_VARIABLE}=".encode()) for setting in procfs.environment(pid))


def children(pid: int) -> list[int]:
    """Return the pids of a process's children; none where the system does not list them."""
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                pids += map(int, procfs.read(f"/proc/{pid}/task/{thread}/children").split())
    return pids
