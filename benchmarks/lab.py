"""Games solved by their kernels: what the first state is worth, and the processor time and memory that it takes.

``--large`` adds the boards that take minutes.
"""

import argparse
import time

from arena.games import make_game
from arena.lab.kernels.loading import load, solver_of
from arena.lab.kernels.solver import parts_of
from arena.text import short_size_text
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
    first, last = ([f"{name} = {value}" for name, value in options.items()] for options in (boards[0], boards[-1]))
    return ", ".join(first) if len(boards) == 1 else f"{first[0]}..{boards[-1][last[0].split()[0]]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="add the boards that take minutes")
    boards_of = BOARDS + (LARGE if parser.parse_args().large else [])
    print(f"{machine()}\n")
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


if __name__ == "__main__":
    main()
