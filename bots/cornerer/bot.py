#!/usr/bin/env python3
"""Multiplication, played by its structure: the marks are worth what the numbering makes of them.

Numbering. Where the path stands and which marks have their number is all that matters: 2^8 sets times 9 marks on the
usual board. So the best play is computed exactly, from the last jump back to the first: our seat takes the jump that
leaves it furthest ahead, the others the one that hurts it most (for two seats that is the true value). The same sums
are made for every board, so they are made for hundreds of boards at once, as numpy arrays.

Marking. With m marks missing there are m! ways to finish the board (7 marks: 5,040). If there is time for all, each is
numbered, and put into an array with an axis for each free column, as long as there are free rows. To place a mark is to
choose an axis and an index on it; so the best play is the largest, or smallest, number along the best axis, one mark
after the other. While more are missing, the bot tries squares: on each it finishes the board at random until so few
marks are missing that the rest can be played exactly, and takes the square with the best average.

Boards too large for exact numbers are numbered by taking the largest jump.

With ``--finishes N`` it looks at about N finished boards per action instead of watching the clock; it is then
deterministic.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from itertools import combinations, permutations
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a match has one core; numpy's own threads would only wait for each other

import numpy as np

from arena.botkit import Choice, Clock, run, without_pie
from arena.games import Game

Array = Any
"""A numpy array of whole numbers."""

EXACT_MARKS = 12
"""With more marks without a number, the largest jump is taken."""
EXACT_MISSING, SAMPLED_MISSING = 7, 4
"""So many marks that are missing are placed exactly: from now on, and at the end of a random finish."""
CHUNK, SETS_IN_CHUNK = 512, 2**18
"""Boards that are numbered at once: so many that numpy is busy, so few that the clock is looked at."""
STEP_SECONDS = 1e-5
"""What it may take to look at one jump from each mark, for a chunk of boards, on a slow machine."""
CANDIDATES = 100
MOST_ROUNDS = 64
PRIZE = 30
"""What it is worth to be ahead at all, in an average."""
IMPOSSIBLE = 10**8

Square = tuple[int, int]


class TimeUpError(Exception):
    """Raised to leave the search at once."""


def exact_leads(jumps: Array, weights: list[int]) -> Array:
    """Return what the best numbering from mark 0 brings, for each next mark (from 1) and each board.

    Args:
        jumps: the points for a jump from one mark to another, for each board.
        weights: what a point is worth to us in each jump that is left; more than 0 if the jump is ours.
    """
    marks, boards = jumps.shape[1:]
    weighted = {weight: weight * jumps for weight in set(weights)}
    after = {2 ** (marks - 1) - 1: np.zeros((marks, boards), jumps.dtype)}  # by set of numbered marks: by last mark
    trial = np.empty((marks, boards), jumps.dtype)
    for numbered in range(2 ** (marks - 1) - 2, 0, -1):
        weight = weights[numbered.bit_count()]
        better = np.maximum if weight > 0 else np.minimum
        best = np.full((marks, boards), -IMPOSSIBLE if weight > 0 else IMPOSSIBLE, jumps.dtype)
        for mark in range(1, marks):
            bit = 1 << mark - 1
            if not numbered & bit:
                np.add(weighted[weight][mark], after[numbered | bit][mark], out=trial)
                better(best, trial, out=best)
        after[numbered] = best
    return np.stack([weighted[weights[0]][0, mark] + after[1 << mark - 1][mark] for mark in range(1, marks)])


def greedy_leads(jumps: Array, weights: list[int], first: Array) -> Array:
    """Return what it brings to go on from mark 0 to a first one, given for each board, and then by the largest jump."""
    marks, boards = jumps.shape[1:]
    board = np.arange(boards)
    here, lead = first, weights[0] * jumps[0, first, board]
    is_free = np.ones((boards, marks), bool)
    is_free[:, 0] = False
    for weight in weights[1:]:
        is_free[board, here] = False
        there = np.where(is_free, jumps[here, :, board], -1).argmax(axis=1)
        lead = lead + weight * jumps[here, there, board]
        here = there
    return lead


def jumps_between(columns: Array, rows: Array) -> Array:
    """Return the points for a jump from one mark to another, for each board.

    Args:
        columns: of each mark, the same on every board.
        rows: of each mark on each board.
    """
    widths = abs(columns[:, None] - columns[None, :])
    return (widths[:, :, None] * abs(rows.T[:, None] - rows.T[None, :])).astype(np.int32)


def best_marks(leads: Array, missing: int, ours: list[bool]) -> Array:
    """Return our lead after each next mark, by board, column and row, if all marks are placed as well as can be.

    Args:
        leads: for each board (with ``missing`` free columns and rows), our lead after each way to finish it, in the
            order of ``permutations``.
        missing: how many marks are missing.
        ours: for each of them, whether we place it.
    """
    worst = -IMPOSSIBLE if ours[-1] else IMPOSSIBLE  # for two marks in a row: nobody takes that
    table = np.full((len(leads), *[missing] * missing), worst, leads.dtype)
    table[(slice(None), *np.array(list(permutations(range(missing)))).T)] = leads
    tables = {tuple(range(missing)): table}  # by columns with marks: an axis for each, and on it the mark's row
    for placed in range(missing - 1, 0, -1):
        better = np.maximum if ours[placed] else np.minimum
        fewer = {}
        for filled in combinations(range(missing), placed):
            wider = [tuple(sorted((*filled, column))) for column in range(missing) if column not in filled]
            axes = [next(axis for axis, column in enumerate(more, 1) if column not in filled) for more in wider]
            along = [better.reduce(tables[more], axis=axis) for more, axis in zip(wider, axes, strict=True)]
            best = better.reduce(along)
            if ours[placed - 1] != ours[placed]:
                best[best == worst] = -worst
            fewer[filled] = best
        tables, worst = fewer, -IMPOSSIBLE if ours[placed - 1] else IMPOSSIBLE
    return np.stack([tables[column,] for column in range(missing)], axis=1)


class Search:
    """The search for one action."""

    def __init__(self, game: Game[Any], seat: int, seconds: float, most_boards: int) -> None:
        self.size = game.options["size"]
        self.players, self.seat = game.players, seat
        starter = game.options.get("second_starts", 0)
        self.weights = [game.players - 1 if self.is_ours(jump + starter) else -1 for jump in range(self.size - 1)]
        self.started, self.seconds = time.monotonic(), seconds
        self.most_boards = most_boards
        self.boards = 0
        self.chunk = min(CHUNK, SETS_IN_CHUNK >> self.size - 1) if self.is_exact(self.size - 1) else CHUNK
        self.chunk_seconds = 0.0

    def is_ours(self, action: int) -> bool:
        """Return whether the action is ours, in either part of the match."""
        return action % self.players == self.seat

    def is_exact(self, marks: int) -> bool:
        """Return whether there is time to number so many marks exactly."""
        return marks <= EXACT_MARKS and 2**marks * marks * STEP_SECONDS < self.seconds

    def square(self, board: list[int], columns: list[int], rows: list[int]) -> tuple[Square, float]:
        """Return the square for the next mark, as column and row from 0, and our lead after it."""
        ways = math.factorial(len(columns))
        if len(columns) <= EXACT_MISSING and ways <= self.most_boards:
            self.numbered(np.tile(np.arange(self.size), (self.chunk, 1)))  # how long does it take?
            left = self.seconds - (time.monotonic() - self.started)
            if self.chunk_seconds * (ways / self.chunk) < left / 2:
                self.boards = 0
                try:
                    return self.exact_square(board, columns, rows)
                except TimeUpError:
                    pass
        self.boards = 0
        return self.sampled_square(board, columns, rows)

    def next_marks(self, columns: list[int], rows: list[int], made: int) -> Array:
        """Return our lead after each jump from the first mark to another one.

        Args:
            columns: of the mark with the highest number, and of those without a number.
            rows: the same.
            made: how many jumps have been made.
        """
        jumps = jumps_between(np.array(columns), np.array([rows]))
        if self.is_exact(len(columns) - 1):
            return exact_leads(jumps, self.weights[made:])[:, 0]
        each = np.arange(1, len(columns))
        return greedy_leads(jumps.repeat(len(each), axis=2), self.weights[made:], each)

    def numbered(self, boards: Array) -> Array:
        """Return our lead after the best numbering of each board, given by the rows of its marks."""
        found = []
        for start in range(0, len(boards), self.chunk):
            before = time.monotonic()
            is_late = self.boards >= self.most_boards or before - self.started + self.chunk_seconds >= self.seconds
            if self.boards and is_late:
                raise TimeUpError
            jumps = jumps_between(np.arange(self.size), boards[start : start + self.chunk])
            if self.is_exact(self.size - 1):
                by_first = exact_leads(jumps, self.weights)
                found.append(by_first.max(axis=0) if self.weights[0] > 0 else by_first.min(axis=0))
            else:
                found.append(greedy_leads(jumps, self.weights, jumps[0].argmax(axis=0)))
            self.boards += jumps.shape[2]
            self.chunk_seconds = time.monotonic() - before
        return np.concatenate(found)

    def placed(self, boards: list[Any], columns: list[list[int]], rows: list[list[int]]) -> Array:
        """Return our lead after each next mark on boards with free columns and rows, as many on each."""
        missing = len(columns[0])
        orders = np.array(list(permutations(range(missing))))
        finished = np.repeat(np.array(boards), len(orders), axis=0).reshape(len(boards), len(orders), self.size)
        for board, (free_columns, free_rows) in enumerate(zip(columns, rows, strict=True)):
            finished[board][:, free_columns] = np.array(free_rows)[orders]
        leads = self.numbered(finished.reshape(-1, self.size)).reshape(len(boards), len(orders))
        ours = [self.is_ours(self.size - missing + mark) for mark in range(missing)]
        return best_marks(leads, missing, ours)

    def exact_square(self, board: list[int], columns: list[int], rows: list[int]) -> tuple[Square, float]:
        """Return the best square, as columns and rows from 0, and our lead after it."""
        leads = self.placed([board], [columns], [rows])[0]
        column, row = divmod(int(leads.argmax()), len(rows))
        return (columns[column], rows[row]), int(leads[column, row])

    def tried(self, board: list[int], columns: list[int], rows: list[int], square: Square) -> tuple[Any, ...]:
        """Return a board with a mark, finished in the order of columns and rows but for the last few, and these."""
        x, y = square
        others = [column for column in columns if column != x]
        levels = [row for row in rows if row != y]
        filled = list(board)
        filled[x] = y
        left = min(SAMPLED_MISSING, len(others))
        for column, row in zip(others[left:], levels[left:], strict=True):
            filled[column] = row
        return filled, others[:left], levels[:left]

    def sampled_square(self, board: list[int], columns: list[int], rows: list[int]) -> tuple[Square, float]:
        """Try squares with random marks, the same ones for each; return the one with the best average."""
        squares = [(x, y) for x in columns for y in rows]
        candidates = random.sample(squares, min(CANDIDATES, len(squares)))
        totals = dict.fromkeys(candidates, 0.0)
        rounds = 0
        most_rounds = MOST_ROUNDS if len(columns) - 1 > SAMPLED_MISSING else 1  # else nothing is random
        better = np.maximum if self.is_ours(self.size - min(SAMPLED_MISSING, len(columns) - 1)) else np.minimum
        try:
            while rounds < most_rounds:
                random.shuffle(columns)
                random.shuffle(rows)
                tries = [self.tried(board, columns, rows, square) for square in candidates]
                boards, free_columns, free_rows = (list(part) for part in zip(*tries, strict=True))
                leads = better.reduce(self.placed(boards, free_columns, free_rows), axis=(1, 2))
                rounds += 1
                for square, lead in zip(candidates, leads.tolist(), strict=True):
                    totals[square] += lead + PRIZE * ((lead > 0) - (lead < 0))
                if rounds % 4 == 0 and len(candidates) > 3:
                    candidates = sorted(candidates, key=lambda square: -totals[square])[: (len(candidates) + 1) // 2]
        except TimeUpError:
            pass
        best = max(candidates, key=lambda square: totals[square])
        return best, round(totals[best] / max(1, rounds), 1)


def choose(game: Game[Any], state: Any, clock: Clock, boards: int | None) -> Any:
    """Return the square of a new mark, or of the mark that gets the next number."""
    actions = game.legal_actions(state)
    if len(actions) == 1:
        return actions[0]
    seat = game.seat_to_act(state)
    assert seat is not None
    seconds = 3600.0 if boards else clock.time_for_this_action(game.options["size"])
    search = Search(game, seat, seconds, boards or 1 << 62)
    if state.numbered:
        marks = [state.numbered[-1], *(x for x, _ in actions)]
        leads = search.next_marks(marks, [state.heights[x - 1] for x in marks], len(state.numbered) - 1)
        return Choice(actions[int(leads.argmax())], {"lead to come": int(leads.max())})
    board = [height - 1 for height in state.heights]
    columns = [column for column, row in enumerate(board) if row < 0]
    rows = [row for row in range(len(board)) if row not in board]
    square, lead = search.square(board, columns, rows)
    return Choice((square[0] + 1, square[1] + 1), {"lead": lead, "boards": search.boards})


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Multiplication, numbered exactly")
    parser.add_argument("--finishes", type=int, help="boards to finish per action, instead of watching the clock")
    finishes = parser.parse_known_args()[0].finishes
    run(without_pie(lambda game, state, clock: choose(game, state, clock, finishes)), name="cornerer", version="2")


if __name__ == "__main__":
    main()
