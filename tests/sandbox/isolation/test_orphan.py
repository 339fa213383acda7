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
random.seed(1)
for _ in range(3):
    read_end, write_end = os.pipe()
    pid = orphan.fork_orphan()
    if pid == 0:
        changed.append(1)
        signal.raise_signal(0)
        found = os.getpid(), os.getppid(), len(os.listdir("/proc/self/task")), changed, round(random.random(), 4)
        os.write(write_end, repr(found).encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as file:
        its_pid, its_parent, threads, its_changes, number = eval(file.read())
    assert its_pid == pid and its_parent not in (0, os.getpid()), (pid, its_pid, its_parent)
    assert (threads, its_changes, changed) == (1, [1], [])
    assert number != 0.1344  # the first one after that seed
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        print("no child is left")
"""


@pytest.mark.parametrize("way", ["machine code", "Python"])
def test_a_copy_runs_on_by_itself_and_what_it_changes_is_its_own(way):
    if way == "machine code" and orphan.load_machine_code() is None:
        pytest.skip("needs a machine with machine code")
    run = subprocess.run([sys.executable, "-c", PROGRAM, way], capture_output=True, text=True, check=False, timeout=60)
    assert (run.stderr, run.stdout) == ("", "no child is left\n" * 3)
