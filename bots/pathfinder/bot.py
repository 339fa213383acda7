#!/usr/bin/env python3
"""Coprimality, played by its structure: one path, few ways on, and a dead end that costs the seat that starts again.

- The path goes on from its last number only, so there are three squares to choose from at the most, and mostly one or
  two. The bot can therefore look far: it sets and takes back numbers on one board instead of copying positions, and
  deepens until its time is up. A forced step costs no depth, which sends the search on to where somebody has a choice.
- Turns end with the primes, so who has to set which number is known for ever: a seat that is led beside a multiple of
  a prime it will have to write has lost, many numbers before it happens. Nothing but depth finds that out.
- Where the path runs dead a new grid begins, and the lowest seat left starts it. What such a grid is worth to those
  left is looked up by playing it through in the search, once for each set of seats.

Every seat is taken to want what the rules reward: to outlast as many others as it can. For two seats that is exact;
with more, a seat that has nothing to gain may still decide between others, and nobody can know for whom. So each way
is also given a hope: our score if the others, wherever they have a choice that does not end them at once, choose at
random. What counts is a weighted sum of both, for perfect players are rare.

With ``--nodes N`` it looks at N numbers per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import time
from math import gcd
from typing import Any

from arena.botkit import Choice, Clock, run, without_pie
from arena.games import Game

CHOICES_IN_NEW_GRID = 14
HOPE = 3.0
"""The weight of hope beside that of the score among perfect players; found by trying 0, 1, 3 and hope alone."""

Seats = tuple[int, ...]
"""Seats that are out, the first one out first."""
Outcome = tuple[tuple[float, ...], float]
"""The scores of all seats, and our hope."""


class TimeUpError(Exception):
    """Raised to leave the search at once."""


class Board:
    """One grid, changed in place."""

    def __init__(self, game: Game[Any], state: Any) -> None:
        self.size = size = game.options["size"]
        self.numbers = list(state.numbers)
        self.path = [state.here]
        self.last = state.numbers[state.here]
        self.beside: list[list[int]] = []
        for index in range(size * size):
            y, x = divmod(index, size)
            steps = ((x > 0, -1), (y > 0, -size), (y < size - 1, size), (x < size - 1, 1))
            self.beside.append([index + step for inside, step in steps if inside])

    def ways(self) -> list[int]:
        """Return the squares the next number may stand on."""
        numbers, beside = self.numbers, self.beside
        found = []
        for index in beside[self.path[-1]]:
            if not numbers[index]:
                near = beside[index]
                if len(near) < 4 or sum(1 for other in near if numbers[other]) >= 2:
                    found.append(index)
        return found

    def is_fatal(self, index: int) -> bool:
        """Return whether the next number would share a factor with one beside it on this square."""
        number = self.last + 1
        return any(self.numbers[near] and gcd(number, self.numbers[near]) > 1 for near in self.beside[index])

    def put(self, index: int) -> None:
        """Set the next number."""
        self.last += 1
        self.numbers[index] = self.last
        self.path.append(index)

    def take_back(self) -> None:
        """Take the last number away again."""
        self.numbers[self.path.pop()] = 0
        self.last -= 1


class Search:
    """The search for one seat's next square. Outcomes are the scores of all seats, in halves where it is open."""

    def __init__(self, game: Game[Any], state: Any, seat: int, stop_at: float, most_nodes: int) -> None:
        self.game = game
        self.seat = seat
        self.board = Board(game, state)
        self.players = game.players
        self.stop_at, self.most_nodes = stop_at, most_nodes
        self.nodes = 0
        self.saw_horizon = False
        self.new_grids: dict[Seats, Outcome] = {}
        most = game.options["size"] ** 2 + 1
        composite = {multiple for factor in range(2, most) for multiple in range(2 * factor, most, factor)}
        self.primes = {number for number in range(2, most) if number not in composite}

    def next_seat(self, seat: int, out: Seats) -> int:
        """Return the next seat still in the game."""
        while True:
            seat = (seat + 1) % self.players
            if seat not in out:
                return seat

    def open_outcome(self, out: Seats) -> Outcome:
        """Return the scores if those left are equally likely to go in any order."""
        average = (len(out) + self.players - 1) / 2
        scores = tuple(out.index(seat) if seat in out else average for seat in range(self.players))
        return scores, scores[self.seat]

    def outcome(self, acting: int, out: Seats, depth: int) -> Outcome:
        """Return the scores when every seat takes what is best for itself; ``depth`` choices ahead."""
        self.nodes += 1
        if self.nodes >= self.most_nodes or time.monotonic() > self.stop_at:
            raise TimeUpError
        ways = self.board.ways()
        if not ways:
            return self.new_grid(out)
        if len(ways) == 1:
            return self.outcome_of(ways[0], acting, out, depth)
        if depth <= 0:
            self.saw_horizon = True
            return self.open_outcome(out)
        return self.best_of(ways, acting, out, depth)[1]

    def best_of(self, ways: list[int], acting: int, out: Seats, depth: int) -> tuple[int, Outcome]:
        """Return the way that is best for the seat to act, and its outcome."""
        found = {index: self.outcome_of(index, acting, out, depth - 1) for index in ways}
        if acting == self.seat:
            best = max(ways, key=lambda index: found[index][0][acting] + HOPE * found[index][1])
            return best, found[best]
        best = max(ways, key=lambda index: found[index][0][acting])
        choices = [index for index in ways if not self.board.is_fatal(index)] or ways
        return best, (found[best][0], sum(found[index][1] for index in choices) / len(choices))

    def outcome_of(self, index: int, acting: int, out: Seats, depth: int) -> Outcome:
        """Return the outcome of setting the next number on a square."""
        board = self.board
        is_fatal = board.is_fatal(index)
        if is_fatal:
            out = (*out, acting)
            if len(out) == self.players - 1:
                return self.open_outcome(out)
        board.put(index)
        try:
            ends_turn = is_fatal or board.last in self.primes
            return self.outcome(self.next_seat(acting, out) if ends_turn else acting, out, depth)
        finally:
            board.take_back()

    def new_grid(self, out: Seats) -> Outcome:
        """Return the outcome of a new grid among those left, looking through it once for each set of seats."""
        if out not in self.new_grids:
            self.new_grids[out] = self.open_outcome(out)  # what a grid that runs dead again counts for
            here, self.board = self.board, Board(self.game, self.game.initial_state())
            horizon, self.saw_horizon = self.saw_horizon, False
            try:
                starts = min(seat for seat in range(self.players) if seat not in out)
                self.new_grids[out] = self.outcome(starts, out, CHOICES_IN_NEW_GRID)
            finally:
                self.board, self.saw_horizon = here, horizon
        return self.new_grids[out]

    def best(self, seat: int, out: Seats) -> tuple[int, Outcome, int]:
        """Deepen until the time is up or all has been seen; return the square's index, the outcome and the depth."""
        board = self.board
        ways = sorted(board.ways(), key=board.is_fatal)
        kept = list(board.path), board.last, list(board.numbers)
        best, outcome, depth = ways[0], self.open_outcome(out), 0
        try:
            while True:
                depth += 1
                self.saw_horizon = False
                best, outcome = self.best_of(ways, seat, out, depth)
                if not self.saw_horizon:
                    break
        except (TimeUpError, RecursionError):  # or the line is longer than Python can follow
            self.board = board
            board.path, board.last, board.numbers = kept
        return best, outcome, depth


def choose(game: Game[Any], state: Any, clock: Clock, nodes: int | None) -> Any:
    """Return a square."""
    actions = game.legal_actions(state)
    if len(actions) == 1:
        return actions[0]
    seat = game.seat_to_act(state)
    assert seat is not None
    stop_at = time.monotonic() + (3600.0 if nodes else clock.time_for_this_action())
    search = Search(game, state, seat, stop_at, nodes or 1 << 62)
    index, outcome, depth = search.best(seat, state.eliminated)
    y, x = divmod(index, game.options["size"])
    return Choice(
        (x + 1, y + 1),
        {"scores": list(outcome[0]), "hope": round(outcome[1], 2), "choices_ahead": depth, "numbers": search.nodes},
    )


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Coprimality, far along the path")
    parser.add_argument("--nodes", type=int, help="numbers to look at per action, instead of watching the clock")
    nodes = parser.parse_known_args()[0].nodes
    run(without_pie(lambda game, state, clock: choose(game, state, clock, nodes)), name="pathfinder", version="1")


if __name__ == "__main__":
    main()
