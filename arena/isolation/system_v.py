"""System V shared memory, semaphores and message queues: they outlive the process that made them (sysvipc(7)).

Where a bot has an IPC namespace of its own, they go with it, and from the level ``landlock`` on they are refused. What
is left to remove is known by the uid of a bot, or, for shared memory, by the process that made it. Standard library
only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

_IPC_RMID = 0
_KINDS = {"shm": "shmid", "sem": "semid", "msg": "msqid"}
"""The tables of /proc/sysvipc, and what the number of an object is called there."""

_Row = dict[str, int]


def uids_with_objects() -> set[int]:
    """Return the uids that have made anything that is there."""
    return {row["cuid"] for kind in _KINDS for row in _rows(kind)}


def remove_of_uid(uid: int) -> None:
    """Remove everything that belongs to a uid; for root, or that user itself."""
    _remove_where(lambda row: uid in (row["uid"], row["cuid"]))


def may_leave_shared_memory(spec: dict[str, Any]) -> bool:
    """Tell whether a bot with this plan may leave something among this user's own."""
    return not (spec["seccomp"] or spec["mounts"] or spec["other_uid"])


def remove_made_by(processes: Collection[int]) -> None:
    """Remove the shared memory of this user's that some processes, dead by now, have made.

    Of semaphores and message queues the kernel doesn't say which process made them.
    """
    _remove_where(lambda row: row["cuid"] == os.getuid() and row.get("cpid") in processes)


def _remove_where(is_meant: Callable[[_Row], bool]) -> None:
    libc = ctypes.CDLL(None)
    for kind, number_is in _KINDS.items():
        for row in filter(is_meant, _rows(kind)):
            number = row[number_is]
            if kind == "shm":
                libc.shmctl(number, _IPC_RMID, None)
            elif kind == "sem":
                libc.semctl(number, 0, _IPC_RMID)
            else:
                libc.msgctl(number, _IPC_RMID, None)


def _rows(kind: str) -> list[_Row]:
    """Return the lines of a table of /proc/sysvipc, by the names at its head."""
    with contextlib.suppress(OSError, ValueError):
        head, *lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
        names = head.split()
        return [dict(zip(names, map(int, line.split()), strict=False)) for line in lines]
    return []
