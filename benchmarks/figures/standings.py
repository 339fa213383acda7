"""The standings of 999,000 matches of 1,000 bots in a process of their own: for the first time, and after 1,000 more.

The tournament isn't finished, so a version that caches standings of finished tournaments only computes them twice. CPU
time is that of all threads; numpy has one, and garbage is looked for as seldom as in the ``arena`` command. The records
are made up (``benchmarks/synthetic_season.py``), in a database that is made on first use, in a minute; the 1,000 are
removed from it again.
"""

import gc
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.store.home import ArenaHome
from benchmarks.synthetic_season import NAME, home_of, record, rows

BOTS = 1000
MORE = 1000


def measure():
    matches = BOTS * (BOTS - 1)
    with tempfile.TemporaryDirectory(dir=home_of(BOTS, MORE).parent) as directory:
        home = Path(directory) / "home"
        shutil.copytree(home_of(BOTS, MORE), home)
        first = _computed(home)
        with ArenaHome(home) as arena_home:
            record(arena_home, arena_home.store.tournament(NAME), rows(BOTS, matches - MORE + 1, matches))
        again = _computed(home)
    return {
        "standings of 998,000 matches of 1,000 bots, s": first["seconds"],
        "the same, CPU s": first["cpu_seconds"],
        "the same, peak MiB": first["peak_mebibytes"],
        "standings after 1,000 more matches, s": again["seconds"],
        "the same after 1,000 more, CPU s": again["cpu_seconds"],
        "the same after 1,000 more, peak MiB": again["peak_mebibytes"],
    }


def _computed(home):
    """Return what it costs to compute standings in a new process."""
    command = [sys.executable, "-m", "benchmarks.figures.standings", str(home)]
    return json.loads(subprocess.check_output(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}))


def main():
    from arena.analysis.measures.standings_cache import standings_of

    gc.set_threshold(50_000)
    with ArenaHome(sys.argv[1]) as home:
        home.store.tournament(NAME)
        started, cpu_started = time.perf_counter(), time.process_time()
        standings_of(home.store, NAME, cache_directory=home.cache_directory)
        taken, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": taken, "cpu_seconds": cpu, "peak_mebibytes": peak}))


if __name__ == "__main__":
    main()
