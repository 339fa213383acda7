#!/usr/bin/env python3
"""Plaid, played by its structure: which rectangles a line feeds, all lines at once, and who draws the last one.

Two things make this game different from how it looks. With v upright lines the rectangles are numbered in rows of
v + 1, so one more upright line turns stripes into a chequerboard and back (for two players), and hands most rectangles
to somebody else: until the last line is drawn, the score says next to nothing. And the last line, which decides whose
pattern stands, is chosen with full sight. So:

- The score after *every* possible line is computed in one go. The columns left of a new upright line keep their
  owners, those right of it move on by one, and within a row only sums over columns are needed: running sums of a table
  of diagonals, as numpy arrays.
- A line right beside another one changes next to nothing but the numbering, one in mid-strip changes sizes as well:
  these are the lines that differ in kind. A few lines before the end the bot tries all of those, to the end of the
  match, for one that wins whatever the others do; the last line is always chosen among all.
- Before that it grows a tree with playouts (UCT), in which every seat takes the best of a few random lines, and the
  best of all at the end.

With ``--sheets N`` it looks at N sheets per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a match has one core; numpy's own threads would only wait for each other

import numpy as np

from arena.botkit import Choice, Clock, run
from arena.games import Game

MARGIN = 1e-9
"""Leads are sums of floats: what is smaller is a tie."""
SAMPLING_SHARE = 0.4
EXPLORATION = 0.6
SAMPLE = 8
SEARCHED_LINES = 5
"""So many lines before the end the sampling ends and the search begins."""

Lines = tuple[int, ...]
Line = tuple[str, int]


class TimeUpError(Exception):
    """Raised to leave the search at once."""


class Sheet:
    """The sheet's sizes, the table of diagonals, and the leads after every line."""

    def __init__(self, game: Game[Any], seat: int) -> None:
        self.width, self.height = game.options["width"], game.options["height"]
        self.players, self.lines, self.seat = game.players, game.options["lines"], seat
        widths, heights = np.arange(self.width + 1.0)[:, None], np.arange(self.height + 1.0)[None, :]
        self.diagonals = np.sqrt(widths**2 + heights**2)
        self.weights = np.full(self.players, -1.0 / (self.players - 1))  # ours counts for us, all others against us
        self.weights[seat] = 1.0

    def is_over(self, vertical: int, horizontal: int) -> bool:
        """Tell whether the match ends with so many lines."""
        return vertical + horizontal >= self.lines and (vertical + 1) * (horizontal + 1) % self.players == 0

    def leads(self, vertical: Lines, horizontal: Lines) -> dict[str, tuple[Any, Any]]:
        """Return the free places in each direction, and our lead over the others' average after a line there."""
        # columns are numbered from the left and rows from the top, so places are turned into distances from there
        down = tuple(self.height - place for place in reversed(horizontal))
        row_heights, column_widths = np.diff((0, *down, self.height)), np.diff((0, *vertical, self.width))
        phases = np.arange(self.players)[:, None]
        columns_then, columns_now = len(vertical) + 2, len(vertical) + 1
        rows = np.arange(len(row_heights))
        by_width = self.weights[(rows * columns_then + phases) % self.players] @ self.diagonals[:, row_heights].T
        columns = np.arange(columns_now)
        by_height = self.weights[(columns + phases) % self.players] @ self.diagonals[column_widths]
        upright = split_leads(vertical, self.width, by_width, np.arange(columns_then) % self.players)
        level = split_leads(down, self.height, by_height, np.arange(len(rows) + 1) * columns_now % self.players)
        return {"v": upright, "h": (self.height - level[0], level[1])}


def by_line(leads: dict[str, tuple[Any, Any]]) -> dict[Line, float]:
    """Return leads as a table by line."""
    return {
        (direction, place): lead
        for direction, (places, worths) in leads.items()
        for place, lead in zip(places.tolist(), worths.tolist(), strict=True)
    }


def split_leads(places: Lines, side: int, worth: Any, phase: Any) -> tuple[Any, Any]:
    """Return the free places of one direction, and the lead after one more line at each.

    Args:
        places: where lines stand, ascending.
        side: the length they divide into strips.
        worth: for each phase (which seat a strip's first rectangle belongs to) and size, what a strip is worth.
        phase: for each strip, in order, its phase once the new line stands.
    """
    edges = np.array((0, *places, side))
    sizes = np.diff(edges)
    before = np.concatenate(([0.0], np.cumsum(worth[phase[:-1], sizes])))  # strips left of the new line stay in place
    after = np.concatenate(([0.0], np.cumsum(worth[phase[1:], sizes])))  # those right of it move on by one
    is_free = np.ones(side, dtype=bool)
    is_free[edges[:-1]] = False
    free = np.nonzero(is_free)[0]
    gap = np.searchsorted(edges, free) - 1
    halves = worth[phase[gap], free - edges[gap]] + worth[phase[gap + 1], edges[gap + 1] - free]
    return free, before[gap] + halves + after[-1] - after[gap + 1]


def telling(places: Lines, side: int) -> Iterator[int]:
    """Yield the places that differ in kind: beside each line, where only the numbering changes, and in mid-strip."""
    for low, high in pairwise((0, *places, side)):
        if high - low > 1:
            yield from {low + 1, (low + high) // 2, high - 1}


def with_line(vertical: Lines, horizontal: Lines, line: Line) -> tuple[Lines, Lines]:
    """Return the lines with one more."""
    direction, place = line
    if direction == "v":
        return tuple(sorted((*vertical, place))), horizontal
    return vertical, tuple(sorted((*horizontal, place)))


class Node:
    """A sheet in the tree; ``total`` sums the losses of the seat that drew its last line."""

    def __init__(self, vertical: Lines, horizontal: Lines) -> None:
        self.vertical, self.horizontal = vertical, horizontal
        self.untried: list[tuple[Line, float]] | None = None
        self.children: dict[Line, Node] = {}
        self.visits = 0
        self.total = 0.0
        self.final: float | None = None

    def most_promising(self) -> Node:
        """Return the child with the lowest lower confidence bound of losses."""
        log_visits = math.log(self.visits + 1)
        return min(
            self.children.values(),
            key=lambda child: child.total / child.visits - EXPLORATION * math.sqrt(log_visits / child.visits),
        )


class Search:
    """The search for one action."""

    def __init__(self, sheet: Sheet, most_seconds: float, most_sheets: int) -> None:
        self.sheet = sheet
        self.started = time.monotonic()
        self.most_seconds, self.most_sheets = most_seconds, most_sheets
        self.share = 1.0
        self.sheets = 0
        self.refutations: Counter[Line] = Counter()
        self.is_won: dict[tuple[Lines, Lines], bool] = {}

    def leads(self, vertical: Lines, horizontal: Lines) -> dict[str, tuple[Any, Any]]:
        """Return the leads after each line, and count what was looked at."""
        self.count()
        return self.sheet.leads(vertical, horizontal)

    def count(self) -> None:
        """Count one sheet and leave the search when it was the last one."""
        self.sheets += 1
        used = self.sheets / self.most_sheets, (time.monotonic() - self.started) / self.most_seconds
        if max(used) >= self.share:
            raise TimeUpError

    def telling_lines(self, vertical: Lines, horizontal: Lines) -> list[Line]:
        """Return the lines that differ in kind, those first that refuted most elsewhere."""
        upright = [("v", place) for place in telling(vertical, self.sheet.width)]
        level = [("h", place) for place in telling(horizontal, self.sheet.height)]
        return sorted([*upright, *level], key=lambda line: -self.refutations[line])

    def wins(self, vertical: Lines, horizontal: Lines) -> bool:
        """Tell whether we win from here, as far as the telling lines go and every line as the last one."""
        key = vertical, horizontal
        if key not in self.is_won:
            self.is_won[key] = self._wins(vertical, horizontal)
        return self.is_won[key]

    def _wins(self, vertical: Lines, horizontal: Lines) -> bool:
        sheet = self.sheet
        standing = len(vertical) + len(horizontal)
        ours = standing % sheet.players == sheet.seat
        going_on = {"v", "h"}
        if standing >= sheet.lines - 1:
            for direction, (places, worths) in self.leads(vertical, horizontal).items():
                if sheet.is_over(len(vertical) + (direction == "v"), len(horizontal) + (direction == "h")):
                    going_on.remove(direction)
                    if len(places) and (worths.max() > MARGIN if ours else worths.min() <= MARGIN):
                        return ours
        for line in self.telling_lines(vertical, horizontal) if going_on else ():
            if line[0] in going_on and self.wins(*with_line(vertical, horizontal, line)) == ours:
                self.refutations[line] += 1
                return ours
        return not ours

    def best(self, vertical: Lines, horizontal: Lines) -> tuple[Line, Any]:
        """Return a line and what is thought of it: near the end one that surely wins, if there is one."""
        missing = self.sheet.lines - len(vertical) - len(horizontal)
        if missing <= 1:
            finals = by_line(self.sheet.leads(vertical, horizontal))
            ending = [line for line in finals if self.sheet.is_over(*map(len, with_line(vertical, horizontal, line)))]
            line = max(ending or finals, key=lambda line: finals[line])
            if finals[line] > MARGIN or len(ending) == len(finals):
                return line, round(finals[line], 1)
        self.share = SAMPLING_SHARE if missing <= SEARCHED_LINES else 1.0
        ranked = self.sampled(vertical, horizontal)
        if missing > SEARCHED_LINES:
            return ranked[0]
        self.share = 1.0
        at = 0
        try:
            while at < len(ranked) and not self.wins(*with_line(vertical, horizontal, ranked[at][0])):
                at += 1
        except TimeUpError:
            return ranked[at]  # the first that has not been found to lose
        return (ranked[at][0], "won") if at < len(ranked) else (ranked[0][0], "lost")

    def sampled(self, vertical: Lines, horizontal: Lines) -> list[tuple[Line, float]]:
        """Grow a tree of sheets with playouts (UCT) and return the lines looked at, the most visited first."""
        root = Node(vertical, horizontal)
        try:
            while True:
                self.grow(root)
        except TimeUpError:
            pass
        tried = sorted(root.children.items(), key=lambda pair: -pair[1].visits)
        found = [(line, round(1 - node.total / max(1, node.visits), 3)) for line, node in tried]
        return found + [(line, 0.0) for line in self.telling_lines(vertical, horizontal) if line not in root.children]

    def grow(self, root: Node) -> None:
        """Walk down to a sheet not seen yet, play it out, and carry the result up."""
        self.count()
        sheet = self.sheet
        path, node, ended = [root], root, None
        while ended is None:
            seat = (len(node.vertical) + len(node.horizontal)) % sheet.players
            if node.untried is None:
                leads = by_line(self.leads(node.vertical, node.horizontal))
                sign = 1 if seat == sheet.seat else -1
                node.untried = sorted(leads.items(), key=lambda pair: sign * pair[1])
            if node.untried and len(node.children) <= math.sqrt(node.visits):
                line, lead = node.untried.pop()
                child = Node(*with_line(node.vertical, node.horizontal, line))
                node.children[line] = child
                path.append(child)
                over = sheet.is_over(len(child.vertical), len(child.horizontal))
                child.final = lead if over else None
                ended = lead if over else self.end_of_playout(child.vertical, child.horizontal)
            else:
                node = node.most_promising()
                path.append(node)
                ended = node.final
        ours = 1.0 if ended > MARGIN else 0.0
        for parent, child in pairwise(path):
            seat = (len(parent.vertical) + len(parent.horizontal)) % sheet.players
            child.total += 1 - ours if seat == sheet.seat else ours  # what the seat that drew the line has lost
        for node in path:
            node.visits += 1

    def end_of_playout(self, vertical: Lines, horizontal: Lines) -> float:
        """Finish the sheet, each seat with the best of a few random lines, and with the best of all at the end."""
        sheet = self.sheet
        while True:
            standing = len(vertical) + len(horizontal)
            leads = by_line(self.leads(vertical, horizontal))
            sign = 1 if standing % sheet.players == sheet.seat else -1
            choices: Iterable[Line] = leads
            if standing < sheet.lines - 1:
                choices = random.sample(list(leads), min(SAMPLE, len(leads)))
            line = max(choices, key=lambda line: sign * leads[line])
            vertical, horizontal = with_line(vertical, horizontal, line)
            if sheet.is_over(len(vertical), len(horizontal)):
                return leads[line]


def choose(game: Game[Any], state: Any, clock: Clock, sheets: int | None) -> Any:
    """Return a line."""
    vertical, horizontal = state
    seat = game.seat_to_act(state)
    assert seat is not None
    missing = game.options["lines"] - len(vertical) - len(horizontal)
    seconds = 3600.0 if sheets else clock.time_for_this_action(max(1, missing) // 2 + 1)
    search = Search(Sheet(game, seat), max(1e-3, seconds), sheets or 1 << 62)
    line, value = search.best(vertical, horizontal)
    return Choice(line, {"value": value, "sheets": search.sheets})


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Plaid, all lines at once")
    parser.add_argument("--sheets", type=int, help="sheets to look at per action, instead of watching the clock")
    sheets = parser.parse_known_args()[0].sheets
    run(lambda game, state, clock: choose(game, state, clock, sheets), name="weaver", version="1")


main()
