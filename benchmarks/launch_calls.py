"""System calls of a match of 31 plies for which both bots are launched: `python -m benchmarks.launch_calls`.

What the arena's process and its fork servers call is counted, and what the process of a bot calls until it has
executed the bot's program; not what that program calls. The matches are played as by a worker of a tournament: on one
core, in a process that launches nothing but bots. The pool has played such matches before, so what it keeps is there.

Under strace everything is slow. So that nothing is checked or waited for that a match of quick turns does without, time
passes more slowly for the arena.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from arena.base.records import MatchSpec
from arena.match.bot_pool import BotPool
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from benchmarks.common import instant_bot

PLIES = 31
OPTIONS = {"size": 11}  # plusminus: 20 predictions and 11 marks
BEFORE, COUNTED = 3, 8
SLOWER = 50
MARK = "/counted-from-here"
LEVELS = ("none", "limits", "landlock", "bubblewrap")

_LINE = re.compile(r"(\d+) +(?:<\.\.\. )?(\w+)(\(| resumed>)(.*)")


def play(level, matches=BEFORE + COUNTED):
    """Play matches; each of the counted ones begins, and the last of them ends, with a call that the trace shows."""
    bots = (instant_bot("a"), instant_bot("b"))
    clock, sleep = time.perf_counter, time.sleep
    time.perf_counter, time.sleep = lambda: clock() / SLOWER, lambda seconds: sleep(seconds * SLOWER)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    open_launcher(launches_only_bots=True)
    with BotPool(choose_isolation(level), fresh_bots=True) as pool:
        for match in range(matches):
            if match >= BEFORE:
                Path(MARK).exists()
            spec = MatchSpec(match=match, tournament="t", game="plusminus", options=OPTIONS, bots=bots, rng_seed=1)
            record = pool.play(spec)
            assert not record.faults and len(record.actions) == PLIES, record
        Path(MARK).exists()


def trace(level):
    """Return the lines of a trace of ``play``."""
    with tempfile.NamedTemporaryFile() as file:
        code = f"from benchmarks.launch_calls import play; play({level!r})"
        command = ["strace", "-f", "-qq", "-s", "96", "-e", "signal=none", "-o", file.name, sys.executable, "-c", code]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return Path(file.name).read_text(errors="replace").splitlines()


def calls(lines):
    """Return the calls of each counted match: the number of the process, the name and the rest of the line."""
    matches, own, programs = [], set(), set()
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        process, name, beginning, rest = found.groups()
        if not matches:
            own.add(process)
        if MARK in rest:
            matches.append([])
        elif process in programs:
            continue
        elif beginning == "(" and matches:
            matches[-1].append((process, name, rest))
        if process not in own and name == "execve" and rest.endswith("= 0"):
            programs.add(process)
    return matches[:-1]


class Count(NamedTuple):
    """The calls of a match, by their names.

    Attributes:
        match: all of them.
        launch: those for one bot: all but what is called from the first question to the last answer, divided by two.
    """

    match: Counter
    launch: float


def counted(match):
    """Return the count of one match."""
    named = Counter(name for _, name, _ in match)
    questions = [at for at, (_, name, rest) in enumerate(match) if name == "write" and "type\\243act" in rest]
    ends = [at for at, (_, name, rest) in enumerate(match) if name == "write" and "type\\243end" in rest]
    return Count(named, (named.total() - (ends[0] - questions[0])) / 2)


def count(level):
    """Return the count of the match that took the fewest: waits of a busy machine add some."""
    return min((counted(match) for match in calls(trace(level))), key=lambda count: count.match.total())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the calls of one match in their order")
    parser.add_argument("levels", nargs="*", default=["none", "landlock"], help=f"of {', '.join(LEVELS)}")
    arguments = parser.parse_args()
    for level in arguments.levels:
        if arguments.list:
            print(*(" ".join(call) for call in calls(trace(level))[-1]), sep="\n")
            continue
        match, launch = count(level)
        print(f"{level}: {match.total()} calls a match, {launch:g} a launch")
        print("  " + ", ".join(f"{name} {number}" for name, number in match.most_common()))


if __name__ == "__main__":
    main()
