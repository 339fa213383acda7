"""Whether the last choice of a match decided only among the other seats."""

from __future__ import annotations

from typing import Any

from arena.base.results import points_of
from arena.games.game import Game
from arena.lab.measures.simulation import SimulatedMatch


def decides_among_others(game: Game[Any], match: SimulatedMatch) -> bool | None:
    """Return whether the seat with the last choice could change the results of others and not its own.

    Args:
        game: the rules.
        match: a match of three or more.

    Returns:
        None if there was no choice at all, or another one would have followed it.
    """
    last = max((ply for ply, count in enumerate(match.choices) if count > 1), default=None)
    if last is None:
        return None
    state, seat = match.states[last], match.seats[last]
    ends = []
    for action in game.legal_actions(state):
        ranks = _ranks_without_choice(game, game.apply(state, action))
        if ranks is None:
            return None
        ends.append(ranks)
    own = {points_of(ranks, seat) for ranks in ends}
    return len(own) == 1 and len(set(ends)) > 1


def _ranks_without_choice(game: Game[Any], state: Any) -> tuple[int, ...] | None:
    """Return the ranks at the end to which forced actions lead; None if there is a choice before."""
    while actions := game.legal_actions(state):
        if len(actions) > 1:
            return None
        state = game.apply(state, actions[0])
    return tuple(game.ranks(state))
