"""A bot that draws its actions, and fails if the rules say something else in its process than in the arena's."""

from __future__ import annotations

import random
import sys
from typing import Any

from arena.botkit import Turn, run_on_observations


def choose(turn: Turn) -> Any:
    """Compare the legal actions with those that were sent, and return one of them."""
    game = turn.match.game
    own = _as_lists(game.legal_actions(game.state_from_observation(turn.observation)))
    if own != turn.legal:
        where = next((k for k, pair in enumerate(zip(own, turn.legal, strict=False)) if pair[0] != pair[1]), -1)
        sys.exit(
            f"other legal actions than the arena: number {where} is {own[where]} here and {turn.legal[where]} there;"
            " expected an order that does not depend on sets, which differ from process to process"
        )
    return random.choice(turn.legal)


def _as_lists(value: Any) -> Any:
    return [_as_lists(part) for part in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    run_on_observations(choose)
