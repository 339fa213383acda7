#!/usr/bin/env python3
"""Any legal action, each as likely as the others: the floor of every table.

The choice is drawn from the match's seed, so the same match comes out the same again.
"""

from __future__ import annotations

import random
from typing import Any

from arena.botkit import Clock, run
from arena.games import Game


def choose(game: Game[Any], state: Any, clock: Clock) -> Any:
    """Draw one of the legal actions."""
    return random.choice(list(game.legal_actions(state)))


run(choose, name="random_legal", version="1")
