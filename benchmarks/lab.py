"""Games solved by their kernels: what the first state is worth, and the processor time and memory that it takes.

Then what the actions of the oracle bot take, with the table that its first one makes; and what it takes to find what
each of three and more seats gets, by kernels and, on smaller boards, by tables of the rules. ``--large`` adds the
boards that take minutes, ``--shares`` is the last part alone.
"""

import argparse
import importlib.util
import os
import random
import tempfile
import time
from pathlib import Path

from arena.base.shipped import CACHE_VARIABLE
from arena.base.text import short_size_text
from arena.botkit import Choice, Clock
from arena.games import make_game
from arena.games.kernels.loading import load, solver_of
from arena.games.kernels.solver import parts_of
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits
from arena.lab.solving.worth import By
from benchmarks.common import machine

BOARDS = [
    ("differences", [{"size": 10}], 30),
    ("plusminus", [{"size": 8}], 10),
    ("plusminus", [{"size": 8, "grid_first": 2}], 10),
    ("multiplication", [{"size": 9}], 15),
    ("coprimality", [{"size": size} for size in range(3, 41)], 1),
    ("plaid", [{"width": 12, "height": 12, "lines": 12}], 2),
    ("plaid", [{"width": 14, "height": 14, "lines": 12}], 15),
]
LARGE = [
    ("plusminus", [{"size": 9}], 300),
    ("multiplication", [{"size": 11}], 2 * 45 * 60),
]
"""Of each row: the game, the options of its boards, and the goal for all of them together in seconds of one core."""

PLAYED = [
    ("plusminus", {"size": 8}, 0),
    ("plusminus", {"size": 8, "grid_first": 2}, 0),
    ("coprimality", {"size": 12}, 0),
    ("differences", {"size": 8}, 0),
    ("differences", {"size": 9}, 0),
    ("multiplication", {"size": 7}, 0),
    ("multiplication", {"size": 9}, 0),
    ("plaid", {"width": 8, "height": 8, "lines": 6}, 0),
    ("plaid", {"width": 12, "height": 12, "lines": 12}, 0),
    ("plaid", {"width": 60, "height": 60, "lines": 12}, 9),
]
"""Of each row: the game, its options, and after how many random actions the bot begins to play."""

SHARED = [
    ("coprimality", [{"players": 3, "size": 6}], True),
    ("coprimality", [{"players": 4, "size": 6}], True),
    ("coprimality", [{"players": 3, "size": size} for size in range(3, 101)], False),
    ("coprimality", [{"players": 4, "size": size} for size in range(3, 101)], False),
    ("coprimality", [{"players": 12, "size": 12}], False),
    ("plaid", [{"players": 3, "width": 9, "height": 8, "lines": 7}], True),
    ("plaid", [{"players": 3, "width": 12, "height": 12, "lines": 12}], False),
    ("plaid", [{"players": 8, "width": 12, "height": 12, "lines": 12}], False),
    ("plaid", [{"players": 3, "width": 14, "height": 12, "lines": 12}], False),
]
"""Of each row: the game, the options of its boards, and whether a table by the rules is made, too."""

MATCHES = 20
GOALS = "10 s, 10 ms"

OUTCOMES = {1: "win", 0: "draw", -1: "loss"}


def measure(name, boards):
    """Return what is found of the last board, and totals: states, edges, seconds; and the most memory."""
    states = edges = memory_bytes = 0
    started = time.process_time()
    for options in boards:
        game = make_game(name, **options)
        kernel = solver_of(game)
        found = kernel.solve()
        states, edges = states + found.states, edges + found.edges
        memory_bytes = max(memory_bytes, kernel.needs().memory_bytes)
    seconds = time.process_time() - started
    worth = f"{OUTCOMES[found.outcome]}, {found.margin / parts_of(game):g}"
    return worth, states, edges, seconds, memory_bytes


def board_text(boards):
    first, last = boards[0], boards[-1]
    ranges = {name: value if value == last[name] else f"{value}..{last[name]}" for name, value in first.items()}
    return ", ".join(f"{name} = {value}" for name, value in ranges.items())


def oracle_bot():
    path = Path(__file__).parents[1] / "bots/oracle/bot.py"
    spec = importlib.util.spec_from_file_location("oracle_bot", path)
    bot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bot)
    return bot


def action_seconds(bot, game, plies):
    """Return the processor time of each action of matches of the bot against random actions, in the order of play."""
    draw, seconds = random.Random(1), []
    for number in range(MATCHES):
        state, ply = game.initial_state(), 0
        while (seat := game.seat_to_act(state)) is not None:
            if ply < plies or seat == number % 2:
                action = draw.choice(list(game.legal_actions(state)))
            else:
                started = time.process_time()
                chosen = bot.choose(game, state, Clock(60.0, None, time.monotonic()))
                seconds.append(time.process_time() - started)
                action = chosen.action if isinstance(chosen, Choice) else chosen
            state, ply = game.apply(state, action), ply + 1
    return seconds


def print_actions():
    bot = oracle_bot()
    print("\n| game | options | from ply | first action | then the median | 99 % | longest | goals |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name, options, plies in PLAYED:
        load(name)
        first, *others = action_seconds(bot, make_game(name, **options), plies)
        others.sort()
        percentile = others[len(others) * 99 // 100]
        times = f"{first:.2f} s | {others[len(others) // 2] * 1e3:.2f} ms | {percentile * 1e3:.2f} ms"
        longest = f"{others[-1] * 1e3:.1f} ms"
        print(f"| {name} | {board_text([options])} | {plies} | {times} | {longest} | {GOALS} |", flush=True)


def measure_shares(name, boards, by):
    """Return the totals of solving boards for three and more: states, edges, seconds; and the most memory."""
    states = edges = memory_bytes = 0
    started = time.process_time()
    for options in boards:
        found = Solver(make_game(name, **options), name, Limits()).solve(by)
        states, edges = states + found.states, edges + found.edges
        memory_bytes = max(memory_bytes, found.memory_bytes)
    return states, edges, time.process_time() - started, memory_bytes


def print_shares():
    print("\n| game | options | states | edges | edges/s | processor time | by a table of the rules | memory |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name, boards, has_table in SHARED:
        load(name)
        states, edges, seconds, memory_bytes = measure_shares(name, boards, By.KERNEL)
        table = "–"
        if has_table:
            of_table = measure_shares(name, boards, By.TABLE)[2]
            table = f"{of_table:.2f} s, {of_table / seconds:,.0f} times as long"
        print(
            f"| {name} | {board_text(boards)} | {states:,} | {edges:,} | {edges / seconds:.2g} | {seconds:.4f} s"
            f" | {table} | {short_size_text(memory_bytes)} |",
            flush=True,
        )


def print_solved(boards_of):
    print("| game | options | worth to seat 0 | states | edges | edges/s | processor time | goal | memory |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name, boards, goal in boards_of:
        load(name)  # built before it is measured
        worth, states, edges, seconds, memory_bytes = measure(name, boards)
        shown = worth if len(boards) == 1 else "–"
        print(
            f"| {name} | {board_text(boards)} | {shown} | {states:,} | {edges:,} | {edges / seconds:.2g}"
            f" | {seconds:.2f} s | {goal:,} s | {short_size_text(memory_bytes)} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="add the boards that take minutes")
    parser.add_argument("--shares", action="store_true", help="only what three and more seats get")
    arguments = parser.parse_args()
    boards_of = BOARDS + (LARGE if arguments.large else [])
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as empty:  # no table that was saved
        os.environ[CACHE_VARIABLE] = empty
        if not arguments.shares:
            print_solved(boards_of)
            print_actions()
        print_shares()


if __name__ == "__main__":
    main()
