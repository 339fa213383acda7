"""The memory of a bot where no control group counts it: in time, however long counting takes."""

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
from arena.sandbox.metering import memory, resource_monitor
from arena.sandbox.metering.memory import MemoryMonitor, Pace
from benchmarks import zoo_bots as zoo

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
    due = {}
    for now in (102.5, 103.9, 104.1, 121.9, 122.1):
        due[now] = pace.is_due(), pace.is_due(is_urgent=True)
    assert due == {
        102.5: (False, False),
        103.9: (False, False),
        104.1: (False, True),
        121.9: (False, True),
        122.1: (True, True),
    }


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
