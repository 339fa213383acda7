"""Whether a bot waits for more, and whether the machine stalled."""

from __future__ import annotations

import enum
import fcntl
import os
import struct
import termios
import time

from arena.match.players.subprocess import Subprocess
from arena.sandbox.isolation import procfs, reaper

# Whether the machine stalled: a bot must not lose because the arena looked late.
#
# A wait that ends well after its deadline means that this process did not run when it should have: the virtual machine
# was halted, the computer slept, memory was short. Then nobody can say whether the answer was late, and the match is
# void. But a bot must not be able to delay the arena on purpose, to have a lost match played again: as far as this
# process waited for the processor (``/proc/self/schedstat``) while the bots used it, the delay is theirs.

STALL_SECONDS = 0.05
"""A delay beyond this that the bots do not explain makes a match void. The scheduler alone stays below."""


class StallDetector:
    """Measures how long this process has waited for the processor since ``mark`` was last called."""

    def __init__(self) -> None:
        self._schedstat = procfs.KeptFile("/proc/self/schedstat")
        self._waited = 0.0
        self._bots_cpu = 0.0

    def mark(self, bots_cpu_seconds: float) -> None:
        """Remember the state well before a deadline."""
        self._waited = self._waited_seconds()
        self._bots_cpu = bots_cpu_seconds

    def has_stalled(self, delay_seconds: float, bots_cpu_seconds: float) -> bool:
        """Return whether this process looked late at a deadline for a reason other than the bots."""
        waited_seconds = self._waited_seconds() - self._waited
        bots_share_seconds = min(waited_seconds, bots_cpu_seconds - self._bots_cpu)
        return delay_seconds - max(0.0, bots_share_seconds) > STALL_SECONDS

    def _waited_seconds(self) -> float:
        """Return how long this thread has been ready to run without running (sched-stats.rst, field 2).

        The file is opened when it is first needed, which in a match of quick turns is never.
        """
        try:
            return int(self._schedstat.read().split()[1]) / 1e9
        except OSError:
            return 0.0

    def close(self) -> None:
        """Close the file."""
        self._schedstat.close()


# Whether a bot is done with what it has been sent, and waits for more.
#
# ``end`` has no answer, so nothing in the conversation shows when a bot has dealt with it. The kernel does: the pipe
# has been read to its end, and a thread of the bot waits for more of it (/proc/PID/task/TID/syscall).

FIRST_PAUSE_SECONDS = 0.00001
MAX_PAUSE_SECONDS = 0.005
"""The pause between two checks of a bot, which doubles from the first of these to the second."""

THREAD_GRACE_SECONDS = 0.02
"""How long to wait for a thread that works while another one waits for input: it may think for ever."""

_EVENT_WAITS = {
    "x86_64": {7: 2, 271: 2, 232: 3, 281: 3, 23: 4, 270: 4},
    "aarch64": {73: 2, 22: 3, 72: 4},
}
"""The system calls poll, ppoll, epoll_wait, epoll_pwait, select and pselect6, and which argument is the timeout."""

_READS = {"x86_64": (0, 19), "aarch64": (63, 65)}
"""The system calls read and readv."""

_MACHINE = os.uname().machine

_NO_TIMEOUT = (0, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
"""A null pointer, or -1 as an int."""


class Activity(enum.Enum):
    """What a bot is doing."""

    WAITS = "a thread waits for input, and the others of its process sleep"
    WAITS_AND_WORKS = "a thread waits for input, and another works"
    WORKS = "no thread waits for input"
    UNKNOWN = "this system does not show it"


def wait_until_idle(process: Subprocess, seconds: float, stderr_bytes: int) -> float:
    """Wait until a bot has dealt with what it was sent and waits for more; return for how long, in seconds.

    What it writes to stderr is kept; after more than ``stderr_bytes`` of it the bot is not waited for.
    """
    started = time.perf_counter()
    pause_seconds = FIRST_PAUSE_SECONDS
    os.sched_yield()  # a bot that shares a core with the arena runs now
    while not _is_idle(process, waited_seconds := time.perf_counter() - started, stderr_bytes):
        if waited_seconds >= seconds:
            break
        time.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, MAX_PAUSE_SECONDS)
    return waited_seconds


def _is_idle(process: Subprocess, waited_seconds: float, stderr_bytes: int) -> bool:
    if process.unsent:
        process.send_rest()
    activity = Activity.WORKS
    if not process.unsent and not unread_bytes(process.stdin):
        activity = activity_of(process.monitor.main, process.stdin, process.monitor.main_call)
    while process.drain_stderr():
        if process.stderr_text.total_bytes > stderr_bytes:
            return True
    if activity is Activity.WAITS:
        return True
    if process.has_exited():
        process.drain_last_stderr()
        return True
    return activity is not Activity.WORKS and waited_seconds >= THREAD_GRACE_SECONDS


def unread_bytes(pipe: int) -> int:
    """Return how many bytes a pipe holds that nobody has read."""
    count: int = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
    return count


def activity_of(pid: int, pipe: int, call: procfs.KeptFile | None = None) -> Activity:
    """Return what a bot is doing: its own process or, while that one doesn't wait for input, those it has started.

    Args:
        call: the file that shows the system call of the bot's main thread, if it is kept open.
    """
    if _MACHINE not in _READS:
        return Activity.UNKNOWN
    inode = os.fstat(pipe).st_ino
    try:
        activity = _activity_of_process(pid, inode, call)
        if activity is Activity.WORKS:
            for process in reaper.descendants(pid):
                if (activity := _activity_of_process(process, inode)) is not Activity.WORKS:
                    break
    except (OSError, ValueError):  # it may not be read, or is ending: then how it ends is soon known
        return Activity.WORKS if procfs.is_exiting(f"/proc/{pid}") else Activity.UNKNOWN
    return activity


def _activity_of_process(pid: int, inode: int, call: procfs.KeptFile | None = None) -> Activity:
    waits = works = False
    for thread in procfs.threads(pid):
        kept = call if thread == str(pid) else None
        words = (kept.read() if kept else procfs.read(f"/proc/{pid}/task/{thread}/syscall")).split() or [b"-1"]
        if words[0] == b"running":
            works = True
        elif not waits:
            waits = _is_waiting(pid, words, inode)
    if waits:
        return Activity.WAITS_AND_WORKS if works else Activity.WAITS
    return Activity.WORKS


def _is_waiting(pid: int, words: list[bytes], inode: int) -> bool:
    """Return whether a thread waits for the pipe, or for events as long as it takes.

    Args:
        words: the number of the system call it sleeps in, and the arguments.
        inode: the pipe's.
    """
    number = int(words[0])
    if number in _READS[_MACHINE]:
        return os.stat(f"/proc/{pid}/fd/{int(words[1], 16)}").st_ino == inode  # noqa: PTH116 - quicker than pathlib, at the end of every match
    timeout_place = _EVENT_WAITS[_MACHINE].get(number)
    return timeout_place is not None and int(words[1 + timeout_place], 16) in _NO_TIMEOUT
