import ctypes
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.isolation import removal as system_v
from arena.sandbox.isolation.bot_uids import LAST_UID, lock_uid, remove_system_v_of_uid
from arena.sandbox.isolation.procfs import is_dead, process_tag
from arena.sandbox.isolation.reaper import remove_stale, remove_stale_directories
from arena.sandbox.isolation.removal import remove_made_by, remove_tree
from tests import needs
from tests.deep_places import nested

DEAD = "999999999.5"
"""The tag of a process that there can't be: process numbers end at 4,194,304 (proc_sys_kernel(5))."""


def test_a_link_in_the_place_of_a_scratch_directory_is_removed_and_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o500)
    (precious / "file").write_text("x") if os.geteuid() == 0 else None
    link = tmp_path / "arena-bot-1-x"
    link.symlink_to(precious)
    remove_tree(str(link))
    assert not link.is_symlink()
    assert precious.stat().st_mode & 0o777 == 0o500


@pytest.fixture
def in_memory():
    """A directory where removing is fast: on some disks removing a directory takes milliseconds."""
    place = Path("/dev/shm") / f"arena-test-{os.getpid()}"
    place.mkdir()
    yield place
    remove_tree(str(place))


def test_directories_nested_deeper_than_a_path_can_tell_are_removed(in_memory):
    scratch = in_memory / "scratch"
    scratch.mkdir()
    here = nested(scratch, ["d"] * 5000)
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    assert remove_tree(str(scratch))
    assert not scratch.exists()
    assert remove_tree(str(scratch / "no"))  # what is not there is removed already


def test_whatever_lies_in_a_directory_is_removed_and_what_links_point_to_is_not(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    mode = precious.stat().st_mode
    (precious / "file").write_text("x")
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b").mkdir(parents=True)
    (scratch / "a" / "link").symlink_to(precious)
    (scratch / "a" / "b" / "link").symlink_to(precious / "file")
    (scratch / "dangling").symlink_to("nowhere")
    os.mkfifo(scratch / "a" / "fifo")
    os.link(precious / "file", scratch / "a" / "b" / "hard")
    os.close(os.open(bytes(scratch) + b"/\xff\n", os.O_CREAT))
    for place in (scratch / "a" / "b", scratch / "a", scratch):
        place.chmod(0)
    assert remove_tree(str(scratch))
    assert not scratch.exists()
    assert (precious / "file").read_text() == "x"
    assert precious.stat().st_mode == mode


@needs.root
def test_other_file_systems_are_left_alone(tmp_path):
    """In a mount namespace of a child, for a mount that stays would be in everybody's way."""
    script = """
import ctypes, os, sys
from arena.sandbox.isolation.removal import remove_tree
place = sys.argv[1]
os.makedirs(f"{place}/scratch/inner")
libc = ctypes.CDLL(None)
assert libc.unshare(0x20000) == 0
assert libc.mount(None, b"/", None, ctypes.c_ulong(16384 | 1 << 18), None) == 0
assert libc.mount(b"x", f"{place}/scratch/inner".encode(), b"tmpfs", 0, None) == 0
open(f"{place}/scratch/inner/precious", "w").close()
assert not remove_tree(f"{place}/scratch")
assert os.listdir(f"{place}/scratch/inner") == ["precious"]
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)


def test_only_what_is_ours_is_swept_and_a_directory_that_can_not_be_read_is_no_obstacle(tmp_path):
    ours = [tmp_path / f"arena-bot-{DEAD}-a", tmp_path / f"arena-outside-{DEAD}-b", tmp_path / f"arena-node-{DEAD}-c"]
    for path in ours:
        (path / "d").mkdir(parents=True)
    (tmp_path / f"arena-bot-{DEAD}-link").symlink_to(tmp_path)
    others = ["arena-bot-", "arena-bot-1", "arena-bot-x.y-z", "arena-bot-\u00b2.5-z", f"my-arena-bot-{DEAD}-x"]
    others += [f"arena-bot-{process_tag()}-x", f"arena-outside-{process_tag()}-x"]
    for name in others:
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "arena-bot-fifo")
    os.close(os.open(bytes(tmp_path) + b"/arena-bot-\xff.5-x", os.O_CREAT))
    remove_stale_directories(str(tmp_path), 10.0)
    left = {os.fsdecode(path.name) for path in tmp_path.iterdir()}
    assert left == {*others, "arena-bot-fifo", os.fsdecode(b"arena-bot-\xff.5-x")}
    remove_stale_directories(str(tmp_path / "missing"), 10.0)
    (tmp_path / "file").touch()
    remove_stale_directories(str(tmp_path / "file"), 10.0)
    (tmp_path / "closed").mkdir(mode=0)
    remove_stale_directories(str(tmp_path / "closed"), 10.0)


FEW_DESCRIPTORS = """
import contextlib, resource, sys
from arena.sandbox.isolation.reaper import remove_stale_directories
for count in range(3, 12):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, 12))
    with contextlib.suppress(OSError):
        remove_stale_directories(sys.argv[1], 10.0)
"""


def test_an_arena_without_free_descriptors_takes_no_other_arena_for_dead(tmp_path):
    alive = tmp_path / f"arena-bot-{process_tag()}-x"
    alive.mkdir()
    subprocess.run([sys.executable, "-c", FEW_DESCRIPTORS, str(tmp_path)], check=True)
    assert alive.is_dir()


@needs.root
def test_directories_of_other_users_stay_whatever_their_names(tmp_path):
    of_another = tmp_path / f"arena-bot-{DEAD}-x"
    for path, uid in ((of_another, 1000), (tmp_path / f"arena-bot-{DEAD}-y", 61184)):
        (path / "d").mkdir(parents=True)
        os.chown(path, uid, uid)
    remove_stale_directories(str(tmp_path), 10.0)
    assert list(tmp_path.iterdir()) == [of_another]


def test_sweeping_and_removing_stop_in_time(tmp_path):
    for number in range(10):
        (tmp_path / f"arena-bot-{DEAD}-{number}").mkdir()
    remove_stale_directories(str(tmp_path), -1.0)
    assert len(list(tmp_path.iterdir())) == 10
    (tmp_path / "scratch" / "d").mkdir(parents=True)
    assert not remove_tree(str(tmp_path / "scratch"), seconds=-1.0)
    assert (tmp_path / "scratch" / "d").exists()


def test_what_a_container_owns_is_not_ours_and_a_name_that_is_no_text_no_obstacle():
    """Its process numbers are others than ours, so that its owner seems dead."""
    pid, began, namespace = process_tag().split(".")
    assert not is_dead(process_tag())
    assert is_dead(f"{pid}.5.{namespace}")
    assert not is_dead(f"{pid}.5.{int(namespace) + 1}")
    for odd in ("", ".", "..", "...", f"{pid}.5.", f"{pid}.5.x", f"{pid}.5.{namespace}.1", f".{began}.{namespace}"):
        assert not is_dead(odd), odd
    script = (
        "import ctypes, sys; ctypes.CDLL(None).prctl(15, b'\\xff) Z 1', 0, 0, 0); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert is_dead(f"{process.pid}.5")


SCRIPT = """
import os, signal, time
from arena.base.enums import IsolationLevel
from arena.sandbox.isolation import levels
levels.run_test_program = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
levels.probe_level(IsolationLevel.LANDLOCK)
"""


def test_the_self_tests_directory_is_closed_to_others_and_removed_after_a_kill(tmp_path, monkeypatch):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", SCRIPT], env=environment).returncode == -9
    (left,) = tmp_path.glob("arena-outside-*")
    assert stat.S_IMODE(left.stat().st_mode) == (0o1707 if os.geteuid() == 0 else 0o700)
    remove_stale_directories(str(tmp_path), 10.0)
    assert list(tmp_path.glob("arena-outside-*")) == []


MAKE_ALL = """
import ctypes, os, sys
uid = int(sys.argv[1])
if uid != os.getuid():
    os.setresuid(uid, uid, uid)
libc = ctypes.CDLL(None)
made = (libc.shmget(0, 4096, 0o1600), libc.semget(0, 1, 0o1600), libc.msgget(0, 0o1600))
assert min(made) >= 0
print(os.getpid(), *made)
"""


def make_all(uid):
    done = subprocess.run([sys.executable, "-c", MAKE_ALL, str(uid)], capture_output=True, text=True, check=True)
    maker, *made = map(int, done.stdout.split())
    return maker, made


def kinds_of(uid):
    return [kind for kind in ("shm", "sem", "msg") for row in system_v._rows(kind) if row["cuid"] == uid]


@pytest.fixture
def bots_uid():
    if os.geteuid() != 0:
        pytest.skip("needs root")
    lock = lock_uid(LAST_UID)
    if lock is None:
        pytest.skip("needs a uid that no other arena has taken")
    yield LAST_UID, lock
    lock.close()
    remove_system_v_of_uid(LAST_UID)


def test_what_a_bots_uid_has_made_goes_with_it_or_with_the_next_arena_if_the_uid_is_not_in_use(bots_uid):
    uid, lock = bots_uid
    make_all(uid)
    assert kinds_of(uid) == ["shm", "sem", "msg"]
    remove_system_v_of_uid(uid)
    assert kinds_of(uid) == []
    make_all(uid)
    remove_stale()
    assert kinds_of(uid) == ["shm", "sem", "msg"]
    lock.close()
    remove_stale()
    assert kinds_of(uid) == []


def test_of_an_ordinary_users_own_only_the_shared_memory_of_a_bots_processes_is_removed():
    libc = ctypes.CDLL(None)
    ours = libc.shmget(0, 4096, 0o1600)
    maker, made = make_all(os.getuid())
    try:
        assert len([row for row in system_v._rows("shm") if row["cpid"] == maker]) == 1
        remove_made_by({maker})
        left = system_v._rows("shm")
        assert [row for row in left if row["cpid"] == maker] == []
        assert ours in [row["shmid"] for row in left]
    finally:
        libc.shmctl(ours, 0, None)
        _, semaphore, queue = made
        libc.semctl(semaphore, 0, 0)
        libc.msgctl(queue, 0, 0)
