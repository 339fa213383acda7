#!/usr/bin/env python3
"""Differences, played by its structure: two coupled lists of steps, and what they may still become.

Seat 0 counts the different steps of the heights from column to column, seat 1 those of the columns from row to row.
A mark closes or half closes up to two steps of each list at once.

While a step has an open end, each length has a chance to appear there: with one end at height h, the length d appears
if the free end lands on h + d or h - d; with both ends open, if two free places that far apart are taken. If all free
places are equally likely and the steps are taken as independent, a length is missing from the list with the product of
all chances that it does not appear. The sum over the lengths is the score to be expected; with `scoring = "once"` it is
the sum of the chances that the length appears exactly once. The bot takes the square after which its expected lead is
largest, looking as far ahead as its time allows, and when few marks are left searches to the very end.

With ``--nodes N`` it looks at N positions per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from arena.botkit import Choice, Clock, run, until, without_pie
from arena.games import Game

WIN = 1000.0
CANDIDATES = 12
"""Squares looked at further where many marks are still to come; all of them when at most EXACT_MARKS are."""
EXACT_MARKS = 7
Heights = tuple[int, ...]
Square = tuple[int, int]


class TimeUpError(Exception):
    """Raised to leave the search at once."""


def expected_score(line: Sequence[int], once: bool) -> float:
    """Return how many lengths a line may be expected to show, at all or exactly once; 0 in it is a free place."""
    size = len(line)
    free = [place for place in range(1, size + 1) if place not in line]
    is_free = [False] * (3 * size)  # padded on both sides, so that h + d and h - d need no tests
    for place in free:
        is_free[size + place] = True
    never = [1.0] * size  # the chance that no step so far has this length
    just_once = [0.0] * size
    both_open = 0
    for left, right in pairwise(line):
        if left and right:
            length = abs(left - right)
            just_once[length] = never[length]
            never[length] = 0.0
        elif left or right:
            here = size + (left or right)
            for length in range(1, size):
                hits = is_free[here + length] + is_free[here - length]
                if hits:
                    chance = hits / len(free)
                    just_once[length] = just_once[length] * (1 - chance) + never[length] * chance
                    never[length] *= 1 - chance
        else:
            both_open += 1
    for length in range(1, size) if both_open else ():
        hits = sum(is_free[size + place + length] for place in free)
        chance = 2 * hits / (len(free) * (len(free) - 1))
        stays = (1 - chance) ** both_open
        just_once[length] = just_once[length] * stays + never[length] * both_open * chance * (1 - chance) ** (
            both_open - 1
        )
        never[length] *= stays
    return sum(just_once[1:]) if once else sum(1 - chance for chance in never[1:])


class Search:
    """Alpha-beta over grids, from the point of view of seat 0."""

    def __init__(self, once: bool, stop_at: float, most_nodes: int) -> None:
        self.once = once
        self.stop_at = stop_at
        self.most_nodes = most_nodes
        self.nodes = 0
        self.worths: dict[Heights, float] = {}
        self.table: dict[tuple[Heights, int], tuple[float, float]] = {}

    def worth(self, heights: Heights) -> float:
        """Return the lead that seat 0 may expect; at the end, winning comes first."""
        known = self.worths.get(heights)
        if known is None:
            columns = [0] * len(heights)
            for x, y in enumerate(heights, 1):
                if y:
                    columns[y - 1] = x
            known = expected_score(heights, self.once) - expected_score(columns, self.once)
            if 0 not in heights:
                known += WIN * ((known > 0.5) - (known < -0.5))
            self.worths[heights] = known
        return known

    def children(self, heights: Heights, maximise: bool) -> list[tuple[Square, Heights]]:
        """Return the squares worth a look, with the grids after them, the most promising first."""
        rows = [y for y in range(1, len(heights) + 1) if y not in heights]
        children = [
            ((x, y), (*heights[: x - 1], y, *heights[x:]))
            for x, mark in enumerate(heights, 1)
            if not mark
            for y in rows
        ]
        if len(rows) > 3:
            worths = [(self.worth(child[1]), child) for child in until(self.stop_at, children)]
            children = [child for _, child in sorted(worths, key=lambda pair: pair[0], reverse=maximise)]
        return children if len(rows) <= EXACT_MARKS else children[:CANDIDATES]

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
        maximise = (len(heights) - empty) % 2 == 0
        value, first_alpha, first_beta = (-9e9 if maximise else 9e9), alpha, beta
        for _, child in self.children(heights, maximise):
            found = self.value(child, depth - 1, alpha, beta)
            if maximise:
                value = max(value, found)
                alpha = max(alpha, value)
            else:
                value = min(value, found)
                beta = min(beta, value)
            if alpha >= beta:
                break
        self.table[key] = (value if value > first_alpha else low), (value if value < first_beta else high)
        return value

    def best(self, heights: Heights) -> tuple[Square, float, int]:
        """Deepen until the time is up or the end is reached; return the square, its value and the depth."""
        empty = heights.count(0)
        maximise = (len(heights) - empty) % 2 == 0
        ranked = self.children(heights, maximise)
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


def choose(game: Game[Any], state: Any, clock: Clock, nodes: int | None) -> Any:
    """Return a square."""
    empty = state.heights.count(0)
    if empty == 1:
        return game.legal_actions(state)[0]
    stop_at = time.monotonic() + (3600.0 if nodes else clock.time_for_this_action(empty // 2 + 1))
    search = Search(game.options["scoring"] == "once", stop_at, nodes or 1 << 62)
    square, value, depth = search.best(state.heights)
    mine = value if game.seat_to_act(state) == 0 else -value
    told = round(mine, 2) if abs(mine) < WIN / 2 else "won" if mine > 0 else "lost"
    return Choice(square, {"value": told, "depth": depth, "nodes": search.nodes})


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Differences by what its lists may still become")
    parser.add_argument("--nodes", type=int, help="positions to look at per action, instead of watching the clock")
    nodes = parser.parse_known_args()[0].nodes
    run(without_pie(lambda game, state, clock: choose(game, state, clock, nodes)), name="stepper", version="1")


if __name__ == "__main__":
    main()
