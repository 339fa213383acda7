"""How much memory processes hold together, where no control group counts it.

Three things are added up: what is mapped, what lies in file systems that are memory, and what the kernel keeps for
pipes and sockets, which no process is shown to hold. What can't be measured closely counts in full.
"""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from arena.sandbox.isolation import procfs

_PIPE_BYTES = 64 * 1024
"""Sixteen pages (pipe(7)); larger ones are taken from an allowance of the user's."""


MEASURE_SECONDS = 1.0
"""The longest that one measurement may take; what is left then counts in full. A process with very many mappings or
open files takes long to measure."""


class Pace:
    """Limits a slow operation to a tenth of the time, or to half of it where it is urgent."""

    def __init__(self) -> None:
        self._ended_at, self._took_seconds = -math.inf, 0.0

    def is_due(self, is_urgent: bool = False) -> bool:
        """Return whether the operation may run again."""
        return time.monotonic() >= self._ended_at + self._took_seconds * (1 if is_urgent else 10)

    @contextlib.contextmanager
    def keep(self) -> Iterator[None]:
        """Measure how long the operation takes."""
        started = time.monotonic()
        yield
        self._ended_at = time.monotonic()
        self._took_seconds = self._ended_at - started


class MemoryMonitor:
    """Measures the memory of one bot; where a control group counts it, pipes, sockets and file systems need not be."""

    def __init__(self, is_counted: bool) -> None:
        self._is_counted = is_counted
        self._buffers_pace, self._exact_pace = Pace(), Pace()
        self._in_buffers = 0

    def at_most(self, pids: Collection[int], in_file_systems: int) -> int:
        """Return what processes hold together, with their own in-memory file systems; shared pages count for each."""
        return self._sum(map(_at_most, pids), pids, in_file_systems)

    def at_least(self, pids: Collection[int]) -> int:
        """Return the memory that processes do not share: all page tables, and the memory of the largest process."""
        status_files = [f"{procfs.live_directory(pid)}/status" for pid in pids]
        tables = sum(procfs.sum_bytes(file, b"VmPTE:") or 0 for file in status_files)
        return tables + max((procfs.sum_bytes(file, b"RssAnon:") or 0 for file in status_files), default=0)

    def exactly(self, pids: Collection[int], in_file_systems: int, is_urgent: bool) -> int | None:
        """Return the same as ``at_most`` with shared pages counted once; None if it is too early to count again.

        Args:
            pids: the processes, which should be stopped: where they run, counting takes many times as long.
            is_urgent: whether half of the time may be spent on it, in place of a tenth.
        """
        if not self._exact_pace.is_due(is_urgent):
            return None
        with self._exact_pace.keep():
            deadline = time.perf_counter() + MEASURE_SECONDS
            amounts = ((_exactly if time.perf_counter() < deadline else _at_most)(pid) for pid in pids)
            return self._sum(amounts, pids, in_file_systems)

    def _sum(self, amounts: Iterable[tuple[int, int]], pids: Collection[int], in_file_systems: int) -> int:
        own = shared = 0
        for own_bytes, shared_bytes in amounts:
            own, shared = own + own_bytes, shared + shared_bytes
        if self._is_counted:
            return own + shared
        if self._buffers_pace.is_due():
            with self._buffers_pace.keep():
                self._in_buffers = _in_buffers(pids)
        return own + max(shared, in_file_systems) + self._in_buffers  # shared memory is mapped from the file systems


def _at_most(pid: int) -> tuple[int, int]:
    """Return a process's own and shared memory, what it shares in full, with page tables and what is swapped out.

    ``status`` can be read by every user.
    """
    status = f"{procfs.live_directory(pid)}/status"
    own = procfs.sum_bytes(status, b"RssAnon:", b"VmSwap:", b"VmPTE:", b"HugetlbPages:")
    return own or 0, procfs.sum_bytes(status, b"RssShmem:") or 0


def _exactly(pid: int) -> tuple[int, int]:
    """Return the same, with pages that several processes share divided among them, if that can be read."""
    directory = procfs.live_directory(pid)
    own = procfs.sum_bytes(f"{directory}/smaps_rollup", b"Pss_Anon:", b"SwapPss:")
    if not own:
        return _at_most(pid)
    tables = procfs.sum_bytes(f"{directory}/status", b"VmPTE:", b"HugetlbPages:")
    return own + (tables or 0), procfs.sum_bytes(f"{directory}/smaps_rollup", b"Pss_Shmem:") or 0


def _in_buffers(pids: Collection[int]) -> int:
    """Return what the pipes and sockets of processes can hold at most; once time is up, files count as sockets."""
    pipes, sockets = set(), 0
    counted = set()
    deadline = time.perf_counter() + MEASURE_SECONDS
    for pid in pids:
        directory = procfs.live_directory(pid)
        if time.perf_counter() > deadline:
            sockets += procfs.count_open_files(directory)
            continue
        for number, target in procfs.open_files(directory):
            if target in counted:
                continue
            counted.add(target)
            if target.startswith("pipe:"):
                pipes.add(target)
            elif target.startswith("socket:"):
                sockets += 1 + descriptors_under_way(directory, number)
    return len(pipes) * _PIPE_BYTES + sockets * _socket_bytes()


def descriptors_under_way(directory: str, number: str) -> int:
    """Return how many descriptors wait in a socket, sent and not yet received (proc_pid_fdinfo(5))."""
    try:
        for line in Path(directory, "fdinfo", number).read_bytes().splitlines():
            if line.startswith(b"scm_fds:"):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0


@functools.cache
def _socket_bytes() -> int:
    """Return the most that one end of a socket pair keeps: its send buffer, and one message as large beyond it."""
    try:
        return int(Path("/proc/sys/net/core/wmem_default").read_text()) * 2
    except (OSError, ValueError):
        return 212992 * 2
