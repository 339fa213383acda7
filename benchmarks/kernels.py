"""Kernels beside the rules in Python: playouts per second at default options; compiling, loading and a call.

Processor time throughout, kernel and rules in turn, so that other processes disturb a ratio little.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.games import make_game
from arena.games.kernels import build
from arena.games.kernels.kernel import KERNEL_NAMES, Kernel
from arena.games.kernels.loading import load, open_library
from arena.games.kernels.playouts import playouts_by_rules, playouts_per_second
from benchmarks.common import machine

SECONDS = 1.0
ROUNDS = 3
GOALS = {"plusminus": 5e6, "plaid": 3e6, "coprimality": 1.5e6, "differences": 5e6, "multiplication": 5e6}
RATIO_GOAL = 150


def rules_per_second(game):
    played = 0
    started = time.process_time()
    while (elapsed := time.process_time() - started) < SECONDS:
        playouts_by_rules(game, 1, played, 100)
        played += 100
    return played / elapsed


def measure(name):
    """Return the median rates of the kernel and of the rules, and the median of their ratios."""
    game = make_game(name)
    kernel = Kernel(load(name), game)
    pairs = [(playouts_per_second(kernel, SECONDS), rules_per_second(game)) for _ in range(ROUNDS)]
    fast, slow = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    return fast, slow, statistics.median(kernel_rate / rules_rate for kernel_rate, rules_rate in pairs)


def compile_seconds(name):
    """Return the processor time of the compiler, at its best of three."""
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory) / "kernel.so"
        command = [*build.find_compiler().command, *build.FLAGS, build.NATIVE, "-o", str(library)]
        command += [str(build.SOURCES / f"{name}.c"), "-lm"]
        code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True)\n"
        code += "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
        return min(float(subprocess.check_output([sys.executable, "-c", code, *command])) for _ in range(3))


def load_ms(name):
    """Return the milliseconds to load a build, which this process has not loaded yet."""
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory) / "kernel.so"
        build.compile_kernel(name, library, build.find_compiler())
        started = time.process_time()
        open_library(library)
        return 1e3 * (time.process_time() - started)


def call_us(kernel, calls=100_000):
    started = time.process_time()
    for _ in range(calls):
        kernel.seat_to_act()
    return 1e6 * (time.process_time() - started) / calls


def main():
    print(f"{machine()}\n")
    print("| game | kernel, playouts/s | goal | rules, playouts/s | ratio | goal |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for name in KERNEL_NAMES:
        fast, slow, ratio = measure(name)
        print(
            f"| {name} | {fast:,.0f} | {GOALS[name]:,.0f} | {slow:,.0f} | {ratio:,.0f}× | {RATIO_GOAL}× |", flush=True
        )
    compiling = statistics.median(compile_seconds(name) for name in KERNEL_NAMES)
    loading = statistics.median(load_ms(name) for name in KERNEL_NAMES)
    call = call_us(Kernel(load("differences"), make_game("differences")))
    print(f"\nCompiling {compiling:.2f} s, loading {loading:.2f} ms, a call {call:.2f} µs.")


if __name__ == "__main__":
    main()
