"""How even the openings of a game are: what states after some random actions are worth with best play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from arena.base.text import counted
from arena.games.game import Game
from arena.lab.measures.estimate import Cluster, Estimate, exactly, share_of
from arena.lab.measures.exact_values import ExactValues
from arena.lab.measures.measure import Row, Unit
from arena.lab.measures.simulation import pick

MAX_PLIES = 4

MAX_ENUMERATED = 5000
"""States after some actions; where there are more, openings are drawn at random."""

_OUTCOMES = {1: "won by seat 0", 0: "drawn", -1: "lost by seat 0"}


def opening_balance(
    game: Game[Any], values: ExactValues, plies: int, seeds: Sequence[int], check_time: Callable[[], None]
) -> tuple[Row, ...]:
    """Return the shares of openings that are won, drawn and lost; exact where all of them are looked at.

    Args:
        game: the rules.
        values: of all states.
        plies: of how many random actions an opening consists.
        seeds: a number for each opening that is drawn, where there are too many for all.
        check_time: called before each.
    """
    chances = _all_openings(game, plies)
    if chances is None:
        outcomes = []
        for seed in seeds:
            check_time()
            outcomes.append(values.of(_drawn(game, plies, Random(seed))))
        found = {sign: share_of([Cluster(float(one.outcome == sign)) for one in outcomes]) for sign in _OUTCOMES}
    else:
        totals = dict.fromkeys(_OUTCOMES, 0.0)
        for state, chance in chances.items():
            check_time()
            totals[values.of(state).outcome] += chance
        found = {sign: exactly(total, len(chances)) for sign, total in totals.items()}
    at = f"after {counted(plies, 'random action')}"
    return tuple(_rows(found, at))


def _rows(found: dict[int, Estimate | None] | dict[int, Estimate], at: str) -> list[Row]:
    return [
        Row(name=_OUTCOMES[sign], at=at, unit=Unit.SHARE, estimate=estimate)
        for sign, estimate in found.items()
        if estimate is not None
    ]


def _all_openings(game: Game[Any], plies: int) -> dict[Any, float] | None:
    """Return the states after random actions with their probabilities; None if there are too many."""
    chances = {game.initial_state(): 1.0}
    for _ in range(plies):
        following: dict[Any, float] = {}
        for state, chance in chances.items():
            actions = game.legal_actions(state)
            if not actions:
                following[state] = following.get(state, 0.0) + chance
            for action in actions:
                after = game.apply(state, action)
                following[after] = following.get(after, 0.0) + chance / len(actions)
            if len(following) > MAX_ENUMERATED:
                return None
        chances = following
    return chances


def _drawn(game: Game[Any], plies: int, rng: Random) -> Any:
    state = game.initial_state()
    for _ in range(plies):
        actions = game.legal_actions(state)
        if not actions:
            break
        state = game.apply(state, pick(actions, rng))
    return state
