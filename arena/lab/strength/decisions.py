"""Whether an action keeps what its position is worth with best play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.games import Game
from arena.lab.oracle import ActionWorth, Oracle
from arena.lab.worth import Outcome
from arena.store.rows import as_json

_POINTS = {Outcome.WIN: 1, Outcome.DRAW: 0, Outcome.LOSS: -1}
"""Of seat 0."""

Value = tuple[int, float]
"""Outcome and margin, as large as they are good for a seat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What an action of a bot keeps of the exact value of its position.

    Attributes:
        is_known: whether the values of all legal actions are known exactly.
        value: whether it keeps outcome and margin; None if every legal action does, or it is not known.
        outcome: whether it keeps the outcome; None if every legal action does, or it is not known.
    """

    is_known: bool = True
    value: bool | None = None
    outcome: bool | None = None


def decision_of(game: Game[Any], oracle: Oracle, state: Any, action: Any) -> Decision:
    """Return what a legal action keeps.

    Args:
        game: the rules.
        oracle: that of the game.
        state: in which a seat is to act.
        action: what it did.
    """
    legal = list(game.legal_actions(state))
    if len(legal) == 1:
        return Decision()
    seat = game.seat_to_act(state)
    assert seat is not None
    actions = oracle.exact_actions(state)
    values = None if actions is None else _values(actions, 1 if seat == 0 else -1)
    if values is None:
        return Decision(is_known=False)
    texts = [as_json(one) for one in legal]
    if as_json(action) not in texts:  # the rules accept other spellings of an action
        return Decision(is_known=False)
    chosen, best, worst = values[texts.index(as_json(action))], max(values), min(values)
    return Decision(
        value=None if best == worst else chosen == best,
        outcome=None if best[0] == worst[0] else chosen[0] == best[0],
    )


def _values(actions: Sequence[ActionWorth], sign: int) -> list[Value] | None:
    """Return what the actions are worth to a seat; None unless all are known exactly."""
    found: list[Value] = []
    for one in actions:
        outcome, margin = one.worth.outcome, one.worth.margin
        if outcome is None or margin is None:
            return None
        found.append((sign * _POINTS[outcome], sign * margin))
    return found
