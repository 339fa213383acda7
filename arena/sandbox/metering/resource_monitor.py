"""What a bot and everything it started use, and which limit is broken. Read from /proc and from its control groups.

A bot is sampled at most ten times a second, so a fast turn costs nothing more. What the kernel limits exactly (by a
control group or a resource limit) is limited in between as well; the monitor then says which limit it was.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from arena.base.records import LIMITS, Limits
from arena.base.text import size_text
from arena.sandbox.isolation import control_groups, procfs, reaper
from arena.sandbox.isolation.launcher_client import LaunchedBot
from arena.sandbox.metering.cpu_time import (
    GroupClock,
    ProcessStat,
    ProcessTimes,
    cpu_clock_of,
    open_group_clock,
    read_stat,
)
from arena.sandbox.metering.memory import MemoryMonitor
from arena.sandbox.metering.scratch import ScratchMonitor

SAMPLE_SECONDS = 0.1
"""The time between two samples of a bot."""

SLOW_SAMPLE_SECONDS = 0.02
"""If a sample took longer, the bot is stopped for the next one: its processes take the time of whoever counts them."""

URGENT = 2
"""A bot that seems to use more than this many times its memory is counted exactly, as often as that is possible."""

CHILDREN_SECONDS = 0.001
"""A bot with more CPU time than this beyond that of its own process is known to have others."""

_NEAR = 0.9
"""A bot that dies with this share of its memory limit in use has died of it."""

_MEMORY_WORDS = (
    *("MemoryError", "bad_alloc", "OutOfMemory", "out of memory", "Cannot allocate memory", "heap limit"),
    *("failed to map segment", "Memory allocation still failed"),  # the dynamic loader, OpenBLAS
)


class Usage(NamedTuple):
    """What a bot's processes use together; figures that have a limit have its name."""

    children_cpu_seconds: float = 0.0
    memory_bytes: int = 0
    processes: int = 0
    open_files: int = 0

    def or_more(self, other: Usage) -> Usage:
        """Return the larger of each figure."""
        return Usage._make(map(max, self, other))


_HELD_BY_THE_SYSTEM = ("processes", "open_files")
"""Limits at which the system refuses more, so a bot that has reached one has broken it."""


class ResourceMonitor:
    """Samples what one bot uses.

    Attributes:
        main: the bot's own process, once ``find_main`` has found it behind a wrapping program.
        main_call: the system call in which the main thread of the bot's own process sleeps.
        main_cpu_seconds: CPU time of the bot's own process, all threads together, as ``read_main_cpu_seconds`` last
            read it.
        exact_clock: the CPU time of the bot and all that it started, if a control group can be read quickly; None until
            another process than the bot's own has used any, since the clock of a single process is quicker still.
        is_bot_reaped: its process number may belong to another process by now.
    """

    def __init__(
        self,
        launched: LaunchedBot,
        limits: Limits,
        is_limited: bool,
        stopped: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._launched = launched
        self._stopped = stopped
        self._is_slow = False
        self._limits = limits
        self._is_limited = is_limited
        self._groups = launched.spec["control_groups"]
        self._scratch = ScratchMonitor(launched.spec, limits)
        self._memory = MemoryMonitor(is_counted=bool(self._groups))
        self.main = launched.pid
        self._main_clock = cpu_clock_of(launched.pid)
        self.main_call = procfs.KeptFile(f"/proc/{launched.pid}/syscall")
        self._helpers: set[int] = set()
        self.is_bot_reaped = False
        self.peak = Usage()
        self.main_cpu_seconds = 0.0
        self._children_cpu_seconds = 0.0
        self.exact_clock: GroupClock | None = None
        self._group_clock = open_group_clock(self._groups)
        self._main_seconds = 0.0
        self._times = ProcessTimes()
        self.sampled_at = time.perf_counter()

    def read_main_cpu_seconds(self) -> float:
        """Return the CPU time of the bot's own process; if it is dead, what was last read."""
        try:  # noqa: SIM105 - contextlib.suppress would cost as much as the reading
            self.main_cpu_seconds = time.clock_gettime(self._main_clock)
        except OSError:
            pass
        return self.main_cpu_seconds

    def cpu_seconds(self) -> float:
        """Return the CPU time of the bot and of all that it started.

        It is exact where a control group can be read quickly; elsewhere that of the children is as old as the last
        sample.
        """
        if self.exact_clock is not None:
            return self.exact_clock.seconds()
        try:  # noqa: SIM105 - as in read_main_cpu_seconds, whose call costs as much as well
            self.main_cpu_seconds = time.clock_gettime(self._main_clock)
        except OSError:
            pass
        return self.main_cpu_seconds + self._children_cpu_seconds

    def possible_cpu_seconds(self) -> float:
        """Return ``cpu_seconds`` with what its processes may have used between two samples."""
        return self.cpu_seconds() + self._times.doubtful_seconds

    @property
    def has_new_processes(self) -> bool:
        """Whether the last sample found processes that the one before had not; never where a control group counts."""
        return self._times.has_new_processes

    def sample(self) -> str | None:
        """Measure, and return which limit is broken, with the figures; None if all are kept."""
        self.sampled_at = started = time.perf_counter()
        with self._stopped() if self._is_slow else contextlib.nullcontext():
            usage = self._measure()
            self.peak = self.peak.or_more(usage)
            broken = self._broken(usage) if self._is_limited else None
        self._is_slow = time.perf_counter() - started > SLOW_SAMPLE_SECONDS
        return broken

    def sample_cpu(self) -> None:
        """Measure the CPU time alone."""
        if not self.is_bot_reaped:
            with contextlib.suppress(OSError):
                self._note_cpu({} if self._group_clock is not None else self._stats(self._members()))

    def final_peak(self) -> Usage:
        """Take a last sample and return the peak."""
        with contextlib.suppress(OSError):
            self.sample()
        return self.peak

    def close(self) -> None:
        """Release the bot's control group, which is about to be removed, and the file about its main thread."""
        self.main_call.close()
        if self._group_clock is not None:
            self._group_clock.close()

    def _broken(self, usage: Usage) -> str | None:
        limits = self._limits
        if usage.memory_bytes > limits.memory_bytes and not self._groups:
            held_bytes = self._held_bytes(is_urgent=usage.memory_bytes > URGENT * limits.memory_bytes)
            if held_bytes > limits.memory_bytes:
                return LIMITS["memory_bytes"].broken_by(held_bytes, limits.memory_bytes)
        breaches = control_groups.count_breaches(self._groups)
        if breaches["memory_bytes"]:
            return self._memory_broken()
        for name in _HELD_BY_THE_SYSTEM:
            used, allowed = getattr(usage, name), getattr(limits, name)
            if used >= allowed or breaches.get(name):
                return LIMITS[name].broken_by(used, allowed)
        return self._scratch.broken_limit(self.main, self._members)

    def _held_bytes(self, is_urgent: bool) -> int:
        """Return the memory of the bot, stopped meanwhile; or the least it must have, if that is already too much."""
        with self._stopped():
            members = self._members()
            least = self._memory.at_least(members)
            if least > self._limits.memory_bytes:
                return least
            return self._memory.exactly(members, self._scratch.bytes_in_memory(self.main), is_urgent) or least

    def _memory_broken(self) -> str:
        return f"more memory than memory_bytes allows, which is {size_text(self._limits.memory_bytes)}"

    def broken_limit_after_exit(
        self, exit_text: str, usage: resource.struct_rusage | None, stderr_tail: bytes
    ) -> str | None:
        """Return the limit that a bot died of, with the figures; None if it died of something else."""
        if not self._is_limited:
            return None
        if control_groups.count_breaches(self._groups)["memory_bytes"]:
            return f"{self._memory_broken()}: {exit_text}"
        if "SIGXFSZ" in exit_text:
            return f"a file larger than file_bytes allows, which is {size_text(self._limits.file_bytes)}: {exit_text}"
        if exit_text == "exit status 0":
            return None
        peak = max(self.peak.memory_bytes, usage.ru_maxrss * 1024 if usage is not None else 0)
        is_named_on_stderr = any(word.encode() in stderr_tail for word in _MEMORY_WORDS)
        if is_named_on_stderr or peak >= _NEAR * self._limits.memory_bytes:
            return (
                f"it got no more memory, with a peak of {size_text(peak)}; memory_bytes allows"
                f" {size_text(self._limits.memory_bytes)}: {exit_text}"
            )
        return None

    def broken_cpu_limit(self, cpu_seconds: float) -> str | None:
        """Return that a bot has used too much CPU time in a match, or None."""
        allowed = self._limits.cpu_seconds
        if allowed is None or cpu_seconds <= allowed:
            return None
        return LIMITS["cpu_seconds"].broken_by(cpu_seconds, allowed)

    def find_main(self) -> int | None:
        """Return the bot's own process: behind a wrapping program it is the only child of that one's only child."""
        if self._launched.spec["seccomp_at"] is None:
            return self.main
        for helper in reaper.children(self._launched.pid):
            for bot in reaper.children(helper):
                self.main, self._helpers = bot, {self._launched.pid, helper}
                self._main_clock = cpu_clock_of(bot)
                self.main_call.close()
                self.main_call = procfs.KeptFile(f"/proc/{bot}/syscall")
                return bot
        return None

    def _measure(self) -> Usage:
        threads = files = 0
        members = self._members()
        stats = self._stats(members)
        self._note_cpu(stats)
        for pid in members:
            stat = stats[pid]
            if stat is None:
                continue
            with contextlib.suppress(OSError, ValueError):
                threads += stat.threads
                files = max(files, procfs.count_open_files(procfs.live_directory(pid)))
        held_bytes = self._memory.at_most(members, self._scratch.bytes_in_memory(self.main))
        return Usage(self._children_cpu_seconds, held_bytes, threads, files)

    def _stats(self, members: set[int]) -> dict[int, ProcessStat | None]:
        return {pid: read_stat(pid) for pid in members | self._helpers}

    def _note_cpu(self, stats: dict[int, ProcessStat | None]) -> None:
        if self._group_clock is None:
            self._times.add_sample(stats, self.main)
            self._children_cpu_seconds = self._times.seconds
            return
        main_stat = stats[self.main] if self.main in stats else read_stat(self.main)
        if main_stat is not None:
            self._main_seconds = main_stat.own_seconds
        seconds = self._group_clock.seconds()
        if seconds < self._main_seconds:
            self._group_clock.begin_at(self._main_seconds)  # what it had used before it was put into the group
        self._children_cpu_seconds = max(0.0, seconds - self._main_seconds)
        if self._children_cpu_seconds > CHILDREN_SECONDS and self._group_clock.is_quick:
            self.exact_clock = self._group_clock

    def _members(self) -> set[int]:
        return (
            reaper.bot_processes(self._launched.pid, self._launched.uid, self._launched.spec["scratch"]) - self._helpers
        )
