"""A whole turn (ask, answer, check, apply, clock, record) with instant C bots, beside a C-to-C pipe ping-pong."""

import os
import statistics
import time

from arena.base.records import MatchSpec
from arena.match.bot_pool import BotPool
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.results.rows import row_of
from benchmarks.common import instant_bot, machine, ping_pong_us

MATCHES = 300
OPTIONS = {"size": 11}  # plusminus: 20 predictions and 11 marks, 31 plies


def turn_us(bots):
    with BotPool(choose_isolation("limits")) as pool:
        plies = 0
        for match in range(-20, MATCHES):
            if match == 0:
                plies, started = 0, time.perf_counter()
            record = pool.play(
                MatchSpec(match=match, tournament="t", game="plusminus", options=OPTIONS, bots=bots, rng_seed=1)
            )
            row_of(record)
            assert not record.faults, record.faults
            plies += len(record.actions)
        return (time.perf_counter() - started) / plies * 1e6


def main():
    print(machine())
    cores = os.sched_getaffinity(0)
    frugal = (instant_bot("a"), instant_bot("b"))
    hungry = (instant_bot("a", "all"), instant_bot("b", "all"))
    for label, core in (("pinned to one core", min(cores)), ("left to the scheduler", None)):
        os.sched_setaffinity(0, cores if core is None else {core})
        floors, lean, full = [], [], []
        for _ in range(5):
            floors.append(ping_pong_us(core=core))
            lean.append(turn_us(frugal))
            full.append(turn_us(hungry))
        floor, lean_us, full_us = (statistics.median(values) for values in (floors, lean, full))
        print(
            f"{label}: C ping-pong {floor:.1f} us; a turn {lean_us:.1f} us ({lean_us / floor:.1f}x);"
            f" with observation and legal actions {full_us:.1f} us ({full_us / floor:.1f}x)"
        )
    os.sched_setaffinity(0, cores)


if __name__ == "__main__":
    main()
