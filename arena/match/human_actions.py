"""What people do in a match, at a terminal or in a browser: type an action, take one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.games import Game


def read_action(game: Game[Any], state: Any, legal: Sequence[Any], text: str) -> Any:
    """Return what a person has typed as an action; raise IllegalActionError if it breaks a rule."""
    action = game.parse_action(text)
    if action not in legal:
        game.apply(state, action)  # which says why not
    return action


def kept_after_undo(actions: Sequence[Sequence[Any]], seat: int) -> int | None:
    """Return how many actions stay when a person takes the last one of their own back; None without one."""
    own = [ply for ply, (actor, *_) in enumerate(actions) if actor == seat]
    return own[-1] if own else None
