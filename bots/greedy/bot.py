#!/usr/bin/env python3
"""One ply by score: the action after which its own score is furthest ahead of the best other score.

It never looks at what the others may answer. Among equally good actions it draws one from the match's seed. In a game
with thousands of actions it looks at as many as its time allows.
"""

from __future__ import annotations

import random
import time
from typing import Any

from arena.botkit import Clock, run, spread, until
from arena.games import Game


def lead(game: Game[Any], state: Any, seat: int) -> float:
    """Return how far ``seat`` is ahead of the best other seat."""
    scores = game.scores(state)
    return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)


def choose(game: Game[Any], state: Any, clock: Clock) -> Any:
    """Return one of the actions with the largest lead."""
    seat = game.seat_to_act(state)
    assert seat is not None
    stop_at = time.monotonic() + clock.time_for_this_action()
    actions = game.legal_actions(state)
    leads = {number: lead(game, game.apply(state, action), seat) for number, action in until(stop_at, spread(actions))}
    best = max(leads.values())
    return random.choice([actions[number] for number in sorted(leads) if leads[number] == best])


run(choose, name="greedy", version="1")
