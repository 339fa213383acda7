"""A whole turn, pinned to one core with both bots: ask, answer, check, apply, clock, record.

Instant C bots in 31-ply matches of plusminus, each match's beginning, end and record included. Beside it two C programs
that pass 300 bytes to and fro over pipes, on the same core and taken in turn. The lowest of seven, which other load on
the machine disturbs least.
"""

import os

from benchmarks.common import instant_bot, ping_pong_us
from benchmarks.turn import turn_us

RUNS = 7


def measure():
    cores = os.sched_getaffinity(0)
    frugal = (instant_bot("a"), instant_bot("b"))
    hungry = (instant_bot("a", "all"), instant_bot("b", "all"))
    core = min(cores)
    taken = {"C ping-pong": [], "a turn": [], "a turn with observation and legal actions": []}
    os.sched_setaffinity(0, {core})
    try:
        for _ in range(RUNS):
            taken["C ping-pong"].append(ping_pong_us(core=core))
            taken["a turn"].append(turn_us(frugal))
            taken["a turn with observation and legal actions"].append(turn_us(hungry))
    finally:
        os.sched_setaffinity(0, cores)
    lowest = {name: min(values) for name, values in taken.items()}
    figures = {f"{name}, pinned, µs": value for name, value in lowest.items()}
    for name in list(lowest)[1:]:
        figures[f"{name} beside C ping-pong, times"] = lowest[name] / lowest["C ping-pong"]
    return figures
