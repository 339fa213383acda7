"""``arena standings`` for 1,656 matches of 24 bots, the whole command, beside ``python -c pass``.

Medians of seven runs, taken in turn: with an empty standings cache, and with what the first run has left in it. CPU
time is that of all threads. The records are made up (``benchmarks/synthetic_season.py``).
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.store.home import ArenaHome
from benchmarks.synthetic_season import NAME, home_of

BOTS = 24
ENCOUNTERS = 3
RUNS = 7


def measure():
    taken = {}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "home"
        shutil.copytree(home_of(BOTS, encounters=ENCOUNTERS), path)
        with ArenaHome(path) as home:
            cache = home.cache_directory
        command = [sys.executable, "-m", "arena", "--home", str(path), "standings", NAME]
        for _ in range(RUNS):
            shutil.rmtree(cache, ignore_errors=True)
            for name, arguments in {
                "arena standings, empty cache": command,
                "arena standings, again": command,
                "python -c pass": [sys.executable, "-c", "pass"],
            }.items():
                for figure, value in _run(arguments).items():
                    taken.setdefault(f"{name}, {figure}", []).append(value)
    return {name: statistics.median(values) for name, values in taken.items()}


def _run(arguments):
    started, before = time.perf_counter(), os.times()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return {"ms": (time.perf_counter() - started) * 1e3, "CPU ms": cpu * 1e3}
