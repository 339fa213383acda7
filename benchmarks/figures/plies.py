"""Plies a second of whole tournaments with kept C bots that answer at once, and two matches at a time.

The arena's matches are of plusminus, 31 plies, from the schedule to the store, at the level of isolation it takes by
itself. Beside it fastchess, with kept UCI engines in C that answer at once as well, in games of 30 plies that its limit
of moves ends: ``-concurrency 2 -use-affinity -maxmoves 15 -each tc=60+1``, without PGN, ratings and autosaves. Counted
are the games that end between two looks at its output, which goes to a file. Both in turn, the best of three.

fastchess is looked for in the environment variable ``FASTCHESS`` and on the path; without it that figure is missing.
It was commit 74deac23 of 2026-07-29 (alpha 1.8.2), built with ``make``: g++ 12.2, ``-O3 -march=native``.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import build
from benchmarks.throughput import rate

WORKERS = 2
ENCOUNTERS = 1500
MOVES = 15
WARM_UP_SECONDS = 1.5
SECONDS = 4.0


def measure():
    fastchess = os.environ.get("FASTCHESS") or shutil.which("fastchess")
    if fastchess is None:
        print("no fastchess: neither in FASTCHESS nor on the path", file=sys.stderr)
    ours, theirs = [], []
    for _ in range(3):
        ours.append(rate(WORKERS, ENCOUNTERS)[1])
        theirs.append(fastchess_rate(fastchess) if fastchess is not None else float("nan"))
    return {
        "kept C bots, two workers, plies/s": max(ours),
        "fastchess, two games at a time, plies/s": max(theirs),
        "plies/s beside fastchess, times": max(ours) / max(theirs),
    }


def fastchess_rate(fastchess):
    engine = build("instant_engine")
    command = [fastchess, "-engine", f"cmd={engine}", "name=a", "-engine", f"cmd={engine}", "name=b"]
    command += ["-each", "tc=60+1", "-rounds", "10000000", "-games", "2", "-maxmoves", str(MOVES)]
    command += ["-concurrency", str(WORKERS), "-use-affinity", "-ratinginterval", "0", "-autosaveinterval", "0"]
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory, "output.txt")
        with output.open("wb") as file:
            run = subprocess.Popen(command, cwd=directory, stdout=file, stderr=subprocess.STDOUT)
        try:
            time.sleep(WARM_UP_SECONDS)
            started, before = time.perf_counter(), output.stat().st_size
            time.sleep(SECONDS)
            ended, after = time.perf_counter(), output.stat().st_size
        finally:
            run.terminate()
            run.wait()
        games = output.read_bytes()[before:after].count(b"Finished game")
    assert games, output
    return games * 2 * MOVES / (ended - started)
