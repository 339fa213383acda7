"""The clock of one seat, and what a player is asked in a position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.base.records import TimeControl
from arena.games import Game
from arena.match.players.player import Request
from arena.protocol.messages import Wants

# The clock of one seat: how long an action may take, and what is left of the bank. It measures no time itself.

NO_LIMIT_SECONDS = 24 * 3600.0
"""Used where a time control sets neither a limit per action nor a bank; it keeps every wait finite."""


class SeatClock:
    """Keeps the bank of one seat through a match."""

    def __init__(self, time_control: TimeControl) -> None:
        per_action = time_control.per_action_seconds
        self._per_action = NO_LIMIT_SECONDS if per_action is None else float(per_action)
        self._increment = time_control.increment_seconds
        self.bank_seconds = None if time_control.bank_seconds is None else float(time_control.bank_seconds)

    def allowed_seconds(self) -> float:
        """Return how long the next action may take: the lower of the limit per action and the bank."""
        if self.bank_seconds is None:
            return self._per_action
        return min(self._per_action, self.bank_seconds)

    def charge(self, seconds: float) -> None:
        """Subtract an action's time from the bank, down to zero (the margin is forgiven), then add the increment."""
        if self.bank_seconds is not None:
            self.bank_seconds = max(0.0, self.bank_seconds - seconds) + self._increment


def build_request(
    game: Game[Any],
    state: Any,
    wants: Wants,
    clock: SeatClock,
    ply: int,
    actions: Sequence[Any],
    margin_seconds: float,
) -> Request:
    """Return the question for the seat to act, with the fields that its player wants."""
    return Request(
        ply,
        actions,
        clock.allowed_seconds(),
        clock.bank_seconds,
        margin_seconds,
        game.observation(state) if wants.observation else None,
        game.legal_actions(state) if wants.legal else None,
    )
