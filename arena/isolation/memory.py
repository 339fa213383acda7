"""How much memory processes hold together, where no control group counts it.

Three things are added up: what is mapped, what lies in file systems that are memory, and what the kernel keeps for
pipes and sockets, which no process is shown to hold. What can't be looked at closely counts in full.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from pathlib import Path

from arena.isolation import procfs

_PIPE_BYTES = 64 * 1024
"""Sixteen pages (pipe(7)); larger ones are taken from an allowance of the user's."""


def held(pids: Collection[int], in_file_systems: int | None, is_exact: bool) -> int:
    """Return what processes hold together.

    Args:
        pids: the processes.
        in_file_systems: what lies in file systems of theirs that are memory; None where a control group counts that,
            and buffers as well.
        is_exact: pages that several of them share count once, which takes longer to find out.
    """
    own, shared = map(sum, zip((0, 0), *((_exactly if is_exact else _at_most)(pid) for pid in pids), strict=True))
    if in_file_systems is None:
        return own + shared
    return own + max(shared, in_file_systems) + _in_buffers(pids)  # what is shared is mapped from the file systems


def _at_most(pid: int) -> tuple[int, int]:
    """Return a process's own and shared memory, what it shares in full, with page tables and what is swapped out.

    ``status`` can be read by everybody, whatever a process does.
    """
    status = f"{procfs.living(pid)}/status"
    own = procfs.sizes(status, b"RssAnon:", b"VmSwap:", b"VmPTE:", b"HugetlbPages:")
    return own or 0, procfs.sizes(status, b"RssShmem:") or 0


def _exactly(pid: int) -> tuple[int, int]:
    """Return the same, with pages that several processes share divided among them, if that can be read."""
    place = procfs.living(pid)
    own = procfs.sizes(f"{place}/smaps_rollup", b"Pss_Anon:", b"SwapPss:")
    if not own:
        return _at_most(pid)
    tables = procfs.sizes(f"{place}/status", b"VmPTE:", b"HugetlbPages:")
    return own + (tables or 0), procfs.sizes(f"{place}/smaps_rollup", b"Pss_Shmem:") or 0


def _in_buffers(pids: Collection[int]) -> int:
    """Return what the pipes and sockets of processes can hold at most."""
    pipes, sockets = set(), 0
    seen = set()
    for pid in pids:
        place = procfs.living(pid)
        for number, target in procfs.open_files(place):
            if target in seen:
                continue
            seen.add(target)
            if target.startswith("pipe:"):
                pipes.add(target)
            elif target.startswith("socket:"):
                sockets += 1 + descriptors_under_way(place, number)
    return len(pipes) * _PIPE_BYTES + sockets * _socket_bytes()


def descriptors_under_way(place: str, number: str) -> int:
    """Return how many descriptors wait in a socket, sent and not yet received (proc_pid_fdinfo(5))."""
    try:
        for line in Path(place, "fdinfo", number).read_bytes().splitlines():
            if line.startswith(b"scm_fds:"):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0


@functools.cache
def _socket_bytes() -> int:
    """Return the most that one end of a socket pair keeps: its send buffer, and one message beyond it."""
    try:
        return int(Path("/proc/sys/net/core/wmem_default").read_text()) * 3 // 2
    except (OSError, ValueError):
        return 212992 * 3 // 2
