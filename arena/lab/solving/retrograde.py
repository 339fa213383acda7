"""Values of all states of a game, from the ends of matches back to its start.

It uses nothing but the public interface of a game, so it is slow and general: the twin against which every fast solver
is checked, and the way to solve a game from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.base.ranking import points_of
from arena.lab.solving.state_graph import IS_OVER, StateGraph
from arena.lab.solving.worth import value_of

TIE_RULE = "a seat chooses the action that leaves it the largest share, and of equal ones the one listed first"

Shares = tuple[float, ...]


class Retrograde:
    """The value of every state of a game for two.

    Attributes:
        graph: the states.
        values: of each, by number.
    """

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph
        self.values = [0] * len(graph)
        for number in graph.order:
            self.values[number] = self._value(number)

    def _value(self, number: int) -> int:
        seat = self.graph.seats[number]
        if seat == IS_OVER:
            end = self.graph.ends[number]
            return value_of(end.scores, end.ranks)
        values = (self.values[after] for after in self.graph.following(number))
        return max(values) if seat == 0 else min(values)

    def value(self, state: Any) -> int | None:
        """Return the value of a state; None for one that is not in the graph."""
        number = self.graph.numbers.get(state)
        return None if number is None else self.values[number]


def shares_of(graph: StateGraph, players: int) -> list[Shares]:
    """Return, by state, each seat's share of rivals beaten, a tie counting half, when every seat plays for its own.

    This is max^n with ``TIE_RULE``; with another rule for ties the shares may be others.
    """
    points: list[tuple[int, ...]] = [()] * len(graph)
    for number in graph.order:
        seat = graph.seats[number]
        if seat == IS_OVER:
            points[number] = points_of(graph.ends[number].ranks)
        else:
            following = [points[after] for after in graph.following(number)]
            points[number] = max(following, key=lambda after: after[seat])
    return [tuple(one / (2 * (players - 1)) for one in seats) for seats in points]


def paranoid_of(graph: StateGraph, players: int, numbers: Sequence[int] = (0,)) -> list[Shares]:
    """Return the share of rivals beaten that each seat can hold against all others together, in some of the states."""
    held = [_held_by(graph, seat) for seat in range(players)]
    return [tuple(of_seat[number] / (2 * (players - 1)) for of_seat in held) for number in numbers]


def _held_by(graph: StateGraph, mine: int) -> list[int]:
    held = [0] * len(graph)
    for number in graph.order:
        seat = graph.seats[number]
        if seat == IS_OVER:
            held[number] = points_of(graph.ends[number].ranks)[mine]
        else:
            values = (held[after] for after in graph.following(number))
            held[number] = max(values) if seat == mine else min(values)
    return held
