"""System V shared memory, semaphores and message queues, which outlive the process that made them (sysvipc(7)).

They end with the IPC namespace of a bot that has its own, and are refused from the level ``landlock`` on. The remaining
ones are identified by the uid of a bot, or, for shared memory, by the process that made it. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.sandbox.isolation.launch_spec import LaunchSpec

IPC_RMID = 0
_KINDS = {"shm": "shmid", "sem": "semid", "msg": "msqid"}
"""The tables of /proc/sysvipc, and their columns with the number of an object."""


def uids_with_objects() -> set[int]:
    """Return the uids that have made any of the existing objects."""
    return {row["cuid"] for kind in _KINDS for row in _rows(kind)}


def objects_of_uid(uid: int) -> list[tuple[str, int]]:
    """Return the kind ("shm", "sem", "msg") and the number of everything that belongs to a uid, or that it has made."""
    return [
        (kind, row[number_column])
        for kind, number_column in _KINDS.items()
        for row in _rows(kind)
        if uid in (row["uid"], row["cuid"])
    ]


def may_leave_shared_memory(spec: LaunchSpec) -> bool:
    """Return whether a bot launched by this spec may leave shared memory that belongs to this user."""
    return not (spec["seccomp"] or spec["mounts"] or spec["other_uid"])


def remove_made_by(processes: Collection[int]) -> None:
    """Remove this user's shared memory that one of ``processes``, all dead by now, has made.

    For semaphores and message queues the kernel doesn't record which process made them.
    """
    libc = ctypes.CDLL(None)
    for row in _rows("shm"):
        if row["cuid"] == os.getuid() and row["cpid"] in processes:
            libc.shmctl(row["shmid"], IPC_RMID, None)


def _rows(kind: str) -> list[dict[str, int]]:
    """Return the rows of a table of /proc/sysvipc, by the names in its first line."""
    with contextlib.suppress(OSError, ValueError):
        head, *lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
        names = head.split()
        return [dict(zip(names, map(int, line.split()), strict=False)) for line in lines]
    return []
