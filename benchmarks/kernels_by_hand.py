"""Kernels beside playouts written by hand for one game each: playouts per second at default options, and their ratio.

Processor time, both in turn, so that other processes disturb a ratio little. Exits with 1 if a kernel plays fewer than
0.6 times as many, or if outcomes, scores or plies of the two differ by more than chance.
"""

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from math import sqrt
from pathlib import Path

from arena.games import make_game
from arena.games.kernels import build
from arena.games.kernels.kernel import KERNEL_NAMES, Kernel
from arena.games.kernels.loading import load
from arena.games.kernels.playouts import playouts_per_second
from benchmarks.common import HERE, machine

SECONDS = 0.5
ROUNDS = 7
RATIO_GOAL = 0.6
CHECKED = 1_000_000
MOST_ERRORS = 5.0
"""So many standard errors of a difference are no chance: one run in 100,000 exceeds them in one of its 30 numbers."""


class ByHand:
    """The functions of kernels_by_hand.c, compiled as kernels are."""

    def __init__(self, directory):
        library = Path(directory) / "by_hand.so"
        command = [*build.find_compiler().command, *build.FLAGS, build.NATIVE, "-o", str(library)]
        subprocess.run([*command, str(HERE / "kernels_by_hand.c"), "-lm"], check=True)
        self._library = ctypes.CDLL(str(library))

    def play(self, name, seed, count):
        """Return how often seat 0 wins, ties and loses, the sums of both scores, and the plies."""
        function = self._library[name]
        function.restype = ctypes.c_int64
        outcomes, sums = (ctypes.c_int64 * 3)(), (ctypes.c_double * 2)()
        plies = function(ctypes.c_uint64(seed), ctypes.c_int64(count), outcomes, sums)
        return (*outcomes, *sums, plies)

    def per_second(self, name, seed):
        """Measure playouts per second of processor time."""
        played, count = 0, 1000
        started = time.process_time()
        while (elapsed := time.process_time() - started) < SECONDS:
            self.play(name, seed + played, count)
            played += count
            if elapsed < SECONDS / 10:
                count *= 2
        return played / elapsed


def by_kernel(kernel, first, count):
    """Return the same numbers as ``ByHand.play``."""
    totals = kernel.playouts(1, first, count)
    wins, losses = totals.ranked[1][1], totals.ranked[0][1]
    return wins, count - wins - losses, losses, *totals.score_sums, totals.plies


def largest_difference(play_one, play_other, batches=100):
    """Return the largest difference between two kinds of playouts, in standard errors from the means of batches."""
    size = CHECKED // batches
    numbers = [[play(k, size) for k in range(batches)] for play in (play_one, play_other)]
    largest = 0.0
    for one, other in zip(*(zip(*of_kind, strict=True) for of_kind in numbers), strict=True):
        error = sqrt((statistics.variance(one) + statistics.variance(other)) / batches)
        difference = abs(statistics.mean(one) - statistics.mean(other))
        largest = max(largest, difference / error if error else difference)
    return largest


def main():
    print(f"{machine()}\n")
    print("| game | kernel, playouts/s | by hand, playouts/s | ratio | goal | largest difference |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    is_reached = True
    with tempfile.TemporaryDirectory() as directory:
        hand = ByHand(directory)
        for name in KERNEL_NAMES:
            kernel = Kernel(load(name), make_game(name))
            difference = largest_difference(
                lambda k, size, name=name: hand.play(name, 1_000_003 * k, size),
                lambda k, size, kernel=kernel: by_kernel(kernel, k * size, size),
            )
            pairs = [(playouts_per_second(kernel, SECONDS), hand.per_second(name, k)) for k in range(ROUNDS)]
            fast, by_hand = (statistics.median(rates) for rates in zip(*pairs, strict=True))
            ratio = statistics.median(kernel_rate / hand_rate for kernel_rate, hand_rate in pairs)
            is_reached = is_reached and ratio >= RATIO_GOAL and difference <= MOST_ERRORS
            print(
                f"| {name} | {fast:,.0f} | {by_hand:,.0f} | {ratio:.2f} | {RATIO_GOAL} | {difference:.1f} errors |",
                flush=True,
            )
    sys.exit(not is_reached)


if __name__ == "__main__":
    main()
