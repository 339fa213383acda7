"""The median of ten starts of ``arena --help``, beside ``python -c pass``, taken in turn."""

import statistics
import subprocess
import sys
import time

RUNS = 10


def measure():
    commands = {"arena --help, ms": ["-m", "arena", "--help"], "python -c pass, ms": ["-c", "pass"]}
    taken = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, arguments in commands.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            taken[name].append((time.perf_counter() - started) * 1e3)
    return {name: statistics.median(values) for name, values in taken.items()}
