"""Kernels: the rules of the five games once more, in C, for the lab.

A kernel is compiled on first use and compared with the rules in Python before it is used. Where there is no compiler,
the same functions compute the same answers from the rules, slower.

>>> from arena.games import make_game
>>> totals = random_playouts(make_game("differences", size=4), seed=1, first=0, count=100)
>>> totals.played, totals.plies
(100, 400)
"""

from arena.lab.kernels.kernel import Kernel, PlayoutTotals, Trace
from arena.lab.kernels.loading import KernelStatus, kernel_of, kernel_status
from arena.lab.kernels.playouts import count_lines, random_playouts, trace

__all__ = [
    "Kernel",
    "KernelStatus",
    "PlayoutTotals",
    "Trace",
    "count_lines",
    "kernel_of",
    "kernel_status",
    "random_playouts",
    "trace",
]
