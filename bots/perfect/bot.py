#!/usr/bin/env python3
"""Perfect play on small boards, for two seats: every line of play is followed to the end of the match.

A position is worth what its end is worth when both seats play as well as can be: first whether the match is won, then
by how much. Alpha-beta leaves out what can't matter, and a table keeps what is known of each position, for the whole
match: what the first action finds out, the later ones look up.

How small is small depends on the clock. With two seconds for an action: differences up to 7 by 7, plusminus up to
5 by 5, plaid with six lines on an 8 by 8 sheet, multiplication on 7 by 7 once a mark or two stand, coprimality at most
sizes. Where the time is not enough, the bot takes the best of what it has looked at, and its note says that this was
not perfect; the same where more than two seats play, because there nobody knows what perfect is.
"""

from __future__ import annotations

import time
from typing import Any

from arena.botkit import Choice, Clock, MatchInfo, run, until
from arena.games import Game

WIN = 1e6
TABLE_ENTRIES = 3_000_000
ALL = float("inf")


class TimeUpError(Exception):
    """Raised to leave the search at once."""


class Solver:
    """What is known of the positions of one match, from the point of view of seat 0."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.stop_at = 0.0
        self.nodes = 0
        self.bounds: dict[Any, tuple[float, float]] = {}

    def lead(self, state: Any) -> float:
        """Return how far seat 0 is ahead."""
        scores = self.game.scores(state)
        return scores[0] - max(scores[1:])

    def worth_of_end(self, state: Any) -> float:
        """Return the worth of a match that has ended: winning it comes before any lead."""
        ranks = self.game.ranks(state)
        return WIN * ((ranks[0] < min(ranks[1:])) - (ranks[0] > min(ranks[1:]))) + self.lead(state)

    def value(self, state: Any, alpha: float, beta: float) -> float:
        """Return the exact worth of a position if it lies between ``alpha`` and ``beta``, else a bound beyond them."""
        low, high = self.bounds.get(state, (-ALL, ALL))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        seat = self.game.seat_to_act(state)
        if seat is None:
            return self.worth_of_end(state)
        self.nodes += 1
        if time.monotonic() > self.stop_at:
            raise TimeUpError
        value, first_alpha, first_beta = (-ALL if seat == 0 else ALL), alpha, beta
        children = self.children(state, seat)
        if time.monotonic() > self.stop_at:  # there may be more of them
            raise TimeUpError
        for _, child in children:
            found = self.value(child, alpha, beta)
            if seat == 0:
                value = max(value, found)
                alpha = max(alpha, value)
            else:
                value = min(value, found)
                beta = min(beta, value)
            if alpha >= beta:
                break
        if len(self.bounds) < TABLE_ENTRIES:
            self.bounds[state] = (value if value > first_alpha else low), (value if value < first_beta else high)
        return value

    def children(self, state: Any, seat: int) -> list[tuple[Any, Any]]:
        """Return every action with the position after it, the most promising first, as far as the time goes."""
        children = []
        for action in until(self.stop_at, self.game.legal_actions(state)):
            after = self.game.apply(state, action)
            children.append((self.lead(after), action, after))
        children.sort(key=lambda child: child[0], reverse=seat == 0)
        return [(action, after) for _, action, after in children]

    def best(self, state: Any, seat: int, stop_at: float) -> tuple[Any, float, bool]:
        """Return the best action, its worth for ``seat``, and whether that is exact."""
        self.stop_at = stop_at
        sign = 1 if seat == 0 else -1
        children = self.children(state, seat)
        best, value = children[0][0], -ALL
        try:
            for action, child in children:
                window = (value, ALL) if seat == 0 else (-ALL, -value)
                found = sign * self.value(child, *window)
                if found > value:
                    best, value = action, found
        except (TimeUpError, RecursionError):  # or the line is longer than Python can follow
            return best, value, False
        return best, value, time.monotonic() <= stop_at


solvers: dict[int, Solver] = {}
"""One for each seat this process plays: one in a tournament, two in self-play."""


def begin(match: MatchInfo) -> None:
    """Forget the last match."""
    solvers[match.seat] = Solver(match.game)


def choose(game: Game[Any], state: Any, clock: Clock) -> Any:
    """Return the best action."""
    stop_at = time.monotonic() + clock.time_for_this_action(actions_left=2)
    actions = game.legal_actions(state)
    if len(actions) == 1:
        return actions[0]
    seat = game.seat_to_act(state)
    assert seat is not None
    solver = solvers[seat]
    action, value, is_exact = solver.best(state, seat, stop_at)
    told = "won" if value > WIN / 2 else "lost" if value < -WIN / 2 else "drawn" if is_exact else "unknown"
    is_perfect = is_exact and game.players == 2
    return Choice(action, {"value": told, "perfect": is_perfect, "positions": len(solver.bounds)})


if __name__ == "__main__":
    run(choose, on_match=begin, name="perfect", version="1")
