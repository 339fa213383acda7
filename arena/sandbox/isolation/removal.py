"""Removing what bots have left: files, processes' shared memory, semaphores and message queues."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
import time
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.sandbox.isolation.launch_spec import LaunchSpec


# System V shared memory, semaphores and message queues, which outlive the process that made them (sysvipc(7)).
#
# They end with the IPC namespace of a bot that has its own, and are refused from the level ``landlock`` on. The
# remaining ones are identified by the uid of a bot, or, for shared memory, by the process that made it. Standard
# library only.

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
    with contextlib.suppress(OSError, ValueError):
        head, *lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
        names = head.split()
        return [dict(zip(names, map(int, line.split()), strict=False)) for line in lines]
    return []


# Bots nest directories thousands deep, take away permissions, and place links where the arena cleans up. So nothing
# here recurses, follows a link, leaves the file system it started in, or works past its deadline. Standard library
# only, for the fork server.

REMOVAL_SECONDS = 5.0
"""The time for one bot's scratch directory. What remains keeps its name; the next stale cleanup continues with it."""

_BATCH = 4096
_REFERENCE = getattr(os, "O_PATH", os.O_RDONLY)  # only Linux needs no permission to hold a directory
_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str, seconds: float = REMOVAL_SECONDS) -> bool:
    """Remove a file, a link, or a directory with its contents; return whether it is gone."""
    with contextlib.suppress(OSError):
        os.rmdir(path)  # most directories of bots are empty, for what bots wrote was in file systems of their own
        return True
    parent, name = os.path.split(path)
    try:
        directory = os.open(parent or ".", _REFERENCE | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return not os.path.lexists(path)
    try:
        return remove_entry(directory, name, time.monotonic() + seconds)
    finally:
        os.close(directory)


def remove_entry(parent: int, name: str, deadline: float) -> bool:
    """Remove an entry of an open directory, with its contents; return whether it is gone.

    It stops at the deadline, in the seconds of ``time.monotonic``.
    """
    if _remove(parent, name):
        return True
    root = _open(parent, name)
    if root is None:
        return False
    try:
        _empty(root, deadline)
    finally:
        os.close(root)
    return _remove(parent, name)


def _empty(root: int, deadline: float) -> None:
    """Empty a directory without recursion: nested directories are moved up into it and emptied in turn."""
    while time.monotonic() < deadline:
        names = _first_names(root)
        if not sum(_remove_or_flatten(root, name, deadline) for name in names):
            return


def _remove_or_flatten(root: int, name: str, deadline: float) -> bool:
    """Remove an entry of ``root``, or move its directories up into ``root``; return whether anything has changed."""
    if _remove(root, name):
        return True
    directory = _open(root, name)
    if directory is None:
        return False
    has_changed = False
    try:
        while time.monotonic() < deadline:
            names = _first_names(directory)
            if not sum(_remove(directory, inner) or _move_up(directory, inner, root) for inner in names):
                break
            has_changed = True
    finally:
        os.close(directory)
    return _remove(root, name) or has_changed


def _first_names(directory: int) -> list[str]:
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        return [entry.name for entry in itertools.islice(entries, _BATCH)]
    return []


def _remove(parent: int, name: str) -> bool:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):  # it is a directory
            return False
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError:
            return False
    return True


def _move_up(directory: int, name: str, root: int) -> bool:
    """Move a directory into ``root``, under a name that the bot can't have taken."""
    opened = _open(directory, name)
    if opened is None:
        return False
    os.close(opened)
    try:
        os.rename(name, uuid.uuid4().hex, src_dir_fd=directory, dst_dir_fd=root)
    except OSError:
        return False
    return True


def _open(parent: int, name: str) -> int | None:
    """Open a directory, restoring its owner's permissions; None if that fails or it is of another file system."""
    with contextlib.suppress(OSError):
        reference = os.open(name, _REFERENCE | _DIRECTORY, dir_fd=parent)
        try:
            if os.fstat(reference).st_dev == os.fstat(parent).st_dev:
                if not hasattr(os, "O_PATH"):
                    return os.dup(reference)
                with contextlib.suppress(OSError):
                    os.chmod(f"/proc/self/fd/{reference}", 0o700)
                return os.open(f"/proc/self/fd/{reference}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(reference)
    return None
