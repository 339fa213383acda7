import subprocess
import sys

import pytest

from arena.sandbox.isolation import orphan

PROGRAM = """
import os, random, signal, sys
from arena.sandbox.isolation import orphan

if sys.argv[1] == "Python":
    orphan.load_machine_code = lambda: None
changed, seen = [], random.random()
group = os.open(sys.argv[2], os.O_RDONLY)
random.seed(1)
for number_of_copy in range(3):
    read_end, write_end = os.pipe()
    pid = orphan.fork_orphan(group if number_of_copy else None)
    if pid == 0:
        changed.append(1)
        signal.raise_signal(0)
        is_in_group = os.path.basename(sys.argv[2]) in open("/proc/self/cgroup").read()
        found = os.getpid(), os.getppid(), len(os.listdir("/proc/self/task")), changed, round(random.random(), 4)
        found += (is_in_group,)
        os.write(write_end, repr(found).encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as file:
        its_pid, its_parent, threads, its_changes, number, is_in_group = eval(file.read())
    assert its_pid == pid and its_parent not in (0, os.getpid()), (pid, its_pid, its_parent)
    assert (threads, its_changes, changed, is_in_group) == (1, [1], [], number_of_copy > 0)
    assert number != 0.1344  # the first one after that seed
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        print("no child is left")
"""


@pytest.mark.parametrize("way", ["machine code", "Python"])
def test_a_copy_runs_on_by_itself_and_what_it_changes_is_its_own(way, group_of_version_2):
    if way == "machine code" and orphan.load_machine_code() is None:
        pytest.skip("needs a machine with machine code")
    command = [sys.executable, "-c", PROGRAM, way, str(group_of_version_2)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (run.stderr, run.stdout) == ("", "no child is left\n" * 3)
