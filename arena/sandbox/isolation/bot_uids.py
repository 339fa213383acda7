"""Uids that bots have to themselves, where the arena runs as root. Standard library only, for the fork server."""

from __future__ import annotations

import atexit
import errno
import os
import signal
import socket
from typing import NamedTuple

from arena.sandbox.isolation.call_list import CallList, StepError
from arena.sandbox.isolation.removal import IPC_RMID, objects_of_uid
from arena.sandbox.isolation.sandbox_calls import add_user

FIRST_UID, LAST_UID = 61184, 65519
"""Uids that belong to no user: the range that systemd reserves for dynamic users of services (systemd.io/UIDS-GIDS)."""

_KILLER_UID = LAST_UID + 1
"""The uid of what kills a bot's processes, in their eyes. It belongs to no user either."""

_EVERY_PROCESS = -1
"""The pid that means to kill(2): every process that the caller may signal, except itself."""


class LockedUid(NamedTuple):
    """A uid that no other bot on this machine has, and the lock on it.

    The arena's process has the lock too: other arenas would take the uid for unused, and kill the bot, if its fork
    server's death released it.
    """

    uid: int
    lock: socket.socket


MAX_SPARE_UIDS = 16
_spare_uids: list[LockedUid] = []
"""Uids of bots that have ended, for the next bots of this process."""


def reserve_uid() -> LockedUid:
    """Return a uid that no other bot on this machine has.

    Raises:
        StepError: if all are in use.
    """
    if _spare_uids:
        return _spare_uids.pop(0)
    for uid in range(FIRST_UID, LAST_UID + 1):
        lock = lock_uid(uid)
        if lock is not None:
            return LockedUid(uid, lock)
    raise StepError("uid", errno.EAGAIN, f"{FIRST_UID} to {LAST_UID} are all in use")


def lock_uid(uid: int) -> socket.socket | None:
    """Return the lock on a uid; None if another bot holds it."""
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        lock.bind(f"\0arena-bot-uid-{uid}")
    except OSError:
        lock.close()
        return None
    return lock


def release_uid(user: LockedUid) -> None:
    """Keep the uid of a bot that has ended for the next one, or let others have it."""
    if len(_spare_uids) < MAX_SPARE_UIDS:
        _spare_uids.append(user)
    else:
        user.lock.close()


def leave_uids() -> None:
    """Leave the spare uids to the process of which this one is a copy."""
    while _spare_uids:
        _spare_uids.pop().lock.close()


atexit.register(leave_uids)  # Python 3.13 warns of sockets that are still open at the end


def kill_uid(uid: int) -> None:
    """Kill all processes of a bot's uid at once.

    The process that kills them shares our memory while we wait for it. They may not signal it (kill(2)), because a
    signal to it could interrupt or stop us.
    """
    if not FIRST_UID <= uid <= LAST_UID:
        raise ValueError(f"uid {uid} is not between {FIRST_UID} and {LAST_UID}")
    with CallList() as calls:
        calls.add("setresuid", _KILLER_UID, uid, _KILLER_UID)
        calls.add("kill", _EVERY_PROCESS, int(signal.SIGKILL), skipped=0)
        while os.WIFSIGNALED(os.waitpid(calls.start(), 0)[1]):
            pass  # that of another arena has killed it


def remove_system_v_of_uid(uid: int) -> None:
    """Remove the System V objects of a uid, as that user: the root of a container has no power over them."""
    objects = objects_of_uid(uid)
    if not objects:
        return
    with CallList() as calls:
        add_user(calls, uid)
        for kind, number in objects:
            arguments = (number, 0, IPC_RMID, 0) if kind == "sem" else (number, IPC_RMID, 0)
            calls.add(f"{kind}ctl", *arguments, skipped=0)
        os.waitpid(calls.start(), 0)
