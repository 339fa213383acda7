"""A program that tries to escape from its sandbox and reports which attempts succeeded. Run as a bot to test a level.

Standard library only. Its arguments are a secret file, a directory that everyone may write to, a TCP port with a
listener, and the pid of the arena. It prints two lists: the escapes that succeeded, and the needs that were refused.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

_libc = ctypes.CDLL(None, use_errno=True)
_PTRACE_SEIZE = 0x4206  # attaching would stop the arena, seizing does not
_CLONE_NEWUSER, _IPC_CREAT = 0x10000000, 0o1000
_IO_URING_SETUP = 425
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_SIGHAND, _CLONE_PARENT = 0x800, 0x8000
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36


def _must(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _read(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


def _write(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    os.unlink(path)


def _connect(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=1.0):
        pass


def _new_session() -> None:
    """Try in a child, because the leader of a session can't start another."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.waitpid(pid, 0)[1] != 0:
        raise PermissionError


def _raise_own_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1))


def _set_same_limit(pid: int) -> None:
    """Set a limit of another process as it is: at some levels that succeeds, and an ordinary user's can't be undone."""
    resource.prlimit(pid, resource.RLIMIT_CORE, resource.prlimit(pid, resource.RLIMIT_CORE))


def _new_user_namespace() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _libc.unshare(_CLONE_NEWUSER) == 0 else 1)
    if os.waitpid(pid, 0)[1] != 0:
        raise PermissionError


def _shared_memory() -> None:
    segment = _libc.shmget(0, 4096, _IPC_CREAT | 0o600)
    _must(segment)
    _libc.shmctl(segment, 0, None)


def _child_of_the_parent() -> None:
    """Try to clone a child of the arena; CLONE_SIGHAND alone is invalid, so no child is created."""
    flags = ctypes.c_ulong(_CLONE_PARENT | _CLONE_SIGHAND | signal.SIGCHLD)
    _libc.syscall(_CLONE[os.uname().machine], flags, 0, 0, 0, 0)
    if ctypes.get_errno() != errno.EINVAL:
        raise PermissionError


def _hide() -> None:
    """Hide the memory and files of this process from /proc for a moment."""
    _must(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def _lock_a_shared_file() -> None:
    """Hold a lock that every process with the same file open can see."""
    with open(sys.executable, "rb") as first, open(sys.executable, "rb") as second:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
    raise PermissionError


def _change_times(path: str) -> None:
    before = os.stat(path).st_mtime
    os.utime(path, (before + 1, before + 1))
    if os.stat(path).st_mtime == before:
        raise PermissionError


def _thread() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


def _child() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def main(secret: str, outside: str, port: int, arena_pid: int) -> None:
    """Make every attempt and print the report."""
    escapes: dict[str, Callable[[], object]] = {
        "read a file of the operator's": lambda: _read(secret),
        "list a directory of the operator's": lambda: os.listdir(f"{outside}/home"),
        "read what its first line names": lambda: _read(f"{outside}/named"),
        "read what lies above its directory bin": lambda: _read(f"{outside}/bot/beside"),
        "read what its pyvenv.cfg names": lambda: _read(f"{outside}/home/beside"),
        "read what a link of its own leads to": lambda: _read(f"{outside}/bot/bin/link"),
        "write a file elsewhere": lambda: _write(f"{outside}/mark"),
        "write into the system's temporary directory": lambda: _write(f"/var/tmp/arena-escape-{os.getpid()}"),
        "write into shared memory": _write_shared_memory,
        "connect to a port": lambda: _connect(port),
        "change a file of the operator's": lambda: _change_times(secret),
        "send datagrams": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
        "adopt orphans": lambda: _must(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)),
        "give a child to the arena": _child_of_the_parent,
        "hide from the arena": _hide,
        "watch directories": lambda: _must(_libc.inotify_init1(0)),
        "lock a shared file": _lock_a_shared_file,
        "make a socket": lambda: socket.socket(socket.AF_UNIX).close(),
        "signal the arena": lambda: os.kill(arena_pid, 0),
        "read the arena's environment": lambda: _read(f"/proc/{arena_pid}/environ"),
        "trace the arena": lambda: _must(_libc.ptrace(_PTRACE_SEIZE, arena_pid, 0, 0)),
        "change the arena's limits": lambda: _set_same_limit(arena_pid),
        "raise its own limits": _raise_own_limit,
        "leave its session": _new_session,
        "make a user namespace": _new_user_namespace,
        "use io_uring": lambda: _must(_libc.syscall(_IO_URING_SETUP, 1, ctypes.create_string_buffer(120))),
        "make a System V shared memory segment": _shared_memory,
        "hold a capability": _hold_a_capability,
        "read the arena's clock": lambda: time.clock_gettime(~arena_pid << 3 | 2),  # as clock_getcpuclockid(3) has it
        "hold the arena": lambda: os.pidfd_open(arena_pid),
        "take a pseudo terminal": os.openpty,
        "leave its core": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    }
    needs: dict[str, Callable[[], object]] = {
        "read its own program": lambda: _read(sys.argv[0]),
        "write into its scratch directory": lambda: _write(f"{os.environ['TMPDIR']}/mark"),
        "start a thread": _thread,
        "start a child": _child,
        "open /dev/null": lambda: _write_null(),
        "write into its own shared memory": _write_own_shared_memory,
    }
    succeeded = [name for name, attempt in escapes.items() if _succeeds(attempt)]
    refused = [name for name, attempt in needs.items() if not _succeeds(attempt)]
    sys.stdout.write(json.dumps({"escapes": succeeded, "refused": refused, "uid": os.getuid()}) + "\n")


def _write_shared_memory() -> None:
    """Write where other processes would see it; a private file system there is harmless."""
    if os.stat("/dev/shm").st_dev == os.stat(os.environ["TMPDIR"]).st_dev or _is_private("/dev/shm"):
        raise PermissionError
    _write(f"/dev/shm/arena-escape-{os.getpid()}")


def _write_own_shared_memory() -> None:
    if _is_private("/dev/shm"):
        _write(f"/dev/shm/arena-escape-{os.getpid()}")


def _hold_a_capability() -> None:
    with open("/proc/self/status", "rb") as status:
        held = [line for line in status if line.startswith((b"CapInh", b"CapPrm", b"CapEff", b"CapAmb"))]
    if os.getuid() == 0 or not any(int(line.split()[1], 16) for line in held):
        raise PermissionError


def _is_private(path: str) -> bool:
    return os.stat(path).st_uid == os.getuid() or os.statvfs(path).f_files <= 20000


def _write_null() -> None:
    with open("/dev/null", "wb") as file:
        file.write(b"x")


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
