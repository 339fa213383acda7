"""The CPU time of a bot's processes: exact from a control group, elsewhere added up from /proc.

What /proc shows of a process is lost when it ends, unless its parent waits for it. A bot whose processes live for a few
milliseconds, below a parent that ignores their ends, has used next to nothing by that account. So each sample
notes which processes are new, and whether a parent has taken over what the vanished ones had used. As long as that is
in order, the sum is right. Where it is not, the bot is charged for what it may have used at most: the time since the
last sample, on as many cores as it had new processes.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena.base.machine import available_cores
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.launch_spec import GroupSpec

_TICKS = os.sysconf("SC_CLK_TCK")


class GroupClock:
    """The CPU time of a control group, including processes that are gone."""

    def __init__(self, file: str, is_quick: bool) -> None:
        self.is_quick = is_quick
        self._descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        self._seconds = 0.0
        self._before = 0.0

    def seconds(self) -> float:
        """Return the CPU time used up to now; what was last read once the group has been removed."""
        try:  # noqa: SIM105 - contextlib.suppress would cost as much as the reading
            self._seconds = self._before + self.read()
        except (OSError, ValueError):
            pass
        return self._seconds

    def read(self) -> float:
        """Read the file."""
        if self.is_quick:
            return int(os.pread(self._descriptor, 32, 0)) / 1e9
        name, value, *_ = os.pread(self._descriptor, 256, 0).split()
        if name != b"usage_usec":
            raise ValueError("no account of CPU time")
        return int(value) / 1e6

    def begin_at(self, seconds: float) -> None:
        """Set the CPU time used up to now, of which a part was used outside the group."""
        self._before += seconds - self.seconds()

    def close(self) -> None:
        """Close the file; the last reading stays."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


_ACCOUNTS = {"cpuacct.usage": True, "cpu.stat": False}
"""Files with the CPU time of a control group, and whether they are quick to read."""

_last_candidate: list[tuple[int, str]] = []
"""The group and the file that the last bot had: the search for the next bot begins there."""


def open_group_clock(groups: Sequence[GroupSpec]) -> GroupClock | None:
    """Return the clock of a bot's control groups; None where they keep no account of CPU time."""
    candidates = [(index, name) for index in range(len(groups)) for name in _ACCOUNTS]
    for candidate in sorted(candidates, key=lambda candidate: candidate not in _last_candidate):
        index, name = candidate
        with contextlib.suppress(OSError):
            clock = GroupClock(os.path.join(groups[index]["directory"], name), is_quick=_ACCOUNTS[name])
            with contextlib.suppress(OSError, ValueError):
                clock.read()
                _last_candidate[:] = [candidate]
                return clock
            clock.close()
    return None


class ProcessStat(NamedTuple):
    """What ``/proc/PID/stat`` shows of a process (proc_pid_stat(5)); its number and its start identify it."""

    started_ticks: int
    own_seconds: float
    reaped_seconds: float
    own_faults: int
    reaped_faults: int
    threads: int


def read_stat(pid: int) -> ProcessStat | None:
    """Return the figures of a process; None if it is gone."""
    try:
        fields = procfs.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        values = [int(field) for field in fields[1:20]]
    except (OSError, ValueError):
        return None
    minor, reaped_minor, major, reaped_major, user, system, reaped_user, reaped_system = values[6:14]
    own_seconds = (user + system) / _TICKS
    with contextlib.suppress(OSError):
        own_seconds = time.clock_gettime(cpu_clock_of(pid))  # exact, and not in ticks
    return ProcessStat(
        values[18],
        own_seconds,
        (reaped_user + reaped_system) / _TICKS,
        minor + major,
        reaped_minor + reaped_major,
        values[16],
    )


def cpu_clock_of(pid: int) -> int:
    """Return the number Linux gives the CPU clock of another process (clock_getcpuclockid(3))."""
    return ((~pid) << 3) | 2


class ProcessTimes:
    """Adds up the CPU time of a bot's processes but for its main one, whose clock can be read at any time.

    Attributes:
        seconds: what they have used, as far as that is known, with what is charged in doubt.
        doubtful_seconds: what they may have used beyond that since processes began to vanish, while it is open whether
            a parent takes it over.
        has_new_processes: the last sample found processes that the one before had not.
    """

    def __init__(self, cores: int | None = None) -> None:
        """Begin at nothing.

        Args:
            cores: on which they may run; by default those of this process at the first sample.
        """
        self.seconds = 0.0
        self.doubtful_seconds = 0.0
        self.has_new_processes = False
        self._cores = cores
        self._last_sample: dict[int, ProcessStat] = {}
        self._main_seconds = 0.0
        self._sampled_at = time.perf_counter()
        self._is_known_to_hide = False
        self._unclaimed_seconds = 0.0
        self._unclaimed_faults = 0

    def add_sample(self, sampled: dict[int, ProcessStat | None], main: int) -> None:
        """Add a sample."""
        now = time.perf_counter()
        self._cores = self._cores or len(available_cores())
        before, self._last_sample = self._last_sample, {pid: stat for pid, stat in sampled.items() if stat is not None}
        vanished = [
            stat for pid, stat in before.items() if pid != main and not _is_same(stat, self._last_sample.get(pid))
        ]
        new_processes = sum(1 for pid, stat in sampled.items() if pid != main and not _is_same(stat, before.get(pid)))
        own_seconds = sum(
            stat.own_seconds - (before[pid].own_seconds if _is_same(stat, before.get(pid)) else 0.0)
            for pid, stat in self._last_sample.items()
            if pid != main
        )
        claimed = self._claim(vanished, before)
        self.seconds += max(0.0, own_seconds) + claimed
        main_stat = self._last_sample.get(main)
        main_seconds = main_stat.own_seconds if main_stat is not None else self._main_seconds
        known_seconds = own_seconds + claimed + main_seconds - self._main_seconds
        self._doubt(
            new_processes, vanished, (now - self._sampled_at) * min(max(1, new_processes), self._cores) - known_seconds
        )
        self.has_new_processes = new_processes > 0
        self._main_seconds, self._sampled_at = main_seconds, now

    def _claim(self, vanished: Iterable[ProcessStat], before: dict[int, ProcessStat]) -> float:
        """Return the CPU time of reaped children that no sample saw; keep what vanished processes still owe."""
        reaped_seconds, reaped_faults = 0.0, 0
        for pid, stat in self._last_sample.items():
            earlier = before.get(pid)
            same = earlier if earlier is not None and _is_same(stat, earlier) else None
            reaped_seconds += stat.reaped_seconds - (same.reaped_seconds if same else 0.0)
            reaped_faults += stat.reaped_faults - (same.reaped_faults if same else 0)
        owed_seconds, owed_faults = self._unclaimed_seconds, self._unclaimed_faults
        # A child that was reaped between our readings is missed by one sample and counted by the next.
        slack_seconds = (len(self._last_sample) + 2) / _TICKS  # for each parent's account is kept in ticks
        if owed_faults > reaped_faults or owed_seconds > reaped_seconds + slack_seconds:
            self._is_known_to_hide = True
        vanished_seconds = sum(stat.own_seconds + stat.reaped_seconds for stat in vanished)
        vanished_faults = sum(stat.own_faults + stat.reaped_faults for stat in vanished)
        self._unclaimed_seconds = max(0.0, owed_seconds + vanished_seconds - reaped_seconds)
        self._unclaimed_faults = max(0, owed_faults + vanished_faults - reaped_faults)
        return max(0.0, reaped_seconds - vanished_seconds - owed_seconds)

    def _doubt(self, new_processes: int, vanished: list[ProcessStat], most_seconds: float) -> None:
        """Charge what may have been used between samples, or count it as doubtful until that is known."""
        if new_processes or vanished:
            self.doubtful_seconds += max(0.0, most_seconds)
        elif not self._unclaimed_faults:
            self.doubtful_seconds = 0.0
        if self._is_known_to_hide:
            self.seconds += self.doubtful_seconds
            self.doubtful_seconds = 0.0


def _is_same(stat: ProcessStat | None, other: ProcessStat | None) -> bool:
    return stat is not None and other is not None and stat.started_ticks == other.started_ticks
