"""A bot that draws its actions, and fails if the rules say something else in its process than in the arena's."""

from __future__ import annotations

import random
import sys
from typing import Any

from arena.botkit import Choice, Turn, run_on_observations
from arena.games.conformance.calls import Calls
from arena.games.conformance.walks import answers


def choose(turn: Turn) -> Any:
    """Compare the legal actions with those that were sent, and return one of them, noting what else the rules say."""
    game = turn.match.game
    state = game.state_from_observation(turn.observation)
    own = _as_lists(game.legal_actions(state))
    if own != turn.legal:
        where = next((k for k, pair in enumerate(zip(own, turn.legal, strict=False)) if pair[0] != pair[1]), -1)
        sys.exit(
            f"other legal actions than the arena: number {where} is {own[where]} here and {turn.legal[where]} there;"
            " expected an order that does not depend on sets, which differ from process to process"
        )
    found = answers(Calls(game), state)
    return Choice(random.choice(turn.legal), note={method: text.partition(" ")[0] for method, text in found.items()})


def _as_lists(value: Any) -> Any:
    return [_as_lists(part) for part in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    run_on_observations(choose)
