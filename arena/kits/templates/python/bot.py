#!/usr/bin/env python3
"""@NAME@: a bot on arena.botkit, which speaks the protocol and keeps the position."""

from __future__ import annotations

import random
from typing import Any

from arena.botkit import Choice, Clock, run
from arena.games import Game


def choose(game: Game[Any], state: Any, clock: Clock) -> Any:
    """Return an action: here any of the legal ones.

    Args:
        game: the rules. game.apply(state, action) is the position after an action, game.scores(state) what each seat
            has, game.seat_to_act(state) whose turn it is; they may be called at any time.
        state: the position, with the fields the game's own rules use.
        clock: clock.time_for_this_action() returns how many seconds to think.
    """
    actions = list(game.legal_actions(state))
    # YOUR IDEA GOES HERE: return the action you like best instead.
    action = random.choice(actions)  # random is seeded by the arena, so a match can be played again
    return Choice(action, note=f"one of {len(actions)}")  # the note is shown in replays


if __name__ == "__main__":
    run(choose, name="@NAME@")
