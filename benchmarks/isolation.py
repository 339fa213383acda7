"""What isolation costs: starting, a turn, ending; each level beside a bare Popen, taken in turn, medians.

And how much work between turns each rule lets through.
"""

import os
import statistics
import subprocess
import sys
import time

from arena.base.enums import IsolationLevel
from arena.base.records import DEFAULT_LIMITS, MatchSpec, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation, probe_level
from arena.sandbox.isolation.sandbox_policy import Isolation
from benchmarks import zoo_bots as zoo
from benchmarks.common import instant_bot, machine

RUNS = 60
TURNS = 3000
HELLO, QUIT = encode_frame({"type": "hello"}), encode_frame({"type": "quit"})


def timed(action):
    started = time.perf_counter()
    result = action()
    return (time.perf_counter() - started) * 1e3, result


def bare():
    """Return the milliseconds from Popen to the first answer, and from quit to reaped."""

    def start():
        process = subprocess.Popen(instant_bot().command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        process.stdin.write(HELLO)
        process.stdout.read(4)
        return process

    def end(process):
        process.stdin.write(QUIT)
        process.wait()
        process.stdin.close()
        process.stdout.close()

    started, process = timed(start)
    ended, _ = timed(lambda: end(process))
    return started, ended


def by_the_arena(isolation):
    def start():
        process = BotConnection(instant_bot(), isolation, DEFAULT_LIMITS)
        process.ask(HELLO, 5.0)
        return process

    started, process = timed(start)
    ended, _ = timed(lambda: process.end(QUIT, 1.0))
    return started, ended


def killed(isolation):
    """Return the milliseconds to end a bot that spins and has left a daemon."""
    process = BotConnection(load_bot(zoo.bad_bot("leaves_a_daemon")), isolation, DEFAULT_LIMITS)
    process.ask(HELLO, 5.0)
    process.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 5.0)
    taken, _ = timed(process.end)
    return taken


def turn_us(isolation, freeze=False):
    process = BotConnection(instant_bot(), isolation, DEFAULT_LIMITS)
    taken = []
    for _ in range(TURNS):
        started = time.perf_counter()
        process.ask(HELLO, 5.0)
        if freeze:
            process.off_turn.freeze()
        taken.append((time.perf_counter() - started) * 1e6)
    process.end()
    return statistics.median(taken)


def levels():
    for level in IsolationLevel:
        if probe_level(level).is_available:
            yield Isolation(level=level)
            if probe_level(level).isolation.user_namespace:
                yield Isolation(level=level, user_namespace=True)
            if probe_level(level).isolation.groups:
                yield Isolation(level=level, groups=True)


def python_start_ms():
    taken, _ = timed(lambda: subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True))
    return taken


def show_costs():
    found = list(levels())
    open_launcher()
    figures = {isolation: ([], [], [], []) for isolation in found}
    popen, small_python = ([], []), []
    for run in range(RUNS):
        for kept, value in zip(popen, bare(), strict=True):
            kept.append(value)
        small_python.append(python_start_ms())
        for isolation, (starts, ends, turns, kills) in figures.items():
            started, ended = by_the_arena(isolation)
            starts.append(started)
            ends.append(ended)
            if run % 12 == 0:
                turns.append(turn_us(isolation))
                kills.append(killed(isolation))
    median = statistics.median
    print("\n| | start, ms | more than Popen | end, ms | a turn, µs | end with a daemon, ms |\n" + "| --- " * 6 + "|")
    print(f"| bare Popen | {median(popen[0]):.2f} | | {median(popen[1]):.2f} | | |")
    for isolation, (starts, ends, turns, kills) in figures.items():
        more = median(starts) - median(popen[0])
        cells = (median(starts), more, median(ends), median(turns), median(kills))
        name = isolation.label + (" in a user namespace" if isolation.user_namespace else "")
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in cells)} |")
    print(f"\na second small Python (python -I -S -c pass): {median(small_python):.2f} ms")


def show_off_turn():
    print(
        "\n| off_turn | a turn, µs | off-turn CPU of a busy bot | of a bot with a busy child |\n" + "| --- " * 4 + "|"
    )
    isolation = choose_isolation("auto")
    for rule in ("run", "auto", "freeze"):
        cost = statistics.median(turn_us(isolation, freeze=rule == "freeze") for _ in range(5))
        shares = [busy_share(name, rule) for name in ("thinks_off_turn", "children_think_off_turn")]
        print(f"| {rule} | {cost:.1f} | {' | '.join(f'{100 * share:.0f} %' for share in shares)} |")


def busy_share(name, rule):
    """Return off-turn CPU time per second of the other's thinking, over four matches."""
    bots = (load_bot(zoo.bad_bot(name)), load_bot(zoo.bad_bot("slow_but_good")))
    off = thinking = 0.0
    with BotPool(choose_isolation("auto")) as pool:
        for match in range(4):
            control = TimeControl(per_action_seconds=20.0, off_turn=rule)
            record = pool.play(
                MatchSpec(
                    match=match,
                    tournament="",
                    game="differences",
                    options={"size": 4},
                    bots=bots,
                    rng_seed=1,
                    time_control=control,
                )
            )
            off += record.seats[0].off_turn_cpu_seconds
            thinking += record.seats[1].wall_seconds
    return off / thinking


def main():
    print(machine())
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    show_costs()
    show_off_turn()


if __name__ == "__main__":
    main()
