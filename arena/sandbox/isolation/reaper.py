"""Leaving no process behind: of bots that are ended, and of arena processes that were killed."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.bot_uids import FIRST_UID, LAST_UID, lock_uid, remove_system_v_of_uid
from arena.sandbox.isolation.control_groups import remove_stale_groups
from arena.sandbox.isolation.launch_spec import TAG_VARIABLE
from arena.sandbox.isolation.procfs import NOTE_SUFFIX, NotedSession, is_dead, is_member, read_note
from arena.sandbox.isolation.removal import remove_entry, uids_with_objects

# Four nets, each for what slips through the one before:
#
# 1. Every bot leads a session and a process group of its own, and its group is killed when it is ended. From the level
#    ``landlock`` on, no process of a bot can leave that group.
# 2. As root, all processes of the bot's uid are killed, unless the next net shows that its end has left none; with
#    control groups, all processes in them.
# 3. This process adopts orphans (PR_SET_CHILD_SUBREAPER): a process in another group becomes our child when its parent
#    dies, and ``LauncherClient.reap_orphans`` kills and reaps it. No process can join our session, so a child of ours
#    in another session is an orphan of a bot. A worker launches nothing but bots, so there every such child is one; in
#    other processes only those with a process tag in their environment are.
# 4. The fork server (``arena.sandbox.isolation.fork_server``) does all this if this process is killed.


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


def end_tracers(traced: set[int], ancestors: set[int]) -> None:
    """Kill descendants of ``ancestors`` that trace processes, and could keep them stopped or unreaped for ever.

    Below the level ``landlock`` a bot may trace its own processes and, without a uid of its own, workers and other
    bots. A debugger of the operator's may go on.
    """
    tracers = {tracer for pid in traced for tracer in procfs.tracers(pid)}
    for bot in tracers and tracers.intersection(set().union(*map(descendants, ancestors))):
        with contextlib.suppress(OSError):
            os.kill(bot, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """Return the pids of a process's children; none where the system does not list them."""
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for thread in procfs.threads(pid):
            with contextlib.suppress(OSError):
                pids += map(int, procfs.read(f"/proc/{pid}/task/{thread}/children").split())
    return pids


def reap_session(session: int) -> bool:
    """Reap adopted processes of a session that have ended, whose leader was reaped before; return whether any live."""
    are_alive = False
    for child in children(os.getpid()):
        with contextlib.suppress(OSError):
            if os.getsid(child) == session:
                are_alive |= not reap_ended(child)
    return are_alive


def reap_ended(child: int) -> bool:
    """Reap a child if it has ended; return whether it is gone."""
    try:
        return os.waitpid(child, os.WNOHANG) != (0, 0)
    except OSError:
        return True


# Removing what an arena process has left if it was killed together with its fork server.
#
# Anyone may create anything in a temporary directory, under any name. So only the arena's own entries are touched, none
# of them can keep the arena from starting, and the time is bounded: the next start continues with whatever remains.

SCRATCH_PREFIX = "arena-bot-"
"""The start of the names of scratch directories; a process tag follows, as with those below."""
PROBE_PREFIX = "arena-outside-"
"""Of what the sandbox probe tries to reach."""
DASK_WORKER_PREFIX = "arena-node-"
"""Of the bots that a Dask worker has unpacked."""
COPY_PREFIX = "unfinished-"
"""Of copies of submitted bots, in the home."""
UPLOAD_PREFIX = "arena-upload-"
"""Of what was unpacked from an archive."""
RULES_PREFIX = "arena-rules-"
"""Of what checks of rules exchange with their process."""
CLEANUP_SECONDS = 5.0
"""The time for all directories together."""


def make_scratch() -> str:
    """Create a directory for one bot and return its real path; its name has the process tag."""
    while True:
        path = f"{scratch_parent()}/{SCRATCH_PREFIX}{procfs.process_tag()}-{os.urandom(4).hex()}"
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
            return path


def scratch_parent() -> str:
    """Return the real path of the directory for temporary files."""
    return _real_path(tempfile.gettempdir())


@functools.lru_cache(maxsize=1)
def _real_path(directory: str) -> str:
    return os.path.realpath(directory)


def remove_stale() -> None:
    """Remove bot processes, control groups, System V objects and directories of dead arena processes."""
    _kill_stale_processes()
    remove_stale_groups()
    if os.geteuid() == 0:
        _remove_system_v()
    remove_stale_directories(tempfile.gettempdir(), CLEANUP_SECONDS)


def _kill_stale_processes() -> None:
    """Kill all stale processes. All are stopped before the first is killed, or they could keep multiplying."""
    own_mounts = procfs.mount_points("self") if sys.platform == "linux" else set()
    deadline = time.monotonic() + CLEANUP_SECONDS
    sessions = _stale_sessions(tempfile.gettempdir(), deadline)
    killed: set[int] = set()
    while time.monotonic() < deadline:
        stale = {
            int(path.name) for path in Path("/proc").glob("[0-9]*") if _is_stale(path, own_mounts, sessions)
        } - killed
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in stale:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        killed |= stale
        if not stale:
            return


def _stale_sessions(parent: str, deadline: float) -> list[NotedSession]:
    sessions = []
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if time.monotonic() > deadline:
                break
            if entry.name.endswith(NOTE_SUFFIX) and _is_own(entry) and is_dead(_tag(entry.name)):
                sessions.append(read_note(entry.path))
    return [session for session in sessions if session is not None]


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry belongs to this user: bots with uids of their own may write notes of their own."""
    with contextlib.suppress(OSError):
        return entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    return False


def _remove_system_v() -> None:
    for uid in uids_with_objects():
        if FIRST_UID <= uid <= LAST_UID and (lock := lock_uid(uid)) is not None:
            with lock:
                remove_system_v_of_uid(uid)


def remove_stale_directories(parent: str, seconds: float) -> None:
    """Remove the directories of dead arena processes from a directory, for at most ``seconds``."""
    deadline = time.monotonic() + seconds
    with contextlib.suppress(OSError):
        directory = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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
    for prefix in (SCRATCH_PREFIX, PROBE_PREFIX, DASK_WORKER_PREFIX, COPY_PREFIX, UPLOAD_PREFIX, RULES_PREFIX):
        if name.startswith(prefix):
            return name.removeprefix(prefix).partition("-")[0]
    return ""


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry has one of the arena's names, and belongs to this user or to the uid of a bot."""
    if not _tag(entry.name):
        return False
    with contextlib.suppress(OSError):
        return _belongs_to_us(entry.stat(follow_symlinks=False).st_uid)
    return False


def _belongs_to_us(uid: int) -> bool:
    return uid == os.geteuid() or (os.geteuid() == 0 and FIRST_UID <= uid <= LAST_UID)


def _is_stale(path: Path, own_mounts: set[bytes], sessions: list[NotedSession]) -> bool:
    """Return whether a process belongs to a bot of a dead arena process.

    It shows by its mounts, its noted session or, as root, by its uid, which no process of a bot can shed, and else by
    its environment. Of processes of other users only the session is looked at: they could make reading their
    environment block forever. One that has made itself unreadable seems to be root's.
    """
    if any(is_member(path.name, session) for session in sessions):
        return True
    with contextlib.suppress(OSError):
        uid = path.stat().st_uid
        if not _belongs_to_us(uid):
            return False
        tags = [
            _tag(os.path.basename(os.fsdecode(mount_point)))
            for mount_point in procfs.mount_points(path.name) - own_mounts
        ]
        for setting in procfs.environment(path.name):
            name, _, tag = setting.partition(b"=")
            if name == TAG_VARIABLE.encode():
                tags.append(tag.decode(errors="replace"))
        if any(tags):
            return any(map(is_dead, tags))
        return uid != os.geteuid() and _is_unused(uid)
    return False


def _is_unused(uid: int) -> bool:
    """Return whether no fork server that is alive has given a uid to a bot."""
    lock = lock_uid(uid)
    if lock is None:
        return False
    lock.close()
    return True
