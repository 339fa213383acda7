"""The CPU time of processes that come and go, from what /proc would tell at each look."""

import os
import time
from pathlib import Path

import pytest

from arena.sandbox.metering import cpu_time
from arena.sandbox.metering.cpu_time import ProcessStat, ProcessTimes, open_group_clock, read_stat

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


def test_what_children_use_is_counted_while_they_live(seen):
    times = seen({MAIN: stat(5.0)}, {MAIN: stat(5.0), CHILD: stat(0.02)}, {MAIN: stat(5.1), CHILD: stat(0.05)})
    assert times.seconds == pytest.approx(0.05)


def test_what_a_child_has_used_stays_counted_once_when_its_parent_waits_for_it(seen):
    """It used 0.07 s, of which 0.05 s were seen; its parent is told of all."""
    times = seen(
        {MAIN: stat(), CHILD: stat(0.05, faults=40)},
        {MAIN: stat(reaped=0.07, reaped_faults=60)},
        {MAIN: stat(reaped=0.07, reaped_faults=60)},
    )
    assert times.seconds == pytest.approx(0.07)
    assert times.doubtful_seconds == 0.0


def test_a_child_that_is_waited_for_between_two_readings_is_counted_once(seen):
    """It was listed and gone; its parent, read before, knew nothing of it yet."""
    times = seen(
        {MAIN: stat(), CHILD: stat(0.05, faults=40)},
        {MAIN: stat(), CHILD: None},
        {MAIN: stat(reaped=0.06, reaped_faults=60)},
        {MAIN: stat(reaped=0.06, reaped_faults=60)},
    )
    assert times.seconds == pytest.approx(0.06)


def test_many_children_one_after_another_are_no_reason_for_doubt_if_they_are_waited_for(seen):
    """Each uses 25 ms in a tenth of a second, of which half is seen; the parent's account is in ticks of 10 ms."""
    looks = [
        {MAIN: stat(reaped=int(2.5 * k) / 100, reaped_faults=60 * k), CHILD: stat(0.0125, faults=40, started=k)}
        for k in range(40)
    ]
    times = seen(*looks, {MAIN: stat(reaped=1.0, reaped_faults=60 * 40)})
    assert times.seconds == pytest.approx(1.0, abs=0.03)


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


def test_a_pool_of_children_is_no_reason_for_doubt(seen):
    looks = [{MAIN: stat(), CHILD: stat(0.01 * k), OTHER: stat(0.02 * k)} for k in range(5)]
    times = seen(*looks)
    assert times.seconds == pytest.approx(0.12)
    assert (times.doubtful_seconds, times.has_new_processes) == (0.0, False)


def test_this_process_is_read_as_the_system_says():
    found = read_stat(os.getpid())
    assert found is not None
    assert found.own_seconds == pytest.approx(time.process_time(), abs=0.05)
    assert found.threads == len(list(Path("/proc/self/task").iterdir()))
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


def test_groups_without_an_account_of_cpu_time_have_no_clock(tmp_path):
    (tmp_path / "cpu.stat").write_text("nr_periods 0\n")
    assert open_group_clock([{"directory": str(tmp_path)}]) is None
