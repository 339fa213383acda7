#!/usr/bin/env python3
"""Plusminus, played by its structure: rows and columns as two coupled lists of steps.

Prediction. A mark at the very top of the grid makes a "+" before it and a "-" after it come true, almost whatever
happens beside it, and one at the very bottom the reverse. So a list that turns at every step, "+-+-", can be served two
steps at a time, while a list that keeps rising needs marks in the middle, where neighbours may still go either way.
The bot therefore predicts the opposite of its own last sign.

Placement. Every square serves a step or two of the columns (seat 0's list) and a step or two of the rows (seat 1's).
What a step is worth while one of its ends is open is the share of the free rows (columns) that would make it come
true; with both ends open it is a half. The sum over a list is the score to be expected, and the difference of both sums
is what the search maximises: alpha-beta with a table, deeper and deeper, to the very end of the match when few marks
are left.

With ``--nodes N`` it looks at N positions per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from arena.botkit import Choice, Clock, run, until, without_pie
from arena.games import Game

WIN = 1000.0
Heights = tuple[int, ...]
Square = tuple[int, int]


class TimeUpError(Exception):
    """Raised to leave the search at once."""


def expected_score(line: Sequence[int], signs: str) -> float:
    """Return how many steps of a line may be expected to agree with the signs; 0 in the line is a free place."""
    size = len(line)
    free = [place for place in range(1, size + 1) if place not in line]
    total = 0.0
    for sign, left, right in zip(signs, line, line[1:], strict=False):
        if sign == "-":
            left, right = right, left  # the step has to rise from left to right
        if left and right:
            total += right > left
        elif left:
            total += sum(place > left for place in free) / len(free)
        elif right:
            total += sum(place < right for place in free) / len(free)
        else:
            total += 0.5
    return total


class Search:
    """Alpha-beta over grids, from the point of view of seat 0."""

    def __init__(self, signs: Sequence[str], seat: int, empty_now: int, stop_at: float, most_nodes: int) -> None:
        self.signs = signs
        self.parity = (seat + empty_now) % 2  # seat 0 acts where the number of empty columns has this parity
        self.stop_at = stop_at
        self.most_nodes = most_nodes
        self.nodes = 0
        self.table: dict[tuple[Heights, int], tuple[float, float]] = {}

    def seat(self, empty: int) -> int:
        """Return the seat that acts with so many empty columns."""
        return (self.parity + empty) % 2

    def worth(self, heights: Heights) -> float:
        """Return the lead that seat 0 may expect; at the end, winning comes first."""
        columns = [0] * len(heights)
        for x, y in enumerate(heights, 1):
            if y:
                columns[y - 1] = x
        lead = expected_score(heights, self.signs[0]) - expected_score(columns, self.signs[1])
        return lead if 0 in heights else lead + WIN * ((lead > 0) - (lead < 0))

    def children(self, heights: Heights) -> list[tuple[Square, Heights]]:
        """Return every square a mark may go on, with the grid after it."""
        rows = [y for y in range(1, len(heights) + 1) if y not in heights]
        return [
            ((x, y), (*heights[: x - 1], y, *heights[x:]))
            for x, mark in enumerate(heights, 1)
            if not mark
            for y in rows
        ]

    def value(self, heights: Heights, depth: int, alpha: float, beta: float) -> float:
        """Return the worth of a grid as far as it matters between ``alpha`` and ``beta``."""
        self.nodes += 1
        if self.nodes >= self.most_nodes or time.monotonic() > self.stop_at:
            raise TimeUpError
        empty = heights.count(0)
        if depth <= 0 or empty == 0:
            return self.worth(heights)
        key = (heights, min(depth, empty))
        low, high = self.table.get(key, (-9e9, 9e9))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        maximise = self.seat(empty) == 0
        value, first_alpha, first_beta = (-9e9 if maximise else 9e9), alpha, beta
        for _, child in self.ordered(heights, maximise) if depth > 1 else self.children(heights):
            found = self.value(child, depth - 1, alpha, beta)
            if maximise:
                value = max(value, found)
                alpha = max(alpha, value)
            else:
                value = min(value, found)
                beta = min(beta, value)
            if alpha >= beta:
                break
        low, high = (value if value > first_alpha else low), (value if value < first_beta else high)
        self.table[key] = (low, high)
        return value

    def ordered(self, heights: Heights, maximise: bool) -> list[tuple[Square, Heights]]:
        """Return the children, the most promising first, as far as the time goes."""
        worths = [(self.worth(after), (square, after)) for square, after in until(self.stop_at, self.children(heights))]
        return [child for _, child in sorted(worths, key=lambda pair: pair[0], reverse=maximise)]

    def best(self, heights: Heights) -> tuple[Square, float, int]:
        """Deepen until the time is up or the end is reached; return the square, its value and the depth."""
        empty = heights.count(0)
        maximise = self.seat(empty) == 0
        ranked = self.ordered(heights, maximise)
        best, value, depth = ranked[0][0], self.worth(ranked[0][1]), 1
        try:
            for depth in range(2, empty + 1):
                found = -9e9 if maximise else 9e9
                for square, child in list(ranked):
                    bounds = (found, 9e9) if maximise else (-9e9, found)
                    worth = self.value(child, depth - 1, *bounds)
                    if (worth > found) if maximise else (worth < found):
                        found = worth
                        best, value = square, worth
                        ranked.sort(key=lambda pair: pair[0] != best)  # the best one first, the others as they were
        except TimeUpError:
            pass
        return best, value, depth


def predict(signs: str) -> str:
    """Return the next sign of a list: the opposite of the last one."""
    return "+" if signs.endswith("-") else "-"


def choose(game: Game[Any], state: Any, clock: Clock, nodes: int | None) -> Any:
    """Return a sign or a square."""
    seat = game.seat_to_act(state)
    assert seat is not None
    if game.legal_actions(state)[0] in ("+", "-"):
        return predict(state.predictions[seat])
    empty = state.heights.count(0)
    stop_at = time.monotonic() + (3600.0 if nodes else clock.time_for_this_action(empty // 2 + 1))
    search = Search(state.predictions, seat, empty, stop_at, nodes or 1 << 62)
    square, value, depth = search.best(state.heights)
    mine = value if seat == 0 else -value
    told = round(mine, 2) if abs(mine) < WIN / 2 else "won" if mine > 0 else "lost"
    return Choice(square, {"value": told, "depth": depth, "nodes": search.nodes})


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Plusminus by its two lists")
    parser.add_argument("--nodes", type=int, help="positions to look at per action, instead of watching the clock")
    nodes = parser.parse_known_args()[0].nodes
    run(without_pie(lambda game, state, clock: choose(game, state, clock, nodes)), name="signs", version="1")


if __name__ == "__main__":
    main()
