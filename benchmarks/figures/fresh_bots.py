"""Matches a second with bots launched for every match: instant C bots, 31 plies, two workers.

Beside it, in the same run and taken in turn, a bare Python loop in two processes: it launches two bots with
``subprocess.Popen``, has 31 answers from them, and waits for their ends. Rates are the best of five, shares the medians
of five, each of a level and the loop after it.
"""

import statistics
import subprocess
import sys
import time
from collections import defaultdict

from arena.protocol.frames import encode_frame
from benchmarks.common import instant_bot
from benchmarks.throughput import rate

MATCHES = 240
PLIES = 31
WORKERS = 2
ROUNDS = 5

BARE_LOOP = """
import subprocess, sys
program, matches, plies = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
hello, leave = bytes.fromhex(sys.argv[4]), bytes.fromhex(sys.argv[5])
for _ in range(matches):
    bots = [
        subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) for _ in range(2)
    ]
    for turn in range(2 + plies):
        bots[turn % 2].stdin.write(hello)
        bots[turn % 2].stdout.read(4096)
    for bot in bots:
        bot.stdin.write(leave)
        bot.stdin.close()
        bot.wait()
        bot.stdout.close()
"""


def measure():
    taken, shares = defaultdict(list), defaultdict(list)
    for _ in range(ROUNDS):
        for isolation in ("none", "landlock", "bubblewrap"):
            taken[isolation].append(rate(WORKERS, MATCHES // 2, fresh_bots=True, isolation=isolation)[0])
            taken["bare Python loop"].append(bare_rate())
            shares[isolation].append(taken[isolation][-1] / taken["bare Python loop"][-1])
    figures = {f"bots launched for every match, {name}, matches/s": max(rates) for name, rates in taken.items()}
    for name, of_bare_loop in shares.items():
        figures[f"… {name}, share of the bare loop"] = statistics.median(of_bare_loop)
    return figures


def bare_rate():
    frames = [encode_frame({"type": kind}).hex() for kind in ("hello", "quit")]
    (program,) = instant_bot().command
    arguments = [program, str(MATCHES // WORKERS), str(PLIES), *frames]
    started = time.perf_counter()
    loops = [subprocess.Popen([sys.executable, "-I", "-S", "-c", BARE_LOOP, *arguments]) for _ in range(WORKERS)]
    for loop in loops:
        loop.wait()
    return MATCHES / (time.perf_counter() - started)
