"""Processes as /proc shows them, even if they hide; and tags of which process something belongs to."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.base.machine import HAS_PROC

# After its main thread has ended, a process shows nothing of what its other threads hold; the directory of each thread
# still does. The ``status`` of a process that has made itself unreadable can still be read by everyone.

MAX_ENVIRONMENT_BYTES = 1 << 20
"""A process may present any of its memory as its environment (PR_SET_MM_MAP)."""


_USUAL_BYTES = 4096
_LINKS_OF_ONE_THREAD = 3
"""The link count of ``task`` with one thread: each thread adds one to the two of every directory (fs/proc/base.c)."""
_ENDED = (b"Z", b"X")
_PF_EXITING = 0x4  # include/linux/sched.h; among the flags of a process in proc_pid_stat(5)
_STILL = (b"T", b"t", *_ENDED)
"""The states of a thread that is stopped, is traced and stopped, or has ended (proc_pid_stat(5))."""


def live_directory(pid: int) -> str:
    """Return the directory of a process, or of a thread that is alive after the main thread has ended."""
    directory = f"/proc/{pid}"
    with contextlib.suppress(OSError, IndexError):
        if _has_ended(directory):
            for thread in os.listdir(f"{directory}/task"):
                if not _has_ended(f"{directory}/task/{thread}"):
                    return f"{directory}/task/{thread}"
    return directory


def read(path: str) -> bytes:
    """Return the content of a file of /proc; pathlib takes three times as long."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = chunk = os.read(descriptor, _USUAL_BYTES)
        while len(chunk) > _USUAL_BYTES // 2:  # the kernel fills a page, as far as whole entries fit
            content += (chunk := os.read(descriptor, _USUAL_BYTES))
        return content
    finally:
        os.close(descriptor)


class KeptFile:
    """A file of /proc that stays open from its first reading on: to open one takes longer than to read it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1

    def read(self) -> bytes:
        """Return what the file says now; raise OSError if there is no such file, or its process is gone."""
        if self._descriptor < 0:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(self._descriptor, _USUAL_BYTES, 0)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def threads(pid: int) -> list[str]:
    """Return the numbers of a process's threads. A single one, as the link count of the directory tells, needs no list.

    Raises:
        OSError: if the process is gone.
    """
    directory = f"/proc/{pid}/task"
    return [str(pid)] if os.stat(directory).st_nlink == _LINKS_OF_ONE_THREAD else os.listdir(directory)


def queued_seconds(pid: int) -> float:
    """Return how long the main thread of a process has been ready to run without running; 0 if that is unknown."""
    try:
        return int(read(f"/proc/{pid}/schedstat").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _has_ended(directory: str) -> bool:
    return read(f"{directory}/stat").rpartition(b")")[2].split()[0] in _ENDED


def is_stopped(pid: int) -> bool:
    """Return whether no thread of a process runs, and no timer of its own can continue it.

    A POSIX timer may send SIGCONT or SIGKILL, which act on what is stopped. If the system does not show the timers, the
    process may have one.
    """
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            if read(f"/proc/{pid}/task/{thread}/stat").rpartition(b")")[2].split()[0] not in _STILL:
                return False
        return not read(f"/proc/{pid}/timers")
    except OSError as error:
        return error.errno == errno.ESRCH or not os.path.exists(f"/proc/{pid}")  # it is gone


def status(directory: str) -> dict[bytes, bytes]:
    """Return the fields of the status of a process or thread (proc_pid_status(5)), which everyone may read."""
    return dict(line.split(b":", 1) for line in read(f"{directory}/status").splitlines())


def tracers(pid: int) -> set[int]:
    """Return the processes that trace a thread of a process (ptrace(2)), and can stop it thereby."""
    pids = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                tracer = int(status(f"/proc/{pid}/task/{thread}")[b"TracerPid"])  # a thread, too
                if tracer:
                    pids.add(int(status(f"/proc/{tracer}")[b"Tgid"]))
    return pids


def environment(pid: int | str) -> list[bytes]:
    """Return the settings in a process's environment, up to ``MAX_ENVIRONMENT_BYTES``."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        return file.read(MAX_ENVIRONMENT_BYTES).split(b"\0")


def mount_points(pid: int | str) -> set[bytes]:
    """Return where file systems are mounted for a process, of as much of the list as an environment may have."""
    with open(f"/proc/{pid}/mountinfo", "rb") as file:
        rows = file.read(MAX_ENVIRONMENT_BYTES).splitlines()
    return {fields[4] for row in rows if len(fields := row.split()) > 4}


def is_hidden(directory: str) -> bool:
    """Return whether a process is alive and does not let its files be listed.

    The files of one that is exiting belong to root, from when it has given up its memory until it has ended
    (``task_dump_owner`` in fs/proc/base.c): that is not hiding.
    """
    try:
        os.close(os.open(f"{directory}/fd", os.O_RDONLY | os.O_DIRECTORY))
    except PermissionError:
        return not is_exiting(directory)
    except OSError:
        pass
    return False


def is_exiting(directory: str) -> bool:
    """Return whether a process is about to end, has ended, or is gone."""
    try:
        state, *_, flags = read(f"{directory}/stat").rpartition(b")")[2].split()[:7]
        return state in _ENDED or bool(int(flags) & _PF_EXITING)
    except (OSError, IndexError, ValueError):
        return True


def open_files(directory: str) -> Iterator[tuple[str, str]]:
    """Yield the number and the target of each open file of a process, as far as they are visible.

    The target is empty where it is longer than a page, because the kernel does not show it.
    """
    with contextlib.suppress(OSError):
        for number in os.listdir(f"{directory}/fd"):
            try:
                yield number, os.readlink(f"{directory}/fd/{number}")
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    yield number, ""


def count_open_files(directory: str) -> int:
    """Return how many files a process has open; newer kernels give the count without a listing."""
    try:
        return os.stat(f"{directory}/fd").st_size or len(os.listdir(f"{directory}/fd"))
    except OSError:
        return 0


def sum_bytes(path: str, *keys: bytes) -> int | None:
    """Return the sum in bytes of the lines of a file that start with a key; None if it can't be read."""
    try:
        lines = Path(path).read_bytes().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(keys))
    except (OSError, ValueError, IndexError):
        return None


# Process tags: which process a directory, a control group or a bot belongs to; and notes of bots' sessions.
#
# Pids are reused, so a tag holds the start time of the process too. It also holds the pid namespace
# (pid_namespaces(7)): the processes of a container have other pids when seen from outside, and may share a temporary
# directory with ours.
#
# A bot can change its environment, where its tag is. For one that has neither a uid nor mounts of its own, the fork
# server notes what no process of the bot can shed from the level ``landlock`` on: session, no_new_privs and filter.

NOTE_SUFFIX = ".session"
"""Ends the name of a note, which begins as that of the bot's scratch directory beside it; a bot can't write there."""


@functools.cache
def process_tag() -> str:
    """Return the tag of this process: its pid, its start time, and its pid namespace."""
    pid = os.getpid()
    return f"{pid}.{_state_and_start(str(pid))[1]}.{_namespace()}"


os.register_at_fork(after_in_child=process_tag.cache_clear)


@functools.cache
def _namespace() -> str:
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    return "0"


def _state_and_start(pid: str) -> tuple[str, str]:
    """Return a process's state and start time, in ticks since the boot (proc_pid_stat(5), fields 3 and 22).

    Without /proc, all that is known is whether it is there.
    """
    if not HAS_PROC:
        with contextlib.suppress(PermissionError):
            os.kill(int(pid), 0)
        return "R", "0"
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
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ESRCH)  # nobody knows where no descriptor is free, for one
    return actual_start != start or state in "ZX"  # a zombie only waits for its parent


class NotedSession(NamedTuple):
    """What was noted of a bot when it had been launched.

    Attributes:
        leader: its pid, which is the number of its session and isn't reused as long as the session has members.
        start: when it started, in ticks since the boot.
        no_new_privs: 1, or 0 at the level ``none``.
        seccomp: 2 with a filter of system calls, otherwise 0. A process can add filters, but not remove them.
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
    fields = status(f"/proc/{pid}")
    return int(fields.get(b"NoNewPrivs", 0)), int(fields.get(b"Seccomp", 0))


@functools.cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
