#!/usr/bin/env python3
"""Plaid for two, played by its stripes.

Count the columns. While their number is even, each row begins with the same seat: the sheet has stripes, every other
column is ours, and a level line changes little of who is ahead. One more upright line makes the number odd, and the
stripes a chequerboard; but then whoever is to act makes it even again, and chooses where, so that the new stripes are
its own. A chequerboard is therefore worth what the best next stripes are worth, for the seat to act, and stripes are
worth what they say. Only a match that ends as a chequerboard is worth what that says.

Reckoning. Let F(w) be the sum of the diagonals in a column of width w. With stripes the lead is the sum of F over our
columns less that over the others'. A new upright line at x leaves the columns left of it with their owners and hands
those right of it over; two new lines hand over what is between them. So the lead after every line, and after every
answer to every line, comes from one list: u(x), what is left of x less its own mirror image; see ``Stripes``.

Search. Alpha-beta, one line deeper each time, over the most promising lines, to the end of the match when that is near.

With more than two seats the pattern moves on in other ways, and the bot only looks one line ahead.
With ``--sheets N`` it looks at N sheets per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a match has one core; numpy's own threads would only wait for each other

import numpy as np

from arena.botkit import Choice, Clock, run, until, without_pie
from arena.games import Game

Array = Any
"""A numpy array of floats, or of whole numbers."""

WIDEST, NARROWEST = 24, 6
"""How many lines are followed at the first and at the deepest look."""
EXACT_LINES = 3
"""So many lines before the end every line is followed."""
MANY_PLACES = 100
"""On sheets larger than twice this, not all places are looked at."""
WON = 1e6
"""A match that has ended is worth more than any lead."""
MARGIN = 1e-9
"""Leads are sums of floats: what is smaller is a tie."""

Places = tuple[int, ...]
Line = tuple[str, int]


class TimeUpError(Exception):
    """Raised to leave the search at once."""


class Stripes:
    """What new lines across one side bring, when the strips between them belong to the two seats in turn.

    Attributes:
        free: the free places; on large sheets every few of them, and those beside a line.
        lead: the lead of the first seat as the strips are.
        turned: ``u`` for each free place.

    Args:
        places: where lines stand, ascending.
        side: the length they divide into strips.
        worth: what a strip is worth, by its size; more axes in front for more cases at once.
    """

    def __init__(self, places: Places, side: int, worth: Array) -> None:
        self.edges = np.array((0, *places, side))
        self.worth = worth
        sizes = np.diff(self.edges)
        signs = 1 - 2 * (np.arange(len(sizes)) % 2)
        sums = np.concatenate((np.zeros((*worth.shape[:-1], 1)), np.cumsum(signs * worth[..., sizes], axis=-1)), -1)
        is_tried = np.arange(side + 1) % max(1, side // MANY_PLACES) == 0
        is_tried[self.edges[1:] - 1] = is_tried[self.edges[:-1] + 1] = True
        is_tried[self.edges] = False
        self.free = np.nonzero(is_tried)[0]
        self.strip = np.searchsorted(self.edges, self.free) - 1
        self.sign = signs[self.strip]
        self.lead = sums[..., -1]
        self.left, self.right = self.free - self.edges[self.strip], self.edges[self.strip + 1] - self.free
        halves = self.sign * (worth[..., self.left] - worth[..., self.right])
        self.turned = sums[..., self.strip] + halves + sums[..., self.strip + 1]

    def after_one(self) -> Array:
        """Return the lead after one more line at each free place: what is right of it changes hands."""
        return self.turned - self.lead[..., None]

    def split_gains(self, worth: Array) -> Array:
        """Return by how much a new line at each free place changes a sum over all strips."""
        return worth[..., self.left] + worth[..., self.right] - worth[..., self.left + self.right]

    def after_two(self) -> Array:
        """Return the lead after two more lines, by both places: what is between them changes hands."""
        low = np.minimum(self.free[:, None], self.free[None, :])
        between = abs(self.free[:, None] - self.free[None, :])
        is_low = self.free[:, None] < self.free[None, :]
        apart = np.where(is_low, 1, -1) * (self.turned[:, None] - self.turned[None, :])
        start, end = self.edges[self.strip], self.edges[self.strip + 1]
        within = self.worth[low - start[:, None]] - self.worth[between]
        within += self.worth[np.maximum(end[:, None] - low - between, 0)] - self.worth[end - start][:, None]
        same = self.strip[:, None] == self.strip[None, :]
        return self.lead + np.where(same, self.sign[:, None] * within, apart)


class Sheet:
    """The sheet's sizes, and the lead of seat 0 after every line."""

    def __init__(self, game: Game[Any]) -> None:
        self.width, self.height, self.lines = game.options["width"], game.options["height"], game.options["lines"]
        widths, heights = np.arange(self.width + 1.0)[:, None], np.arange(self.height + 1.0)[None, :]
        self.diagonals = np.sqrt(widths**2 + heights**2)

    def is_over(self, upright: int, level: int) -> bool:
        """Return whether the match ends with so many lines."""
        return upright + level >= self.lines and (upright % 2 == 1 or level % 2 == 1)

    def leads(self, vertical: Places, horizontal: Places) -> tuple[list[Line], Array]:
        """Return all free lines, and the lead of seat 0 after each, as far as the stripes tell."""
        upright, level = len(vertical), len(horizontal)
        down = tuple(self.height - place for place in reversed(horizontal))  # rows are numbered from the top
        row_heights, column_widths = np.diff((0, *down, self.height)), np.diff((0, *vertical, self.width))
        column_signs, row_signs = (1 - 2 * (np.arange(count) % 2) for count in (upright + 1, level + 1))
        by_width = self.diagonals[:, row_heights].sum(axis=1)
        by_height = column_signs @ self.diagonals[column_widths]
        columns, rows = Stripes(vertical, self.width, by_width), Stripes(down, self.height, by_height)
        answers_of_first = (upright + level + 1) % 2 == 0
        if upright % 2 == 1:
            if self.is_over(upright + 1, level):
                chequered = Stripes(vertical, self.width, self.diagonals[:, row_heights] @ row_signs)
                after_upright = chequered.after_one()
            else:
                two = columns.after_two()
                np.fill_diagonal(two, -np.inf if answers_of_first else np.inf)  # no line stands twice
                after_upright = best_answer(two, answers_of_first)
            after_level = by_height[row_heights].sum() + rows.split_gains(by_height)
        else:
            after_upright = columns.after_one()
            if self.is_over(upright, level + 1):
                after_level = rows.after_one()
            else:
                wider = by_width + rows.split_gains(self.diagonals).T
                after_level = best_answer(Stripes(vertical, self.width, wider).after_one(), answers_of_first)
        lines = [("v", place) for place in columns.free.tolist()]
        lines += [("h", self.height - place) for place in rows.free.tolist()]
        return lines, np.concatenate((after_upright, after_level))


def best_answer(leads: Array, answers_of_first: bool) -> Array:
    """Return the largest lead in each row for the first seat, else the smallest; 0 where there is no answer."""
    best = leads.max(axis=1, initial=-np.inf) if answers_of_first else leads.min(axis=1, initial=np.inf)
    return np.where(np.isfinite(best), best, 0.0)


class Search:
    """The search for one action."""

    def __init__(self, sheet: Sheet, seconds: float, most_sheets: int) -> None:
        self.sheet = sheet
        self.stop_at = time.monotonic() + seconds
        self.most_sheets = most_sheets
        self.sheets = 0
        self.known: dict[tuple[Places, Places], list[tuple[Line, float, bool]]] = {}

    def looked(self, vertical: Places, horizontal: Places) -> list[tuple[Line, float, bool]]:
        """Return each line, what it is worth to the seat to act, and whether it ends the match; the best first."""
        key = vertical, horizontal
        if key not in self.known:
            if self.sheets and (self.sheets >= self.most_sheets or time.monotonic() > self.stop_at):
                raise TimeUpError
            self.sheets += 1
            upright, level = len(vertical), len(horizontal)
            lines, leads = self.sheet.leads(vertical, horizontal)
            is_end = {"v": self.sheet.is_over(upright + 1, level), "h": self.sheet.is_over(upright, level + 1)}
            ends = np.array([is_end[direction] for direction, _ in lines])
            won = np.where(leads > MARGIN, WON, np.where(leads < -MARGIN, -WON, 0.0))
            worths = (leads + ends * won) * (-1 if (upright + level) % 2 else 1)
            order = np.argsort(-worths, kind="stable").tolist()
            self.known[key] = [(lines[at], float(worths[at]), bool(ends[at])) for at in order]
        return self.known[key]

    def value(self, vertical: Places, horizontal: Places, depth: int, alpha: float, beta: float) -> float:
        """Return what a position is worth to the seat to act, if between the bounds, else a bound."""
        found = self.looked(vertical, horizontal)
        if depth == 0:
            return found[0][1]
        missing = self.sheet.lines - len(vertical) - len(horizontal)
        best = -np.inf
        for line, worth, is_end in found if missing <= EXACT_LINES else found[: NARROWEST + 2 * depth]:
            if not is_end:
                worth = -self.value(*with_line(vertical, horizontal, line), depth - 1, -beta, -max(alpha, best))
            best = max(best, worth)
            if best >= beta or best > WON / 2:
                break
        return best

    def best(self, vertical: Places, horizontal: Places) -> tuple[Line, float, int]:
        """Return the best line, what it is worth, and how many lines were looked ahead behind it."""
        ranked = self.looked(vertical, horizontal)
        missing = max(1, self.sheet.lines - len(vertical) - len(horizontal))
        if missing > EXACT_LINES:
            ranked = ranked[:WIDEST]
        depth = 0
        again: list[tuple[Line, float, bool]] = []
        try:
            while depth <= missing and abs(ranked[0][1]) < WON / 2:
                again, best = [], -np.inf
                for line, worth, is_end in ranked:
                    if not is_end:
                        worth = -self.value(*with_line(vertical, horizontal, line), depth, -np.inf, -best)
                    again.append((line, worth, is_end))
                    best = max(best, worth)
                if best < -WON / 2:
                    break  # all lines lose against best play: take what looks best to whoever sees less
                ranked = sorted(again, key=lambda one: -one[1])
                depth += 1
        except TimeUpError:
            found = max(again, key=lambda one: one[1], default=ranked[0])
            first_unknown = ranked[len(again)]
            return (*(found if found[1] > -WON / 2 else first_unknown)[:2], depth)
        return (*ranked[0][:2], depth)


def with_line(vertical: Places, horizontal: Places, line: Line) -> tuple[Places, Places]:
    """Return the lines with one more."""
    direction, place = line
    if direction == "v":
        return tuple(sorted((*vertical, place))), horizontal
    return vertical, tuple(sorted((*horizontal, place)))


def one_ahead(game: Game[Any], state: Any, seat: int, stop_at: float) -> Any:
    """Return the line after which we are furthest ahead of the best other seat."""

    def ahead(action: Any) -> float:
        scores = game.scores(game.apply(state, action))
        return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)

    return max(until(stop_at, game.legal_actions(state)), key=ahead)


def choose(game: Game[Any], state: Any, clock: Clock, sheets: int | None) -> Any:
    """Return a line."""
    vertical, horizontal = state
    seat = game.seat_to_act(state)
    assert seat is not None
    missing = game.options["lines"] - len(vertical) - len(horizontal)
    seconds = 3600.0 if sheets else clock.time_for_this_action(max(1, missing) // 2 + 1)
    if game.players > 2:
        return one_ahead(game, state, seat, time.monotonic() + seconds)
    search = Search(Sheet(game), seconds, sheets or 1 << 62)
    line, value, depth = search.best(vertical, horizontal)
    told = "won" if value > WON / 2 else "lost" if value < -WON / 2 else round(value, 1)
    return Choice(line, {"value": told, "depth": depth, "sheets": search.sheets})


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Plaid for two, by its stripes")
    parser.add_argument("--sheets", type=int, help="sheets to look at per action, instead of watching the clock")
    sheets = parser.parse_known_args()[0].sheets
    run(without_pie(lambda game, state, clock: choose(game, state, clock, sheets)), name="stripes", version="1")


if __name__ == "__main__":
    main()
