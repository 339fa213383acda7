import contextlib
import ctypes
import mmap
import os
import socket
import time
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.records import MEBIBYTE, Limits
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.sandbox_policy import Isolation, has_own_file_systems
from arena.sandbox.metering import cpu_time, memory, resource_monitor, scratch
from arena.sandbox.metering.cpu_time import ProcessStat, ProcessTimes, open_group_clock, read_stat
from arena.sandbox.metering.memory import MemoryMonitor, Pace
from arena.sandbox.metering.scratch import MAX_DEPTH, MAX_FILES, ScratchMonitor, nameless_bytes, walk
from benchmarks import zoo_bots as zoo
from benchmarks.zoo_bots import is_safe_inline, play_zoo_bot
from tests import needs
from tests.deep_places import nested

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


ME = os.getpid()


def watch(place, **limits):
    return ScratchMonitor({"scratch": str(place), "mounts": None, "seccomp_at": None}, Limits(**limits))


def look(place, **limits):
    return watch(place, **limits).broken_limit(ME, lambda: {ME})


def test_blocks_are_counted_and_not_sizes(tmp_path):
    (tmp_path / "full").write_bytes(b"x" * MEBIBYTE)
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1024 * MEBIBYTE)
    with (tmp_path / "beyond").open("wb") as file:
        keep_size = 1
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.fallocate(file.fileno(), keep_size, ctypes.c_long(0), ctypes.c_long(2 * MEBIBYTE)) != 0:
            pytest.skip("needs a file system that can allocate")
    found = walk(str(tmp_path))
    assert 3 * MEBIBYTE <= found.total_bytes < 4 * MEBIBYTE
    assert found.largest_bytes == 1024 * MEBIBYTE
    assert found.files == 3


def test_a_file_with_many_names_counts_once(tmp_path):
    (tmp_path / "one").write_bytes(b"x" * MEBIBYTE)
    for number in range(20):
        os.link(tmp_path / "one", tmp_path / str(number))
    found = walk(str(tmp_path))
    assert found.total_bytes < 2 * MEBIBYTE
    assert found.files == 21


def test_links_and_fifos_are_counted_and_not_followed_and_what_has_gone_is_empty(tmp_path):
    (tmp_path / "up").symlink_to("..")
    (tmp_path / "away").symlink_to("/usr")
    os.mkfifo(tmp_path / "fifo")
    assert walk(str(tmp_path)).files == 3
    assert walk(str(tmp_path / "gone")).files == 0
    assert look(tmp_path / "gone") is None


@pytest.mark.slow(only=("1500-True",))
@pytest.mark.parametrize(("depth", "is_too_deep"), [(MAX_DEPTH - 1, False), (MAX_DEPTH, True), (1500, True)])
def test_depth_is_a_limit(tmp_path, depth, is_too_deep):
    os.close(nested(tmp_path, ["d"] * depth))
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert walk(str(tmp_path)).is_too_deep is is_too_deep
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    broken = "more than 256 directories nested in the scratch directory; 256 are allowed"
    assert look(tmp_path) == (broken if is_too_deep else None)
    remove_tree(str(tmp_path), 60.0)  # pytest would recurse


def test_files_beyond_the_allowance_are_not_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "MAX_FILES", 10)
    for number in range(50):
        (tmp_path / str(number)).touch()
    assert walk(str(tmp_path)).files == 11
    assert look(tmp_path) == "11 files and directories in the scratch directory; at most 10 are allowed"
    assert MAX_FILES == 15_000


@needs.ordinary_user
def test_a_closed_directory_is_a_fault_where_the_arena_has_to_count(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    broken = "a directory in the scratch directory that can't be read, so scratch_bytes can't be counted"
    assert look(tmp_path) == broken


def removed_file(place, size=MEBIBYTE):
    descriptor = os.open(place / "file", os.O_CREAT | os.O_RDWR)
    os.write(descriptor, b"x" * size)
    (place / "file").unlink()
    return descriptor


def test_removed_files_count_as_long_as_they_are_open_and_in_full_where_they_are_only_mapped(tmp_path):
    descriptor = removed_file(tmp_path)
    twin = os.dup(descriptor)
    assert MEBIBYTE <= nameless_bytes({ME}, str(tmp_path), 9 * MEBIBYTE) < 2 * MEBIBYTE
    os.close(descriptor)
    os.close(twin)
    assert nameless_bytes({ME}, str(tmp_path), 9 * MEBIBYTE) == 0
    descriptor = removed_file(tmp_path)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    place = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, descriptor, ctypes.c_long(0))
    os.close(descriptor)
    assert nameless_bytes({ME}, str(tmp_path), 9 * MEBIBYTE) == 9 * MEBIBYTE
    libc.munmap(ctypes.c_void_p(place), ctypes.c_size_t(4096))
    assert nameless_bytes({ME}, str(tmp_path), 9 * MEBIBYTE) == 0


def test_removed_files_count_however_long_their_path(tmp_path):
    deep = nested(tmp_path, ["d" * 250] * 20)
    descriptor = os.open("file", os.O_CREAT | os.O_RDWR, dir_fd=deep)
    os.write(descriptor, b"x" * MEBIBYTE)
    os.unlink("file", dir_fd=deep)
    os.close(deep)
    found = nameless_bytes({ME}, str(tmp_path), 9 * MEBIBYTE)
    os.close(descriptor)
    remove_tree(str(tmp_path), 60.0)  # pytest would recurse
    assert MEBIBYTE <= found < 2 * MEBIBYTE


def test_a_list_of_mappings_without_end_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "MAX_MAPS_BYTES", 1000)
    assert look(tmp_path) == "a process with too long a list of mappings, so scratch_bytes can't be counted"


def test_descriptors_under_way_count_in_full(tmp_path):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        descriptor = removed_file(tmp_path)
        socket.send_fds(ours, [b"x"], [descriptor])
        os.close(descriptor)
        if b"scm_fds" not in Path(f"/proc/self/fdinfo/{theirs.fileno()}").read_bytes():
            pytest.skip("needs a kernel that shows descriptors in flight")
        assert nameless_bytes({ME}, str(tmp_path), 9 * MEBIBYTE) == 9 * MEBIBYTE


def test_a_look_through_many_files_is_not_repeated_at_once(tmp_path, monkeypatch):
    looks = []
    watcher = watch(tmp_path)
    monkeypatch.setattr(scratch, "walk", lambda place: looks.append(place) or scratch.Contents())
    clock = iter([0.0, 0.0, 1.0, 10.9, 11.1, 11.1, 11.1])  # a look from 0 to 1 s: the next at 11 s
    monkeypatch.setattr(scratch.time, "monotonic", lambda: next(clock))
    for _ in range(3):
        watcher.broken_limit(ME, lambda: {ME})
    assert len(looks) == 2


def test_what_lies_in_pipes_and_sockets_counts_once():
    before = memory.MemoryMonitor(is_counted=False).at_most({ME}, 0)
    ends = socket.socketpair()
    pipes = os.pipe()
    twins = [os.dup(end.fileno()) for end in ends]
    grown = memory.MemoryMonitor(is_counted=False).at_most({ME}, 0) - before
    for end in ends:
        end.close()
    for descriptor in (*pipes, *twins):
        os.close(descriptor)
    sent = int(Path("/proc/sys/net/core/wmem_default").read_text())
    assert 2 * sent <= grown < 2 * sent + 2 * MEBIBYTE


def test_where_there_was_no_time_to_look_every_file_counts_for_a_socket(monkeypatch):
    monkeypatch.setattr(memory, "MEASURE_SECONDS", -1.0)
    before = memory.MemoryMonitor(is_counted=False).at_most({ME}, 0)
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    grown = memory.MemoryMonitor(is_counted=False).at_most({ME}, 0) - before
    for file in files:
        os.close(file)
    assert grown >= 20 * int(Path("/proc/sys/net/core/wmem_default").read_text())


@pytest.mark.parametrize("percent", [30, 80, 95])
def test_a_socket_keeps_no_more_than_is_counted(percent):
    """The last message is let in as long as the buffer is not full, however large it is."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ours.setblocking(False)
        size = ours.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) * percent // 100
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                sent += ours.send(b"x" * size)
    assert sent <= memory._socket_bytes()


def test_the_memory_of_a_process_that_can_not_be_read_counts_in_full():
    """Only ``status`` can be read of another user's process: that of the first one, which is root's, is an example."""
    if os.geteuid() == 0:
        pytest.skip("needs an ordinary user")
    resident = procfs.sum_bytes("/proc/1/status", b"RssAnon:")
    if not resident:
        pytest.skip("needs a first process with memory")
    assert procfs.sum_bytes("/proc/1/smaps_rollup", b"Pss_Anon:") is None
    assert memory.MemoryMonitor(is_counted=True).exactly({1}, 0, is_urgent=False) >= resident


@pytest.mark.slow(sample=("bubblewrap",))
@pytest.mark.parametrize("level", IsolationLevel, indirect=True)
def test_a_bot_sees_file_systems_of_its_own_where_they_can_be_had(level, tmp_path):
    if not has_own_file_systems(choose_isolation(level)):
        pytest.skip("needs file systems of the bots' own")
    outcome = play_zoo_bot("uses_multiprocessing", level, inline=is_safe_inline(level))
    assert outcome.faults == set(), outcome.details
