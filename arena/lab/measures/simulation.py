"""Matches played in this process on the rules alone, and a search whose strength is a number of playouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from random import Random
from typing import Any, TypeVar

from arena.base.errors import GameError
from arena.base.results import points_of
from arena.base.text import counted
from arena.games.game import Game
from arena.lab.solving.state_graph import MAX_PLIES

# Matches that are played in this process, on the rules alone: no bots, no clocks.

T = TypeVar("T")


Strategy = Callable[[Any, Any, Random], Any]
"""Returns a legal action in a state, given the action before, if it was another seat's, and random numbers."""


@dataclass(frozen=True, slots=True)
class SimulatedMatch:
    """A match that was played to its end.

    It has one state more than actions; ``choices`` counts the legal actions before each.
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
    """Play a match; GameError if it does not end. ``check_time`` may raise before each action."""
    state, answered = game.initial_state(), None
    states, actions = [state], list[Any]()
    seats, choices = list[int](), list[int]()
    while (seat := game.seat_to_act(state)) is not None:
        if len(actions) >= MAX_PLIES:
            raise GameError(game.path(), "apply", f"leads to matches of more than {counted(MAX_PLIES, 'action')}")
        check_time()
        choices.append(len(game.legal_actions(state)))
        action = strategies[seat](state, answered if seats and seats[-1] != seat else None, rng)
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


# Whether the last choice of a match decided only among the other seats.


def decides_among_others(game: Game[Any], match: SimulatedMatch) -> bool | None:
    """Return whether the seat with the last choice could change the results of others and not its own.

    None if there was no choice at all, or another one would have followed it.
    """
    last = max((ply for ply, count in enumerate(match.choices) if count > 1), default=None)
    if last is None:
        return None
    state, seat = match.states[last], match.seats[last]
    ends = []
    for action in game.legal_actions(state):
        ranks = _ranks_without_choice(game, game.apply(state, action))
        if ranks is None:
            return None
        ends.append(ranks)
    own = {points_of(ranks, seat) for ranks in ends}
    return len(own) == 1 and len(set(ends)) > 1


def _ranks_without_choice(game: Game[Any], state: Any) -> tuple[int, ...] | None:
    """Return the ranks at the end to which forced actions lead; None if there is a choice before."""
    while actions := game.legal_actions(state):
        if len(actions) > 1:
            return None
        state = game.apply(state, actions[0])
    return tuple(game.ranks(state))


# A search whose strength is a number of random playouts: doubling it is the step of the skill ladder.
#
# Upper confidence bounds applied to trees (L. Kocsis and C. Szepesvari, ECML 2006), for any number of seats: each
# seat maximizes its own share of rivals beaten. It knows nothing of a game but its rules, so the same search measures
# every game.

EXPLORATION = 0.7
"""Weight of what was seldom tried, against points from 0 to 1."""


class _Node:
    __slots__ = ("actions", "children", "points", "seat", "state", "visits")

    def __init__(self, game: Game[Any], state: Any) -> None:
        self.state = state
        self.seat = game.seat_to_act(state)
        self.actions: list[Any] = [] if self.seat is None else list(game.legal_actions(state))
        self.children: list[tuple[Any, _Node]] = []
        self.visits = 0
        self.points = [0.0] * game.players


class TreeSearch:
    """Chooses the action that most playouts have gone to."""

    def __init__(self, game: Game[Any], playouts: int, check_time: Callable[[], None]) -> None:
        self._game = game
        self._playouts = playouts
        self._check_time = check_time

    def choose(self, state: Any, answered: Any, rng: Random) -> Any:
        """Return the most visited action; of equals the one with most points, then any."""
        root = _Node(self._game, state)
        if len(root.actions) == 1:
            return root.actions[0]
        seat = root.seat
        assert seat is not None
        for _ in range(self._playouts):
            self._check_time()
            self._play(root, rng)
        best = max((child.visits, child.points[seat]) for _, child in root.children)
        return next(action for action, child in root.children if (child.visits, child.points[seat]) == best)

    def _play(self, root: _Node, rng: Random) -> None:
        path, node = [root], root
        while not node.actions and node.children:
            node = self._most_promising(node)
            path.append(node)
        if node.actions:
            action = node.actions.pop(int(rng.random() * len(node.actions)))
            child = _Node(self._game, self._game.apply(node.state, action))
            node.children.append((action, child))
            path.append(child)
            node = child
        points = self._playout_points(node.state, rng)
        for visited in path:
            visited.visits += 1
            for seat, gained in enumerate(points):
                visited.points[seat] += gained

    @staticmethod
    def _most_promising(node: _Node) -> _Node:
        seat, breadth = node.seat, EXPLORATION * sqrt(log(node.visits))
        assert seat is not None
        return max(
            (child for _, child in node.children),
            key=lambda child: child.points[seat] / child.visits + breadth / sqrt(child.visits),
        )

    def _playout_points(self, state: Any, rng: Random) -> list[float]:
        game = self._game
        while actions := game.legal_actions(state):
            state = game.apply(state, pick(actions, rng))
        ranks = game.ranks(state)
        return [points_of(ranks, seat) for seat in range(game.players)]
