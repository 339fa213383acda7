#!/usr/bin/env python3
"""Monte Carlo tree search: UCT (Kocsis and Szepesvári, 2006) with random playouts, for any number of seats.

Actions are tried in the order of the lead they bring at once, and a position visited n times looks at about √n of them
(progressive widening; Coulom, 2007), so that a hundred playouts are not spread over a hundred actions.

Each node keeps, for the seat that chose it, the average reward of the playouts that went through it. A playout rewards
a seat with its share of beaten rivals, and a little with its share of the score, so that a won match is still played
for every point. The bot thinks for most of its time per action, or, with a bank, for the part of it that this action
deserves; it answers at once when there is nothing to choose or when no other action can catch up any more.

Where a position has thousands of actions, or a match thousands of plies, it also looks at the clock while it puts
actions in order and while it plays out; a playout that is cut short counts as the scores stand.

With ``--rollouts N`` it makes N playouts per action instead of watching the clock; it is then deterministic from the
match's seed. The other arguments are parameters of the search, so that ``arena tune`` can look for better ones.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any

from arena.botkit import Choice, Clock, run, until
from arena.games import Game

Rewards = list[float]


@dataclass(frozen=True, slots=True)
class Settings:
    """Parameters of the search.

    Attributes:
        exploration: how much a child that was seldom visited is preferred.
        widening: a position visited n times looks at widening times √n actions.
        score_weight: how much of a reward is for points, the rest being for beaten rivals.
        sample: from how many random actions a playout takes the best.
    """

    exploration: float = 0.6
    widening: float = 1.0
    score_weight: float = 0.2
    sample: int = 8


class Node:
    """A position in the tree, with the statistics of the action that led to it."""

    __slots__ = ("action", "children", "seat", "state", "total", "untried", "visits")

    def __init__(self, game: Game[Any], state: Any, action: Any) -> None:
        self.state = state
        self.action = action
        self.seat = game.seat_to_act(state)
        self.untried: list[Any] | None = None
        self.children: list[Node] = []
        self.visits = 0
        self.total = 0.0

    def next_action(self, game: Game[Any], widening: float, stop_at: float) -> Any | None:
        """Take the most promising action not tried yet, if this position has been visited often enough for one more."""
        if self.seat is None or len(self.children) > widening * math.sqrt(self.visits):
            return None
        if self.untried is None:
            self.untried = by_lead(game, self.state, self.seat, stop_at)
        return self.untried.pop() if self.untried else None

    def most_promising_child(self, exploration: float) -> Node:
        """Return the child with the highest upper confidence bound."""
        log_visits = math.log(self.visits)
        return max(
            self.children,
            key=lambda child: child.total / child.visits + exploration * math.sqrt(log_visits / child.visits),
        )


def lead(game: Game[Any], seat: int, state: Any) -> float:
    """Return how far ``seat`` is ahead of the best other seat."""
    scores = game.scores(state)
    return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)


def by_lead(game: Game[Any], state: Any, seat: int, stop_at: float) -> list[Any]:
    """Return the legal actions, those with the largest lead after them last; equal ones in random order.

    Actions that there is no time for are left out.
    """
    actions = list(game.legal_actions(state))
    random.shuffle(actions)
    leads = [(lead(game, seat, game.apply(state, action)), action) for action in until(stop_at, actions)]
    return [action for _, action in sorted(leads, key=itemgetter(0))]


def rewards_of(game: Game[Any], state: Any, score_weight: float) -> Rewards:
    """Return each seat's reward, from 0 to 1, for a match that has ended."""
    scores = game.scores(state)
    everything = sum(scores) or 1
    rivals = len(scores) - 1
    rewards = []
    for mine in scores:
        beaten = sum((mine > other) + (mine == other) / 2 for other in scores) - 0.5
        rewards.append((1 - score_weight) * beaten / rivals + score_weight * mine / everything)
    return rewards


def playout(game: Game[Any], state: Any, settings: Settings, stop_at: float) -> Rewards:
    """Play to the end, each time with the one of a few random actions that brings the largest lead."""
    while (seat := game.seat_to_act(state)) is not None and time.monotonic() < stop_at:
        actions = game.legal_actions(state)
        sample = random.sample(actions, min(settings.sample, len(actions)))
        after = [game.apply(state, action) for action in sample]
        state = max(after, key=partial(lead, game, seat)) if len(after) > 1 else after[0]
    return rewards_of(game, state, settings.score_weight)


def grow(game: Game[Any], root: Node, settings: Settings, stop_at: float) -> None:
    """Walk down, add one node, play it out, and carry the rewards back up."""
    path = [root]
    node = root
    while (action := node.next_action(game, settings.widening, stop_at)) is None and node.children:
        node = node.most_promising_child(settings.exploration)
        path.append(node)
    if action is not None:
        child = Node(game, game.apply(node.state, action), action)
        node.children.append(child)
        path.append(child)
        node = child
    rewards = playout(game, node.state, settings, stop_at)
    root.visits += 1
    for parent, child in pairwise(path):
        child.visits += 1
        assert parent.seat is not None
        child.total += rewards[parent.seat]


def is_decided(root: Node, playouts_left: float) -> bool:
    """Return whether the most visited action can't be caught up with any more."""
    if len(root.children) < 2:
        return False
    first, second = sorted((child.visits for child in root.children), reverse=True)[:2]
    return first - second > playouts_left


def search(game: Game[Any], state: Any, settings: Settings, keep_going: Callable[[int], float], stop_at: float) -> Node:
    """Grow a tree until ``keep_going(playouts so far)``, the number of playouts still to come, is 0."""
    root = Node(game, state, None)
    while (left := keep_going(root.visits)) > 0:
        if root.visits % 32 == 0 and is_decided(root, left):
            break
        grow(game, root, settings, stop_at)
    return root


def choose(game: Game[Any], state: Any, clock: Clock, rollouts: int | None, settings: Settings) -> Any:
    """Return the action visited most."""
    started = time.monotonic()
    stop_at = started + clock.time_for_this_action()
    actions = game.legal_actions(state)
    if len(actions) == 1:
        return actions[0]
    if rollouts is not None:
        limit = rollouts
        root = search(game, state, settings, lambda done: limit - done, math.inf)
    else:

        def playouts_left(done: int) -> float:
            now = time.monotonic()
            rate = done / (now - started) if done else 1000.0
            return max(0.0, stop_at - now) * rate if now < stop_at or done == 0 else 0.0

        root = search(game, state, settings, playouts_left, stop_at)
    best = max(root.children, key=lambda child: child.visits)
    note = {"value": round(best.total / best.visits, 3), "playouts": root.visits}
    return Choice(best.action, note)


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Monte Carlo tree search")
    parser.add_argument("--rollouts", type=int, help="playouts per action, instead of watching the clock")
    usual = Settings()
    parser.add_argument("--exploration", type=float, default=usual.exploration, help="of what was seldom visited")
    parser.add_argument("--widening", type=float, default=usual.widening, help="times √n actions after n visits")
    parser.add_argument("--score-weight", type=float, default=usual.score_weight, help="of points, from 0 to 1")
    parser.add_argument("--sample", type=int, default=usual.sample, help="random actions a playout takes the best of")
    arguments = parser.parse_known_args()[0]  # --selfplay is for the kit
    settings = Settings(arguments.exploration, arguments.widening, arguments.score_weight, arguments.sample)
    run(
        lambda game, state, clock: choose(game, state, clock, arguments.rollouts, settings),
        name="mcts",
        version="1",
    )


main()
