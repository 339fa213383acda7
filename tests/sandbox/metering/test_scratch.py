import contextlib
import ctypes
import mmap
import os
import socket
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.records import MEBIBYTE, Limits
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.sandbox_policy import has_own_file_systems
from arena.sandbox.metering import memory, scratch
from arena.sandbox.metering.scratch import MAX_DEPTH, MAX_FILES, ScratchMonitor, nameless_bytes, walk
from benchmarks.zoo_bots import is_safe_inline, play_zoo_bot
from tests import needs
from tests.deep_places import nested

ME = os.getpid()


def watch(place, **limits):
    spec = {"scratch": str(place), "mounts": None, "seccomp_at": None}
    return ScratchMonitor(spec, Limits(**limits))


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
    isolation = choose_isolation(level)
    if not has_own_file_systems(isolation):
        pytest.skip("needs file systems of the bots' own")
    outcome = play_zoo_bot("uses_multiprocessing", level, inline=is_safe_inline(level))
    assert outcome.faults == set(), outcome.details
