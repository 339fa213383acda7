"""What a player is asked in a position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.games import Game
from arena.match.clock import SeatClock
from arena.match.players.player import Request
from arena.protocol.messages import Wants


def build_request(
    game: Game[Any],
    state: Any,
    wants: Wants,
    clock: SeatClock,
    ply: int,
    actions: Sequence[Any],
    margin_seconds: float,
) -> Request:
    """Return the question for the seat to act, with the fields that its player wants.

    Args:
        game: the rules.
        state: the position.
        wants: the parts of the question that the player wants.
        clock: of the seat.
        ply: the number of actions so far.
        actions: ``[seat, action]`` for every action since the player was last asked.
        margin_seconds: forgiven beyond the clock.
    """
    return Request(
        ply,
        actions,
        clock.allowed_seconds(),
        clock.bank_seconds,
        margin_seconds,
        game.observation(state) if wants.observation else None,
        game.legal_actions(state) if wants.legal else None,
    )
