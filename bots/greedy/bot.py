#!/usr/bin/env python3
"""One ply by score: the action after which its own score is furthest ahead of the best other score.

It never looks at what the others may answer. Among equally good actions it draws one from the match's seed.
"""

from __future__ import annotations

import random
from typing import Any

from arena.botkit import Clock, run
from arena.games import Game


def lead(game: Game[Any], state: Any, seat: int) -> float:
    """Return how far ``seat`` is ahead of the best other seat."""
    scores = game.scores(state)
    return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)


def choose(game: Game[Any], state: Any, clock: Clock) -> Any:
    """Return one of the actions with the largest lead."""
    seat = game.seat_to_act(state)
    assert seat is not None
    leads = [(lead(game, game.apply(state, action), seat), action) for action in game.legal_actions(state)]
    best = max(value for value, _ in leads)
    return random.choice([action for value, action in leads if value == best])


run(choose, name="greedy", version="1")
