"""How many playouts per second a kernel, or the rules, can play."""

from __future__ import annotations

import time

from arena.games.kernels.kernel import Kernel

_SEED = 1


def playouts_per_second(kernel: Kernel, seconds: float) -> float:
    """Return the playouts per second of processor time, from which other processes take nothing.

    Args:
        kernel: of a game with its options.
        seconds: how long to measure, of processor time.
    """
    first, count = 0, 1
    started = time.process_time()
    while (elapsed := time.process_time() - started) < seconds:
        kernel.playouts(_SEED, first, count)
        first += count
        if elapsed < seconds / 10:
            count *= 2
    return first / elapsed
