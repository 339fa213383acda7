"""What a bot keeps in the places it may write to: its scratch directory and its own shared memory.

Where these are file systems of the bot's own, the kernel counts what is in them. Elsewhere they are walked
through, without recursion and within bounds, and files without a name are searched for among the open files.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from arena.base.records import LIMITS, MEBIBYTE, Limits
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.launch_spec import SHARED_MEMORY, LaunchSpec
from arena.sandbox.metering import memory

MAX_FILES = 15_000
"""The most files in both places together: counting them must not take long."""

MAX_DEPTH = 256
"""The most directories inside each other: deeper ones are hard to walk through and to remove."""

MAX_MAPS_BYTES = 32 * MEBIBYTE
"""The most of the list of one process's mappings: the kernel allows 65,530 lines, and bots can make names of 64 KiB."""

_BLOCK_BYTES = 512
"""What ``st_blocks`` counts, whatever the file system's blocks are (stat(2))."""


@dataclass(slots=True)
class Contents:
    """What is in a directory.

    Attributes:
        largest_bytes: the size of the largest file, holes included, for that is what ``file_bytes`` limits.
        is_too_deep: whether directories are nested deeper than ``MAX_DEPTH``; the rest was not counted.
        linked: files with several names that have been counted.
    """

    total_bytes: int = 0
    largest_bytes: int = 0
    files: int = 0
    is_too_deep: bool = False
    is_closed: bool = False
    linked: set[int] = field(default_factory=set)

    def add(self, status: os.stat_result) -> None:
        """Count one file or directory."""
        self.files += 1
        if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
            if status.st_ino in self.linked:
                return
            self.linked.add(status.st_ino)
        self.total_bytes += status.st_blocks * _BLOCK_BYTES
        if stat.S_ISREG(status.st_mode):
            self.largest_bytes = max(self.largest_bytes, status.st_size)


def walk(path: str) -> Contents:
    """Count what is in a directory, which a bot may be changing at the same time.

    Links are not followed, other file systems not entered, and at most ``MAX_DEPTH`` directories are open at once.
    """
    contents = Contents()
    try:
        root = os.open(path, _DIRECTORY)
    except OSError as error:
        contents.is_closed = error.errno == errno.EACCES
        return contents
    device = os.fstat(root).st_dev
    levels: list[tuple[int, Iterator[os.DirEntry[str]]]] = [(root, iter(_entries(root)))]
    try:
        while levels and contents.files <= MAX_FILES and not contents.is_too_deep:
            directory, entries = levels[-1]
            below = _count(entries, directory, device, contents)
            if below is None:
                os.close(levels.pop()[0])
            elif len(levels) >= MAX_DEPTH:
                os.close(below)
                contents.is_too_deep = True
            else:
                levels.append((below, iter(_entries(below))))
    finally:
        for directory, _ in levels:
            os.close(directory)
    return contents


_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _entries(directory: int) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        return list(itertools.islice(entries, MAX_FILES + 1))
    return []


def _count(entries: Iterator[os.DirEntry[str]], directory: int, device: int, contents: Contents) -> int | None:
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
            contents.add(status)
            if contents.files > MAX_FILES:
                return None
            if stat.S_ISDIR(status.st_mode) and status.st_dev == device:
                return os.open(entry.name, _DIRECTORY, dir_fd=directory)
        except OSError as error:
            contents.is_closed |= error.errno == errno.EACCES
    return None


class ScratchMonitor:
    """Measures the places that one bot writes to."""

    def __init__(self, spec: LaunchSpec, limits: Limits) -> None:
        self._scratch: str = spec["scratch"]
        self._limits = limits
        self._is_shared = spec["mounts"] is None and spec["seccomp_at"] is None
        self._pace = memory.Pace()

    def bytes_in_memory(self, main: int) -> int:
        """Return what the bot's own file systems hold, which is memory."""
        return sum(_used_bytes_and_files(path)[0] for path in self._own_paths(main))

    def broken_limit(self, main: int, members: Callable[[], Collection[int]]) -> str | None:
        """Return which limit is broken, with the figures; None if all are kept."""
        own_paths = self._own_paths(main)
        used = [_used_bytes_and_files(path) for path in own_paths]
        total, files = sum(size for size, _ in used), sum(count for _, count in used)
        broken = self._broken_scratch_limit(total, files) or next(
            filter(None, map(self._broken_by_full_system, own_paths)), None
        )
        if broken is not None or not self._pace.is_due():
            return broken
        with self._pace.keep():
            return self._walk_through(own_paths, total, members)

    def _own_paths(self, main: int) -> list[str]:
        paths = []
        for path in (self._scratch, SHARED_MEMORY):
            seen_by_bot = f"{procfs.live_directory(main)}/root{path}"
            with contextlib.suppress(OSError):
                if os.stat(seen_by_bot).st_dev != os.stat(path).st_dev:
                    paths.append(seen_by_bot)
        return paths

    def _walk_through(self, own_paths: list[str], total: int, members: Callable[[], Collection[int]]) -> str | None:
        limits = self._limits
        walked = [walk(path) for path in own_paths if _used_bytes_and_files(path)[1] > 0]
        if self._is_shared:
            shared = walk(self._scratch)
            walked.append(shared)
            pids = members()
            try:
                total += shared.total_bytes + nameless_bytes(pids, self._scratch, limits.file_bytes)
            except UncountableError as error:
                return str(error)
            broken = self._broken_scratch_limit(total, shared.files) or _hidden(shared, pids)
            if broken is not None:
                return broken
        largest = max((contents.largest_bytes for contents in walked), default=0)
        if largest >= limits.file_bytes:
            return LIMITS["file_bytes"].broken_by(largest, limits.file_bytes)
        if any(contents.is_too_deep for contents in walked):
            return f"more than {MAX_DEPTH} directories nested in the scratch directory; {MAX_DEPTH} are allowed"
        return None

    def _broken_scratch_limit(self, total: int, files: int) -> str | None:
        if files >= MAX_FILES:
            return f"{files:,} files and directories in the scratch directory; at most {MAX_FILES:,} are allowed"
        if total > self._limits.scratch_bytes:
            return LIMITS["scratch_bytes"].broken_by(total, self._limits.scratch_bytes)
        return None

    def _broken_by_full_system(self, path: str) -> str | None:
        with contextlib.suppress(OSError):
            system = os.statvfs(path)
            if system.f_bfree == 0 or system.f_ffree == 0:
                return LIMITS["scratch_bytes"].broken_by(_used_bytes_and_files(path)[0], self._limits.scratch_bytes)
        return None


def _used_bytes_and_files(path: str) -> tuple[int, int]:
    try:
        system = os.statvfs(path)
    except OSError:
        return 0, 0
    return (system.f_blocks - system.f_bfree) * system.f_frsize, system.f_files - system.f_ffree - 1


def _hidden(contents: Contents, pids: Collection[int]) -> str | None:
    """Return what keeps the arena from counting, where it has to count by itself."""
    if contents.is_closed:
        return "a directory in the scratch directory that can't be read, so scratch_bytes can't be counted"
    if os.geteuid() != 0 and any(procfs.is_hidden(procfs.live_directory(pid)) for pid in pids):
        return "a process whose open files can't be read, so scratch_bytes can't be counted"
    return None


class UncountableError(Exception):
    """A bot has more of something than can be counted."""


def nameless_bytes(pids: Collection[int], directory: str, file_bytes: int) -> int:
    """Return the bytes of files that have been removed and are still in use.

    The size of one that is only mapped, or on its way from one process to another, is unknown: it counts as the largest
    possible file. So does one for each process that there was no time to examine.

    Raises:
        UncountableError: if a process has more mappings than can be read.
    """
    sizes: dict[int, int] = {}
    mapped: set[int] = set()
    sockets: dict[str, int] = {}
    unseen = 0
    deadline = time.perf_counter() + memory.MEASURE_SECONDS
    for pid in pids:
        if time.perf_counter() > deadline:
            unseen += 1
            continue
        process_directory = procfs.live_directory(pid)
        for number, target in procfs.open_files(process_directory):
            if target.startswith("socket:") and target not in sockets:
                sockets[target] = memory.descriptors_under_way(process_directory, number)
            elif not target or target.startswith(f"{directory}/"):  # only the bot makes paths too long to be reported
                with contextlib.suppress(OSError):
                    status = os.stat(f"{process_directory}/fd/{number}")
                    if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                        sizes[status.st_ino] = status.st_blocks * _BLOCK_BYTES
        mapped |= set(_removed_and_mapped(process_directory, directory))
    return sum(sizes.values()) + file_bytes * (len(mapped - set(sizes)) + sum(sockets.values()) + unseen)


def _removed_and_mapped(process_directory: str, directory: str) -> Iterator[int]:
    """Yield the inodes of removed files that a process has mapped (proc_pid_maps(5))."""
    start, remaining_bytes = f"{directory}/".encode(), MAX_MAPS_BYTES
    with contextlib.suppress(OSError, ValueError), open(f"{process_directory}/maps", "rb") as maps:
        for line in maps:
            remaining_bytes -= len(line)
            if remaining_bytes < 0:
                raise UncountableError("a process with too long a list of mappings, so scratch_bytes can't be counted")
            if line.endswith(b" (deleted)\n"):
                *_, inode, path = line.split(maxsplit=5)
                if path.startswith(start):
                    yield int(inode)
