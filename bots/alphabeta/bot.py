#!/usr/bin/env python3
"""Alpha-beta search over the arena's own rules: for every game, any size, any number of seats.

- Iterative deepening: look one action ahead, then two, then three, until the time is up. The last depth that was
  finished counts, and so does an unfinished one as far as it got, because it looks at the best action first.
- A table of positions seen remembers values and best actions, so that each depth starts from what the last one learnt,
  and positions reached in another order of actions are not searched again.
- Near the end the search reaches the end of the match in every line. It is exact then, and stops.

A position in mid-match is worth the lead: the own score minus the best other one. The end of a match is worth more than
any lead: first whether it is won, then by how much. With more than two seats all others are taken to play against it.

With ``--nodes N`` it looks at N positions per action instead of watching the clock; it is then deterministic.
"""

from __future__ import annotations

import argparse
import time
from contextlib import suppress
from typing import Any, NamedTuple

from arena.botkit import Choice, Clock, run, until
from arena.games import Game

WIN = 1e6
TABLE_ENTRIES = 200_000
EXACT, AT_LEAST, AT_MOST = 0, 1, 2


class Entry(NamedTuple):
    """What the table knows of a position."""

    depth: int
    value: float
    kind: int
    best: Any
    is_exact: bool


class TimeUpError(Exception):
    """Raised to leave the search at once."""


class Search:
    """One search for the best action of one seat."""

    def __init__(self, game: Game[Any], seat: int, stop_at: float, most_nodes: int) -> None:
        self.game = game
        self.seat = seat
        self.stop_at = stop_at
        self.most_nodes = most_nodes
        self.nodes = 0
        self.depth = 0
        self.table: dict[Any, Entry] = {}
        self.saw_horizon = False

    def best_action(self, root: Any) -> tuple[Any, float]:
        """Deepen until the time is up or the match has been searched to its end; return the action and its value."""
        ranked = self.ordered(root, self.game.legal_actions(root), maximise=True)
        best, value = ranked[0]
        try:
            while True:
                self.depth += 1
                self.saw_horizon = False
                best, value = self.best_at_depth(root, [action for action, _ in ranked])
                ranked = [(best, value), *(pair for pair in ranked if pair[0] != best)]
                if not self.saw_horizon:
                    break
        except (TimeUpError, RecursionError):  # or the line is longer than Python can follow
            entry = self.table.get(root)
            if entry is not None and entry.best is not None:
                best, value = entry.best, entry.value
        return best, value

    def best_at_depth(self, root: Any, actions: list[Any]) -> tuple[Any, float]:
        """Search every action to the current depth, keeping the best so far in the table in case the time is up."""
        best, value = None, float("-inf")
        for action in actions:
            found = self.value(self.game.apply(root, action), self.depth - 1, value, float("inf"))
            if found > value:
                best, value = action, found
                self.table[root] = Entry(self.depth, value, AT_LEAST, best, is_exact=False)
        return best, value

    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float:
        """Return what a position is worth to our seat, as far as it matters between ``alpha`` and ``beta``."""
        self.nodes += 1
        if self.nodes >= self.most_nodes or time.monotonic() > self.stop_at:
            raise TimeUpError
        acting = self.game.seat_to_act(state)
        if acting is None:
            return self.worth_of_end(state)
        if depth <= 0:
            self.saw_horizon = True
            return self.lead(state)
        known = self.table.get(state)
        if known is not None and (known.depth >= depth or known.is_exact):
            self.saw_horizon |= not known.is_exact
            if known.kind == EXACT:
                return known.value
            if known.kind == AT_LEAST and known.value >= beta:
                return known.value
            if known.kind == AT_MOST and known.value <= alpha:
                return known.value
        return self.search(state, depth, alpha, beta, acting == self.seat, known.best if known is not None else None)

    def search(self, state: Any, depth: int, alpha: float, beta: float, maximise: bool, first: Any) -> float:
        """Look at the actions one after another until the rest can't matter."""
        seen_before, self.saw_horizon = self.saw_horizon, False
        low, high, best = alpha, beta, None
        value = float("-inf") if maximise else float("inf")
        actions = list(self.game.legal_actions(state))
        if depth > 1 and len(actions) > 1:
            actions = [action for action, _ in self.ordered(state, actions, maximise)]
        if first is not None:
            with suppress(ValueError):  # if there was no time for it
                actions.remove(first)
            actions.insert(0, first)
        for action in actions:
            found = self.value(self.game.apply(state, action), depth - 1, low, high)
            if (found > value) if maximise else (found < value):
                value, best = found, action
            if maximise:
                low = max(low, value)
            else:
                high = min(high, value)
            if low >= high:
                break
        kind = AT_MOST if value <= alpha else AT_LEAST if value >= beta else EXACT
        if len(self.table) < TABLE_ENTRIES:
            self.table[state] = Entry(depth, value, kind, best, is_exact=not self.saw_horizon)
        self.saw_horizon |= seen_before
        return value

    def ordered(self, state: Any, actions: Any, maximise: bool) -> list[tuple[Any, float]]:
        """Return actions with the lead right after them, the most promising first, as far as the time goes."""
        leads = [(action, self.lead(self.game.apply(state, action))) for action in until(self.stop_at, actions)]
        return sorted(leads, key=lambda pair: pair[1], reverse=maximise)

    def lead(self, state: Any) -> float:
        """Return how far our seat is ahead of the best other one."""
        scores = self.game.scores(state)
        return scores[self.seat] - max(score for seat, score in enumerate(scores) if seat != self.seat)

    def worth_of_end(self, state: Any) -> float:
        """Return the worth of a match that has ended: winning it comes before any lead."""
        ranks = self.game.ranks(state)
        others = [rank for seat, rank in enumerate(ranks) if seat != self.seat]
        beaten = sum((other > ranks[self.seat]) - (other < ranks[self.seat]) for other in others)
        return WIN * beaten / len(others) + self.lead(state)


def choose(game: Game[Any], state: Any, clock: Clock, nodes: int | None) -> Any:
    """Return the best action found."""
    stop_at = time.monotonic() + (3600.0 if nodes else clock.time_for_this_action())
    actions = game.legal_actions(state)
    if len(actions) == 1:
        return actions[0]
    seat = game.seat_to_act(state)
    assert seat is not None
    search = Search(game, seat, stop_at, nodes or 1 << 62)
    action, value = search.best_action(state)
    told: float | str = round(value, 3) if abs(value) < WIN / 100 else "won" if value > 0 else "lost"
    exact = {} if search.saw_horizon else {"exact": True}
    return Choice(action, {"value": told, "depth": search.depth, "nodes": search.nodes, **exact})


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Alpha-beta search")
    parser.add_argument("--nodes", type=int, help="positions to look at per action, instead of watching the clock")
    nodes = parser.parse_known_args()[0].nodes
    run(lambda game, state, clock: choose(game, state, clock, nodes), name="alphabeta", version="1")


if __name__ == "__main__":
    main()
