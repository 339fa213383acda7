"""Why a match ended, and who placed where, forfeits included: the one place that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.base.enums import Termination
from arena.base.ranking import competition_ranks
from arena.games import Game


def final_ranks(game: Game[Any], state: Any, forfeited: Sequence[int]) -> list[int]:
    """Return the final rank of each seat.

    Seats that did not forfeit are ranked among themselves by the rules, as the state stands. Seats that forfeited come
    after all of them; of two, the earlier one is last.

    Args:
        forfeited: the seats that forfeited, in order.
    """
    by_rules = game.ranks(state)
    honest = [seat for seat in range(game.players) if seat not in forfeited]
    ranks = [0] * game.players
    for seat, rank in zip(honest, competition_ranks([by_rules[seat] for seat in honest]), strict=True):
        ranks[seat] = rank
    for order, seat in enumerate(forfeited):
        ranks[seat] = game.players - order
    return ranks


def termination_of(game: Game[Any], state: Any, has_forfeit: bool) -> Termination:
    """Return why a match ended: if nobody forfeited and it is not over by the rules, at its limit of plies."""
    if has_forfeit:
        return Termination.FORFEIT
    return Termination.NORMAL if game.is_over(state) else Termination.ADJUDICATION
