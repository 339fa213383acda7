#!/usr/bin/env python3
"""Plaid, played by its structure: which rectangles a line feeds, all lines at once, and who draws the last one.

Two things make this game different from how it looks. With v upright lines the rectangles are numbered in rows of
v + 1, so one more upright line turns stripes into a chequerboard and back (for two players), and hands most rectangles
to somebody else: until the last line is drawn, the score says next to nothing. And the last line, which decides whose
pattern stands, is chosen with full sight. So:

- The score after *every* possible line is computed in one go. The columns left of a new upright line keep their
  owners, those right of it move on by one, and within a row only sums over columns are needed: running sums of a table
  of diagonals, as numpy arrays.
- In mid-match it looks three lines ahead: each line, the answers to it that hurt most, and its own best line then.
- Near the end it looks for a line that wins whatever the others do. A line right beside another one changes next to
  nothing but the numbering, one in mid-strip changes sizes as well: these are the lines that differ in kind, and it
  tries those for itself, but all of them for the others in the last few lines, and all as the very last line.

With ``--sheets N`` it looks at N sheets per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a match has one core; numpy's own threads would only wait for each other

import numpy as np

from arena.botkit import Choice, Clock, run, without_pie
from arena.games import Game

MARGIN = 1e-9
"""Leads are sums of floats: what is smaller is a tie."""
CANDIDATES, ANSWERS = 40, 25
"""How many lines, and answers to each, are looked at in mid-match."""
SEARCHED_LINES = 5
"""So many lines before the end it begins to look for a line that surely wins."""
FULL_LINES = 4
"""So many lines before the end all answers of the others are looked at, not only the telling ones."""
LOOKING_SHARE = 0.7
"""Of the time; the rest is for the search for a sure win."""

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
        """Return whether the match ends with so many lines."""
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
        """Return the leads after each line; counts the sheet, and leaves the search when it was the last one."""
        self.sheets += 1
        used = self.sheets / self.most_sheets, (time.monotonic() - self.started) / self.most_seconds
        if max(used) >= self.share:
            raise TimeUpError
        return self.sheet.leads(vertical, horizontal)

    def telling_lines(self, vertical: Lines, horizontal: Lines) -> list[Line]:
        """Return the lines that differ in kind, those first that refuted most elsewhere."""
        upright = [("v", place) for place in telling(vertical, self.sheet.width)]
        level = [("h", place) for place in telling(horizontal, self.sheet.height)]
        return sorted([*upright, *level], key=lambda line: -self.refutations[line])

    def wins(self, vertical: Lines, horizontal: Lines) -> bool:
        """Return whether we win from here, as far as the telling lines go and every line as the last one."""
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
        lines = self.telling_lines(vertical, horizontal) if going_on else []
        if lines and not ours and standing >= sheet.lines - FULL_LINES:
            told = set(lines)
            lines += [line for line in by_line(sheet.leads(vertical, horizontal)) if line not in told]
        for line in lines:
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
        self.share = LOOKING_SHARE if missing <= SEARCHED_LINES else 1.0
        ranked = self.ranked(vertical, horizontal)
        self.share = 1.0
        at = 0 if missing <= SEARCHED_LINES else len(ranked)
        try:
            while at < len(ranked) and not self.wins(*with_line(vertical, horizontal, ranked[at][0])):
                at += 1
        except TimeUpError:
            return ranked[at][0], round(ranked[at][1], 1)  # the first that has not been found to lose
        if at < len(ranked):
            return ranked[at][0], "won"
        return ranked[0][0], "lost" if missing <= SEARCHED_LINES else round(ranked[0][1], 1)

    def ranked(self, vertical: Lines, horizontal: Lines) -> list[tuple[Line, float]]:
        """Return all lines with our lead in the worst case, as far as the time goes; the most promising first."""
        now = by_line(self.sheet.leads(vertical, horizontal))
        worst = dict(now)
        order = sorted(worst, key=lambda line: -worst[line])
        looked_at: dict[Line, float] = {}
        try:
            for line in order:
                after = self.leads(*with_line(vertical, horizontal, line))
                worst[line] = min((float(leads.min()) for _, leads in after.values() if len(leads)), default=now[line])
            order.sort(key=lambda line: -worst[line])
            floor = -math.inf
            for line in order[:CANDIDATES]:
                looked_at[line] = self.after_next(*with_line(vertical, horizontal, line), floor)
                floor = max(floor, looked_at[line])
        except TimeUpError:
            pass
        first = sorted(looked_at, key=lambda line: -looked_at[line])
        rest = [line for line in order if line not in looked_at]
        return [*((line, looked_at[line]) for line in first), *((line, worst[line]) for line in rest)]

    def after_next(self, vertical: Lines, horizontal: Lines, floor: float) -> float:
        """Return the best lead after the answer that hurts most; no more than that it is below ``floor``, if it is."""
        answers = by_line(self.leads(vertical, horizontal))
        worst = math.inf
        for answer in sorted(answers, key=lambda line: answers[line])[:ANSWERS]:
            after = self.leads(*with_line(vertical, horizontal, answer))
            worst = min(worst, max((float(leads.max()) for _, leads in after.values() if len(leads)), default=worst))
            if worst < floor:
                break
        return worst


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
    run(without_pie(lambda game, state, clock: choose(game, state, clock, sheets)), name="weaver", version="1")


if __name__ == "__main__":
    main()
