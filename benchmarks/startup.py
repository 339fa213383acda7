"""``arena --help`` beside a bare Python; medians, taken in turn."""

import statistics
import subprocess
import sys
import time

from benchmarks.common import machine

RUNS = 30


def milliseconds(action):
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1e3


def main():
    print(machine())
    actions = {
        "python -c pass": lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
        "arena --help": lambda: subprocess.run(
            [sys.executable, "-m", "arena", "--help"], check=True, stdout=subprocess.DEVNULL
        ),
    }
    for action in actions.values():
        action()
    taken = {name: [] for name in actions}
    for _ in range(RUNS):
        for name, action in actions.items():
            taken[name].append(milliseconds(action))
    for name, values in taken.items():
        print(f"{name}: {statistics.median(values):.2f} ms")


if __name__ == "__main__":
    main()
