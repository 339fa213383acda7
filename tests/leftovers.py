"""What bots leave behind: processes that are not those of a server which other tests keep running."""

import os
from contextlib import contextmanager

from arena.isolation import reaper
from arena.isolation.launcher_client import open_launcher


@contextmanager
def no_process_left():
    """Check that no process is left; a PostgreSQL server of other tests may start workers whenever it likes."""
    launcher = open_launcher()  # so that the launcher is there before and after
    others = set(reaper.children(os.getpid())) - launcher.server_pids
    yield
    left = set()
    for child in set(reaper.children(os.getpid())) - others:
        left |= {child} | reaper.descendants(child)
    assert left <= launcher.server_pids
