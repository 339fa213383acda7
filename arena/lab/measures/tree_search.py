"""A search whose strength is a number of random playouts: doubling it is the step of the skill ladder.

Upper confidence bounds applied to trees (L. Kocsis and C. Szepesvari, ECML 2006), for any number of seats: each
seat maximizes its own share of rivals beaten. It knows nothing of a game but its rules, so the same search measures
every game.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from random import Random
from typing import Any

from arena.base.results import points_of
from arena.games.game import Game
from arena.lab.measures.simulation import pick

EXPLORATION = 0.7
"""Weight of what was seldom tried, against points from 0 to 1."""


class _Node:
    """A state of the tree, and what its playouts gave each seat."""

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
        """Prepare a search.

        Args:
            game: the rules.
            playouts: how many matches it plays to their ends before it acts.
            check_time: called before each of them.
        """
        self._game = game
        self._playouts = playouts
        self._check_time = check_time

    def choose(self, state: Any, answered: Any, rng: Random) -> Any:
        """Return the action that was looked at most; of equals the one with most points, then any."""
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
        """Play one playout: down the tree, one new state, then at random to the end."""
        path, node = [root], root
        while not node.actions and node.children:
            node = self._followed(node)
            path.append(node)
        if node.actions:
            action = node.actions.pop(int(rng.random() * len(node.actions)))
            child = _Node(self._game, self._game.apply(node.state, action))
            node.children.append((action, child))
            path.append(child)
            node = child
        points = self._played_out(node.state, rng)
        for one in path:
            one.visits += 1
            for seat, gained in enumerate(points):
                one.points[seat] += gained

    @staticmethod
    def _followed(node: _Node) -> _Node:
        seat, breadth = node.seat, EXPLORATION * sqrt(log(node.visits))
        assert seat is not None
        return max(
            (child for _, child in node.children),
            key=lambda child: child.points[seat] / child.visits + breadth / sqrt(child.visits),
        )

    def _played_out(self, state: Any, rng: Random) -> list[float]:
        game = self._game
        while actions := game.legal_actions(state):
            state = game.apply(state, pick(actions, rng))
        ranks = game.ranks(state)
        return [points_of(ranks, seat) for seat in range(game.players)]
