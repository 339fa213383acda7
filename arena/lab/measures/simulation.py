"""Matches that are played in this process, on the rules alone: no bots, no clocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeVar

from arena.base.errors import GameError
from arena.base.text import counted
from arena.games.game import Game
from arena.lab.solving.state_graph import MAX_PLIES

T = TypeVar("T")


class Strategy(Protocol):
    """What chooses actions in a simulated match."""

    def choose(self, state: Any, answered: Any, rng: Random) -> Any:
        """Return a legal action.

        Args:
            state: a state that is not the end.
            answered: the action before, if it was that of another seat; None if not.
            rng: the random numbers of the match.
        """


@dataclass(frozen=True, slots=True)
class SimulatedMatch:
    """A match that was played to its end.

    Attributes:
        states: all states, from the first to the last.
        actions: what led from each to the next.
        seats: who acted.
        choices: how many legal actions there were.
        scores: at the end.
        ranks: at the end.
    """

    states: tuple[Any, ...]
    actions: tuple[Any, ...]
    seats: tuple[int, ...]
    choices: tuple[int, ...]
    scores: tuple[int | float, ...]
    ranks: tuple[int, ...]


def pick(values: Sequence[T], rng: Random) -> T:
    """Return one of several values; the same with every version of Python."""
    return values[int(rng.random() * len(values))]


def simulate(
    game: Game[Any], strategies: Sequence[Strategy], rng: Random, check_time: Callable[[], None]
) -> SimulatedMatch:
    """Play a match.

    Args:
        game: the rules.
        strategies: of each seat.
        rng: all randomness of the match.
        check_time: called before each action; it may raise what ends the match.

    Raises:
        GameError: if it does not end.
    """
    state, answered = game.initial_state(), None
    states, actions = [state], list[Any]()
    seats, choices = list[int](), list[int]()
    while (seat := game.seat_to_act(state)) is not None:
        if len(actions) >= MAX_PLIES:
            raise GameError(game.path(), "apply", f"leads to matches of more than {counted(MAX_PLIES, 'action')}")
        check_time()
        choices.append(len(game.legal_actions(state)))
        action = strategies[seat].choose(state, answered if seats and seats[-1] != seat else None, rng)
        state = game.apply(state, action)
        states.append(state)
        actions.append(action)
        seats.append(seat)
        answered = action
    return SimulatedMatch(
        tuple(states),
        tuple(actions),
        tuple(seats),
        tuple(choices),
        tuple(game.scores(state)),
        tuple(game.ranks(state)),
    )
