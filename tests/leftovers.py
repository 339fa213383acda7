"""What bots leave behind: processes that are not those of a server which other tests keep running."""

import os
import time
from contextlib import contextmanager
from multiprocessing import resource_tracker

from arena.isolation import reaper
from arena.isolation.launcher_client import open_launcher

SECONDS_TO_END = 60.0
"""For processes that have been killed; what stays is still there then."""


@contextmanager
def no_process_left():
    """Check that no process is left; a PostgreSQL server of other tests may start workers whenever it likes."""
    launcher = open_launcher()  # so that the launcher is there before and after
    resource_tracker.ensure_running()  # which Python keeps until it ends
    others = set(reaper.children(os.getpid())) - launcher.server_pids
    yield
    deadline = time.monotonic() + SECONDS_TO_END
    while left := _left(others) - launcher.server_pids:
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def _left(others):
    """Return the processes below this one, but for these others."""
    children = set(reaper.children(os.getpid())) - others
    return children.union(*map(reaper.descendants, children))
