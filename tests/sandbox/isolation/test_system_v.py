import ctypes
import os
import subprocess
import sys

import pytest

from arena.sandbox.isolation import removal as system_v
from arena.sandbox.isolation.fork_server import LAST_UID, lock_uid, remove_system_v_of_uid
from arena.sandbox.isolation.reaper import remove_stale
from arena.sandbox.isolation.removal import remove_made_by

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


def test_what_a_bots_uid_has_made_goes_with_it(bots_uid):
    uid, _ = bots_uid
    make_all(uid)
    assert kinds_of(uid) == ["shm", "sem", "msg"]
    remove_system_v_of_uid(uid)
    assert kinds_of(uid) == []


def test_what_a_killed_arena_has_left_is_removed_by_the_next_unless_the_uid_is_in_use(bots_uid):
    uid, lock = bots_uid
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
        of_maker = [row for row in system_v._rows("shm") if row["cpid"] == maker]
        assert len(of_maker) == 1
        remove_made_by({maker})
        left = system_v._rows("shm")
        assert [row for row in left if row["cpid"] == maker] == []
        assert ours in [row["shmid"] for row in left]
    finally:
        libc.shmctl(ours, 0, None)
        _, semaphore, queue = made
        libc.semctl(semaphore, 0, 0)
        libc.msgctl(queue, 0, 0)
