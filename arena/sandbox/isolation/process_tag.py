"""Process tags: which process a directory, a control group or a bot belongs to; and notes of bots' sessions.

Pids are reused, so a tag holds the start time of the process too. It also holds the pid namespace (pid_namespaces(7)):
the processes of a container have other pids when seen from outside, and may share a temporary directory with ours.

A bot can change its environment, where its tag is. For one that has neither a uid nor mounts of its own, the fork
server notes what no process of the bot can shed from the level ``landlock`` on: session, no_new_privs and filter.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.isolation import procfs

NOTE_SUFFIX = ".session"
"""Ends the name of a note, which begins as that of the bot's scratch directory beside it; a bot can't write there."""


def process_tag() -> str:
    """Return the tag of this process: its pid, its start time, and its pid namespace."""
    return _tag_of(os.getpid())


@functools.lru_cache(maxsize=1)
def _tag_of(pid: int) -> str:
    return f"{pid}.{_state_and_start(str(pid))[1]}.{_namespace()}"


@functools.cache
def _namespace() -> str:
    """Return the number of this process's pid namespace; "0" if it is unknown."""
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    return "0"


def _state_and_start(pid: str) -> tuple[str, str]:
    """Return a process's state and start time, in ticks since the boot (proc_pid_stat(5), fields 3 and 22)."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()  # a program's name may not be text
    return fields[0].decode(), fields[19].decode()


def is_dead(tag: str) -> bool:
    """Return whether the process of a tag has exited; False for text that is no tag, and for another pid namespace.

    Tags of earlier versions name no namespace.
    """
    pid, start, namespace = [*tag.split("."), _namespace()][:3] if tag.count(".") in (1, 2) else ("", "", "")
    if not (tag.isascii() and pid.isdigit() and start.isdigit()) or namespace != _namespace():
        return False
    try:
        state, actual_start = _state_and_start(pid)
    except OSError:
        return True
    return actual_start != start or state in "ZX"  # a zombie only waits for its parent


class NotedSession(NamedTuple):
    """What was noted of a bot when it had been launched.

    Attributes:
        leader: its pid, which is the number of its session and isn't reused as long as the session has members.
        start: when it started, in ticks since the boot.
        no_new_privs: 1, or 0 at the level ``none``.
        seccomp: 2 with a filter of system calls, otherwise 0. A process can add filters, but not remove them.
        boot: identifies the boot.
    """

    leader: int
    start: int
    no_new_privs: int
    seccomp: int
    boot: str


def note_session(scratch: str, pid: int) -> None:
    """Note the session of a bot beside its scratch directory: as a link, which is made with its content at once."""
    with contextlib.suppress(OSError):
        note = NotedSession(pid, int(_state_and_start(str(pid))[1]), *_privileges(str(pid)), _boot())
        os.symlink(".".join(map(str, note)), scratch + NOTE_SUFFIX)


def remove_note(scratch: str) -> None:
    """Remove the note of a bot that has ended."""
    with contextlib.suppress(OSError):
        os.unlink(scratch + NOTE_SUFFIX)


def read_note(path: str) -> NotedSession | None:
    """Return what was noted; None if that was before this boot or is no note, and if the pid has been reused."""
    with contextlib.suppress(OSError, ValueError):
        leader, start, no_new_privs, seccomp, boot = os.readlink(path).split(".")
        note = NotedSession(int(leader), int(start), int(no_new_privs), int(seccomp), boot)
        if boot == _boot() and note.no_new_privs:
            with contextlib.suppress(FileNotFoundError):
                return note if int(_state_and_start(leader)[1]) == note.start else None
            return note  # the leader has exited
    return None


def is_member(pid: str, session: NotedSession) -> bool:
    """Return whether a process is alive and belongs to a noted session."""
    with contextlib.suppress(OSError):
        if os.getsid(int(pid)) == session.leader:
            state, start = _state_and_start(pid)
            no_new_privs, seccomp = _privileges(pid)
            is_confined = no_new_privs >= session.no_new_privs and seccomp >= session.seccomp
            return state not in "ZX" and int(start) >= session.start and is_confined
    return False


def _privileges(pid: str) -> tuple[int, int]:
    """Return whether a process can't gain privileges, and its seccomp mode."""
    status = procfs.status(f"/proc/{pid}")
    return int(status.get(b"NoNewPrivs", 0)), int(status.get(b"Seccomp", 0))


@functools.cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
