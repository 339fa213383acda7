"""The CPU time of processes that come and go, from what /proc would tell at each look."""

import os
import time
from pathlib import Path

import pytest

from arena.base.records import Limits
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.sandbox.metering import cpu_time, memory, resource_monitor
from arena.sandbox.metering.cpu_time import ProcessStat, ProcessTimes, open_group_clock, read_stat
from arena.sandbox.metering.memory import MemoryMonitor, Pace
from benchmarks import zoo_bots as zoo

MAIN, CHILD, OTHER, NEXT = 100, 101, 102, 103
SAMPLE_SECONDS = 0.1


def stat(own=0.0, reaped=0.0, faults=10, reaped_faults=0, started=1):
    return ProcessStat(started, own, reaped, faults, reaped_faults, 1)


@pytest.fixture
def seen(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(cpu_time.time, "perf_counter", lambda: now[0])

    def look_at(*looks, cores=1):
        times = ProcessTimes(cores)
        for found in looks:
            now[0] += SAMPLE_SECONDS
            times.add_sample(found, MAIN)
        return times

    return look_at


LOOKS = {
    "is counted while it lives": (0.05, [{MAIN: stat()}, *({MAIN: stat(), CHILD: stat(s)} for s in (0.02, 0.05))]),
    # the process used 0.07 s; the monitor saw 0.05 s of them, and the kernel tells the parent of all
    "stays counted once when its parent waits for it": (
        0.07,
        [{MAIN: stat(), CHILD: stat(0.05, faults=40)}, *[{MAIN: stat(reaped=0.07, reaped_faults=60)}] * 2],
    ),
    # it was listed and gone; its parent, read before, knew nothing of it yet
    "is counted once when it is waited for between two readings": (
        0.06,
        [
            {MAIN: stat(), CHILD: stat(0.05, faults=40)},
            {MAIN: stat(), CHILD: None},
            *[{MAIN: stat(reaped=0.06, reaped_faults=60)}] * 2,
        ],
    ),
}


@pytest.mark.parametrize("what", LOOKS)
def test_what_a_child_uses(seen, what):
    seconds, looks = LOOKS[what]
    times = seen(*looks)
    assert (times.seconds, times.doubtful_seconds) == (pytest.approx(seconds), 0.0)


def test_many_children_and_a_pool_of_them_are_no_reason_for_doubt(seen):
    """Each uses 25 ms in a tenth of a second, of which half is seen; the parent's account is in ticks of 10 ms."""
    looks = [
        {MAIN: stat(reaped=int(2.5 * k) / 100, reaped_faults=60 * k), CHILD: stat(0.0125, faults=40, started=k)}
        for k in range(40)
    ]
    times = seen(*looks, {MAIN: stat(reaped=1.0, reaped_faults=60 * 40)})
    assert times.seconds == pytest.approx(1.0, abs=0.03)
    looks = [{MAIN: stat(), CHILD: stat(0.01 * k), OTHER: stat(0.02 * k)} for k in range(5)]
    times = seen(*looks)
    assert times.seconds == pytest.approx(0.12)
    assert (times.doubtful_seconds, times.has_new_processes) == (0.0, False)


CHAINS = {
    "each just begun": (1, 1.0, lambda k: {MAIN: stat(), 200 + k: stat(0.002, started=k)}),
    "on two cores": (2, 2.0, lambda k: {MAIN: stat(), **{200 + 4 * k + n: stat(0.002, started=k) for n in range(4)}}),
    "beside the main process": (1, 0.46, lambda k: {MAIN: stat(0.06 * k), 200 + k: stat(0.002, started=k)}),
    "with a number used again": (1, 1.0, lambda k: {MAIN: stat(), CHILD: stat(0.002, started=k)}),
    "without a page fault": (1, 1.0, lambda k: {MAIN: stat(), 200 + k: stat(0.01, faults=0, started=k)}),
}
"""Cores, the seconds that are charged, and each of ten looks at chains of short-lived processes, of which nobody knows
those between two looks. What the main process used itself, 0.54 s, is not charged twice.
"""


@pytest.mark.parametrize("chain", CHAINS)
def test_children_that_vanish_without_an_account_are_charged_for_what_they_may_have_used(seen, chain):
    cores, seconds, look = CHAINS[chain]
    assert seen(*map(look, range(10)), cores=cores).seconds == pytest.approx(seconds)


def test_this_process_is_read_as_the_system_says():
    before = len(list(Path("/proc/self/task").iterdir()))
    found = read_stat(os.getpid())
    after = len(list(Path("/proc/self/task").iterdir()))
    assert found is not None
    assert found.own_seconds == pytest.approx(time.process_time(), abs=0.05)
    assert min(before, after) <= found.threads <= max(before, after)  # a thread of an earlier test may just end
    assert read_stat(0) is None


@pytest.mark.parametrize(
    ("file", "content", "seconds"),
    [("cpuacct.usage", "1500000000\n", 1.5), ("cpu.stat", "usage_usec 2500000\nuser_usec 1\nsystem_usec 2\n", 2.5)],
)
def test_groups_of_both_versions_tell_their_cpu_time(tmp_path, file, content, seconds):
    (tmp_path / file).write_text(content)
    clock = open_group_clock([{"directory": str(tmp_path / "other")}, {"directory": str(tmp_path)}])
    assert clock is not None
    assert clock.seconds() == seconds
    clock.close()
    assert clock.seconds() == seconds
    (tmp_path / file).rename(tmp_path / "another")
    (tmp_path / "cpu.stat").write_text("nr_periods 0\n")
    assert open_group_clock([{"directory": str(tmp_path)}]) is None


MIB = 1 << 20


def test_what_nothing_can_share_is_counted_without_a_look_at_each_page(monkeypatch):
    rows = {1: {b"RssAnon:": 300, b"VmPTE:": 40}, 2: {b"RssAnon:": 310, b"VmPTE:": 50}, 3: {}}

    def sum_bytes(path, *keys):
        of_process = rows[int(Path(path).parent.name)]
        return sum(of_process[key] for key in keys) if of_process else None

    monkeypatch.setattr(procfs, "sum_bytes", sum_bytes)
    assert MemoryMonitor(is_counted=False).at_least({1, 2, 3}) == 310 + 40 + 50


def test_a_slow_count_is_repeated_after_ten_times_its_time_or_as_long_if_it_is_urgent(monkeypatch):
    now = 100.0
    monkeypatch.setattr(memory.time, "monotonic", lambda: now)
    pace = Pace()
    assert pace.is_due()
    with pace.keep():
        now += 2.0
    due = []
    for now in (102.5, 103.9, 104.1, 121.9, 122.1):
        due.append((now, pace.is_due(), pace.is_due(is_urgent=True)))
    assert due[:3] == [(102.5, False, False), (103.9, False, False), (104.1, False, True)]
    assert due[3:] == [(121.9, False, True), (122.1, True, True)]


def stopped(pids):
    deadline = time.monotonic() + 60.0
    while {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids} != {"T"}:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


@pytest.fixture
def connection(monkeypatch):
    isolation = Isolation(level=choose_isolation("limits").level)
    limits = Limits(memory_bytes=120 * MIB)
    with BotConnection(load_bot(zoo.honest_bot("honest_a")), isolation, limits) as connection:
        yield connection
        monkeypatch.undo()
        connection.ask(encode_frame({"type": "hello"}), 20.0)  # it goes on


@pytest.mark.parametrize(("seems", "is_counted", "fault"), [(100, False, False), (150, True, False), (250, True, True)])
def test_a_bot_that_may_have_too_much_is_stopped_while_it_is_counted(connection, monkeypatch, seems, is_counted, fault):
    """Its processes would take the time of whoever counts them."""
    counted = []

    def exactly(self, pids, in_file_systems, is_urgent):
        counted.append((stopped(pids), is_urgent))
        return 200 * MIB if fault else 50 * MIB

    monkeypatch.setattr(MemoryMonitor, "at_most", lambda *_: seems * MIB)
    monkeypatch.setattr(MemoryMonitor, "exactly", exactly)
    broken = connection.process.monitor.sample()
    assert broken == ("200 MiB of memory; memory_bytes allows 120 MiB" if fault else None)
    assert counted == ([(True, seems > 240)] if is_counted else [])


def test_a_bot_whose_samples_are_slow_is_stopped_for_the_next_one(connection, monkeypatch):
    looks = []
    monkeypatch.setattr(resource_monitor, "SLOW_SAMPLE_SECONDS", 0.0)
    monkeypatch.setattr(MemoryMonitor, "at_most", lambda _, pids, __: looks.append(bool(looks) and stopped(pids)) or 0)
    for _ in range(2):
        assert connection.process.monitor.sample() is None
    assert looks == [False, True]
