import os
import time
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path

from arena.sandbox.isolation import reaper
from arena.sandbox.isolation.launcher import open_launcher

SECONDS_TO_END = 60.0
"""For processes that have been killed; what stays is still there then."""


_OF_OTHERS = ("Another arena on this machine plays on", "(LateError: the machine stood still")


def own_errors(errors):
    """Return what a program wrote to stderr, without the notices about tests beside it, which take its cores."""
    return "".join(line for line in errors.splitlines(True) if not any(notice in line for notice in _OF_OTHERS))


def command_line(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def command_lines(processes):
    lines = {pid: command_line(pid) for pid in processes}
    return {pid: line.decode(errors="replace").split("\0") for pid, line in lines.items() if line}


def left_in(directory):
    """Return what is in a directory for temporary files, but for empty places that are kept for the next bots."""
    kept = open_launcher().spare_scratch
    return [path for path in directory.iterdir() if str(path) not in kept or any(path.iterdir())]


@contextmanager
def no_process_left():
    launcher = open_launcher()  # so that the launcher is there before and after
    resource_tracker.ensure_running()  # which Python keeps until it ends
    others = set(reaper.children(os.getpid())) - launcher.server_pids
    yield
    deadline = time.monotonic() + SECONDS_TO_END
    while left := _left(others) - launcher.server_pids:
        assert time.monotonic() < deadline, [_output_of(pid) for pid in left]
        time.sleep(0.02)


def _output_of(pid):
    line = command_line(pid).replace(b"\0", b" ").decode(errors="replace")
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return f"{pid} has ended"
    return f"{pid}: {line}", [row for row in status.splitlines() if row.startswith(("State", "PPid"))]


def _left(others):
    children = set(reaper.children(os.getpid())) - others
    for pid in children:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    children &= set(reaper.children(os.getpid()))
    return children.union(*map(reaper.descendants, children))


def wait_for_the_end_of(pids):
    deadline = time.monotonic() + 60
    while running := [pid for pid in pids if command_line(pid)]:
        assert time.monotonic() < deadline, running
        time.sleep(0.05)
