"""What is left when a process of the arena is killed together with its launcher, and how the next one removes it.

Anybody may put anything into a temporary directory, under any name. Only what is ours is touched, nothing in it can
keep the arena from starting, and the time spent on it is bounded: what remains is left to the next start.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path

from arena.isolation import procfs
from arena.isolation.control_groups import remove_stale_groups
from arena.isolation.fork_server import FIRST_UID, LAST_UID, lock_uid
from arena.isolation.launch_spec import TAG_VARIABLE
from arena.isolation.process_tag import is_dead
from arena.isolation.removal import remove_entry
from arena.isolation.system_v import remove_of_uid, uids_with_objects

SCRATCH_PREFIX = "arena-bot-"
"""How the names of scratch directories begin; the tag of their owner follows."""

PROBE_PREFIX = "arena-outside-"
"""The same for the directories that the self-test's program tries to reach."""

DASK_WORKER_PREFIX = "arena-node-"
"""The same for the bots that a worker of a cluster has unpacked."""

CLEANUP_SECONDS = 5.0
"""For all directories that are left."""


def remove_stale() -> None:
    """Remove processes, control groups, System V objects and directories whose owner is dead."""
    for path in Path("/proc").glob("[0-9]*"):
        if _is_stale(path):
            with contextlib.suppress(OSError):
                os.kill(int(path.name), signal.SIGKILL)
    remove_stale_groups()
    if os.geteuid() == 0:
        _remove_system_v()
    remove_stale_directories(tempfile.gettempdir(), CLEANUP_SECONDS)


def _remove_system_v() -> None:
    """Remove System V objects of bots' uids that no bot has now."""
    for uid in uids_with_objects():
        if FIRST_UID <= uid <= LAST_UID and (lock := lock_uid(uid)) is not None:
            with lock:
                remove_of_uid(uid)


def remove_stale_directories(place: str, seconds: float) -> None:
    """Remove the directories in ``place`` that processes of the arena have left, for at most that long."""
    deadline = time.monotonic() + seconds
    with contextlib.suppress(OSError):
        directory = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if time.monotonic() > deadline:
                        return
                    if _is_ours(entry) and is_dead(_tag(entry.name)):
                        remove_entry(directory, entry.name, deadline)
        finally:
            os.close(directory)


def _tag(name: str) -> str:
    """Return the tag in the name of a directory of the arena's; empty for other names."""
    for prefix in (SCRATCH_PREFIX, PROBE_PREFIX, DASK_WORKER_PREFIX):
        if name.startswith(prefix):
            return name.removeprefix(prefix).partition("-")[0]
    return ""


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry has one of our names, and is owned by this user or by a uid of a bot's."""
    if not _tag(entry.name):
        return False
    with contextlib.suppress(OSError):
        return _belongs_to_us(entry.stat(follow_symlinks=False).st_uid)
    return False


def _belongs_to_us(uid: int) -> bool:
    return uid == os.geteuid() or (os.geteuid() == 0 and FIRST_UID <= uid <= LAST_UID)


def _is_stale(path: Path) -> bool:
    """Tell whether a process of ours carries the mark of an owner that is dead.

    Another user's is not looked at: reading its environment could be made to wait for ever.
    """
    with contextlib.suppress(OSError):
        if not _belongs_to_us(path.stat().st_uid):
            return False
        for setting in procfs.environment(path.name):
            name, _, owner = setting.partition(b"=")
            if name == TAG_VARIABLE.encode():
                return is_dead(owner.decode(errors="replace"))
    return False
