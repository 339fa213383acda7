"""Best play by the rules in Python, in the small games with which kernels are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from arena.games import Game

Value = TypeVar("Value")


def value_states(
    game: Game[Any], at_end: Callable[[Any], Value], after_best: Callable[[int, list[Value]], Value]
) -> dict[Any, Value]:
    """Return the value of the first state and of all that follow; matches of small games are short.

    Args:
        game: the rules.
        at_end: returns the value of a state in which the match is over.
        after_best: returns the value of a state, given the seat to act and the values after its legal actions in turn.
    """
    values: dict[Any, Value] = {}

    def value(state: Any) -> Value:
        known = values.get(state)
        if known is not None:
            return known
        seat = game.seat_to_act(state)
        if seat is None:
            found = at_end(state)
        else:
            found = after_best(seat, [value(game.apply(state, action)) for action in game.legal_actions(state)])
        values[state] = found
        return found

    value(game.initial_state())
    return values
