#!/usr/bin/env python3
"""Multiplication, played by its structure: the marks are worth what the numbering makes of them.

Numbering. Where the path stands and which marks have their number is all that matters: 2^9 sets times 9 marks on the
usual board. So the best play for all seats is computed exactly, from the last jump back to the first, each seat taking
the jump that leaves it furthest ahead (for two seats that is the true value; with more, every seat is taken to care for
its own lead only). Far corners are where the large jumps lead, and the exact values know who gets there first.

Marking. With few marks missing there are only so many permutations left (4 marks: 24), so every way to finish is
followed to the exact value of its numbering. Before that the bot tries each square with some random finishes, the same
ones for every square, and takes the one with the best average.

Boards too large for exact values are numbered a few jumps deep.

With ``--finishes N`` it looks at N finished boards per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

from arena.botkit import Choice, Clock, run
from arena.games import Game

EXACT_MARKS = 10
"""Boards with at most so many marks without a number are solved to the end."""
JUMP_SEQUENCES = 20_000
"""Of a larger board as many jumps are looked ahead as there are no more sequences than this."""
SEARCHED_MARKS = 4
CANDIDATES = 20
MOST_ROUNDS = 100
"""Near the end all finishes are known before the time is up, and more rounds would tell nothing new."""

Heights = tuple[int, ...]
Square = tuple[int, int]
Scores = tuple[int, ...]


class TimeUpError(Exception):
    """Raised to leave the search at once."""


class Numbering:
    """The best numbering of one permutation."""

    def __init__(self, heights: Heights, players: int) -> None:
        marks = list(enumerate(heights))
        self.jumps = [[abs(a - b) * abs(y - z) for b, z in marks] for a, y in marks]
        self.players = players
        self.known: dict[tuple[int, int, int], Scores] = {}
        self.size = len(heights)

    def scores(self, here: int, numbered: int, made: int, depth: int) -> Scores:
        """Return what each seat will still score.

        Args:
            here: the mark (from 0) with the highest number.
            numbered: the set of numbered marks, one bit each.
            made: how many jumps have been made.
            depth: how many jumps to look ahead.
        """
        if depth == 0 or made == self.size - 1:
            return (0,) * self.players
        key = (numbered, here, depth)
        if key in self.known:
            return self.known[key]
        seat = made % self.players
        best: Scores = ()
        best_lead = -(10**9)
        jumps = self.jumps[here]
        for mark in range(self.size):
            if not numbered >> mark & 1:
                after = self.scores(mark, numbered | 1 << mark, made + 1, depth - 1)
                mine = after[seat] + jumps[mark]
                ahead = mine - max(after[:seat] + after[seat + 1 :])
                if ahead > best_lead:
                    best_lead = ahead
                    best = (*after[:seat], mine, *after[seat + 1 :])
        self.known[key] = best
        return best

    def best_mark(self, numbered: tuple[int, ...]) -> tuple[int, Scores]:
        """Return the mark to number next, given the marks numbered so far, and what each seat will still score."""
        left = self.size - len(numbered)
        depth = jumps_ahead(left)
        made, bits, here = len(numbered) - 1, sum(1 << mark for mark in numbered), numbered[-1]
        total = self.scores(here, bits, made, depth)
        seat = made % self.players
        for mark in range(self.size):
            if not bits >> mark & 1:
                after = self.scores(mark, bits | 1 << mark, made + 1, depth - 1)
                if (*after[:seat], after[seat] + self.jumps[here][mark], *after[seat + 1 :]) == total:
                    return mark, total
        raise AssertionError("one of the marks has the best value")


def jumps_ahead(left: int) -> int:
    """Return how many jumps to look ahead with so many marks without a number."""
    if left <= EXACT_MARKS:
        return left
    depth, sequences = 1, left
    while sequences * (left - depth) <= JUMP_SEQUENCES:
        sequences *= left - depth
        depth += 1
    return depth


class Marking:
    """The search for the square of the next mark."""

    def __init__(self, game: Game[Any], seat: int, stop_at: float, most_finishes: int) -> None:
        self.players, self.seat = game.players, seat
        self.stop_at, self.most_finishes = stop_at, most_finishes
        self.finishes = 0
        self.known: dict[Heights, Scores] = {}

    def finished(self, heights: Heights) -> Scores:
        """Return the scores of the best numbering of a full board."""
        if heights not in self.known:
            self.finishes += 1
            if self.finishes > self.most_finishes or time.monotonic() > self.stop_at:
                raise TimeUpError
            size = len(heights)
            self.known[heights] = Numbering(heights, self.players).scores(0, 1, 0, jumps_ahead(size - 1))
        return self.known[heights]

    def lead(self, scores: Scores, seat: int) -> float:
        """Return how far a seat is ahead, with a prize for being ahead at all."""
        ahead = scores[seat] - max(score for other, score in enumerate(scores) if other != seat)
        return ahead + 30 * ((ahead > 0) - (ahead < 0))

    def best_scores(self, heights: Heights, seat: int) -> Scores:
        """Return the scores when every seat sets its marks as well as can be."""
        if 0 not in heights:
            return self.finished(heights)
        after = (seat + 1) % self.players
        found = (self.best_scores(with_mark(heights, square), after) for square in free_squares(heights))
        return max(found, key=lambda scores: self.lead(scores, seat))

    def searched(self, heights: Heights) -> tuple[Square, float]:
        """Follow every way to finish."""
        best, value = free_squares(heights)[0], -9e9
        try:
            for square in free_squares(heights):
                after = self.best_scores(with_mark(heights, square), (self.seat + 1) % self.players)
                if self.lead(after, self.seat) > value:
                    best, value = square, self.lead(after, self.seat)
        except TimeUpError:
            pass
        return best, value

    def sampled(self, heights: Heights) -> tuple[Square, float]:
        """Try squares with random finishes and return the one with the best average."""
        squares = free_squares(heights)
        candidates = random.sample(squares, min(CANDIDATES, len(squares)))
        totals = dict.fromkeys(candidates, 0.0)
        rounds = 0
        try:
            while rounds < MOST_ROUNDS and time.monotonic() < self.stop_at:
                order = [random.random() for _ in heights]
                found = {}
                for square in candidates:
                    board = with_mark(heights, square)
                    columns = [x for x, mark in enumerate(board) if not mark]
                    rows = sorted((y for y in range(1, len(board) + 1) if y not in board), key=lambda y: order[y - 1])
                    filled = list(board)
                    for x, y in zip(columns, rows, strict=True):
                        filled[x] = y
                    found[square] = self.lead(self.finished(tuple(filled)), self.seat)
                rounds += 1
                for square, lead in found.items():
                    totals[square] += lead
                if rounds % 4 == 0 and len(candidates) > 3:
                    candidates = sorted(candidates, key=lambda square: -totals[square])[: (len(candidates) + 1) // 2]
        except TimeUpError:
            pass
        best = max(candidates, key=lambda square: totals[square])
        return best, totals[best] / max(1, rounds)


def free_squares(heights: Heights) -> list[Square]:
    """Return the squares a mark may go on."""
    rows = [y for y in range(1, len(heights) + 1) if y not in heights]
    return [(x, y) for x, mark in enumerate(heights, 1) if not mark for y in rows]


def with_mark(heights: Heights, square: Square) -> Heights:
    """Return the board with one more mark."""
    x, y = square
    return (*heights[: x - 1], y, *heights[x:])


def choose(game: Game[Any], state: Any, clock: Clock, finishes: int | None) -> Any:
    """Return the square of a new mark, or of the mark that gets the next number."""
    actions = game.legal_actions(state)
    if len(actions) == 1:
        return actions[0]
    seat = game.seat_to_act(state)
    assert seat is not None
    if state.numbered:
        numbered = tuple(column - 1 for column in state.numbered)
        mark, scores = Numbering(state.heights, game.players).best_mark(numbered)
        so_far = game.scores(state)
        return Choice((mark + 1, state.heights[mark]), {"final": [a + b for a, b in zip(so_far, scores, strict=True)]})
    missing = state.heights.count(0)
    stop_at = time.monotonic() + (3600.0 if finishes else clock.time_for_this_action(game.options["size"]))
    marking = Marking(game, seat, stop_at, finishes or 1 << 62)
    square, value = marking.searched(state.heights) if missing <= SEARCHED_MARKS else marking.sampled(state.heights)
    return Choice(square, {"value": round(value, 1), "boards": marking.finishes})


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Multiplication, numbered exactly")
    parser.add_argument("--finishes", type=int, help="boards to finish per action, instead of watching the clock")
    finishes = parser.parse_known_args()[0].finishes
    run(lambda game, state, clock: choose(game, state, clock, finishes), name="cornerer", version="1")


if __name__ == "__main__":
    main()
