#!/usr/bin/env python3
"""What a person can remember: at most five lines for each game (``arena.lab.advice``), without a search.

The lists are those of the games for two: there they keep the outcome against best play from the first action on. Of
the actions that a list leaves it draws one from the match's seed. On a board with more actions than there is time for,
it looks at a part of them.
"""

from __future__ import annotations

import random
import time
from typing import Any

from arena.botkit import Clock, run, spread, until, without_pie
from arena.games import Game
from arena.lab.advice import ADVICE, Step, best_of


def choose(game: Game[Any], state: Any, clock: Clock) -> Any:
    """Return one of the actions that the list of the game leaves."""
    stop_at = time.monotonic() + clock.time_for_this_action()
    seat = game.seat_to_act(state)
    assert seat is not None
    shuffled = (action for _, action in spread(game.legal_actions(state)))
    steps = [Step(game, state, action, game.apply(state, action), seat) for action in until(stop_at, shuffled)]
    for line in ADVICE[game.name].lines.values():
        if len(steps) > 1 and time.monotonic() < stop_at:
            steps = best_of(line, until(stop_at, steps))
    return random.choice(steps).action


if __name__ == "__main__":
    run(without_pie(choose), name="advice", version="1")
