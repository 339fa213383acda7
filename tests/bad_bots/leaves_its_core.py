"""Moves to another core."""

import os

from _wire import commit

commit(lambda: os.sched_setaffinity(0, range(os.cpu_count())) or "moved")
