"""Solves a game by search as far as the time allows: first who wins, then by how much, then which actions are best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from arena.games.game import Game
from arena.lab.solving.limits import Limits
from arena.lab.solving.proofs import Proof
from arena.lab.solving.search import Search
from arena.lab.solving.solution import Solution
from arena.lab.solving.symmetries import up_to_symmetry
from arena.lab.solving.worth import HIGHEST, LOWEST, OUTCOME_UNIT, Known, ranks_follow_scores, worth_between

_OUTCOME_WINDOW = -OUTCOME_UNIT // 2, OUTCOME_UNIT // 2


def search_solution(game: Game[Any], limits: Limits, proof: Proof, bare: Solution) -> Solution:
    """Return what a search of the first state finds until the deadline, and what is proved.

    Args:
        game: the rules of a game for two.
        limits: the time and the memory.
        proof: what strategies prove of the first state.
        bare: a solution that says of which game it is, and nothing else.
    """
    start = game.initial_state()
    search = Search(game, limits)
    low, high = proof.low, proof.high
    depth = 0
    for alpha, beta in (_OUTCOME_WINDOW, (LOWEST, HIGHEST)):
        if low < high:
            found = search.bounds(start, max(alpha, low), min(beta, high))
            low, high, depth = max(low, found.low), min(high, found.high), max(depth, found.depth)
    is_proof = (low, high) == (proof.low, proof.high) and bool(proof.names)
    worth = worth_between(low, high, Known.PROVED if is_proof else Known.SEARCH, ranks_follow_scores(game))
    best, has_all = _best_actions(game, bare.game, search, low) if worth.is_exact else ((), False)
    return replace(
        bare,
        worth=worth,
        best=best,
        has_all_best=has_all,
        states=search.states,
        memory_bytes=search.memory_bytes,
        depth=depth,
    )


def _best_actions(game: Game[Any], path: str, search: Search, value: int) -> tuple[tuple[Any, ...], bool]:
    """Return the first actions that are shown to keep the value, and whether the others are shown not to."""
    start = game.initial_state()
    best, has_all = [], True
    is_first = game.seat_to_act(start) == 0
    firsts = dict(actions_and_states(game, start))
    for action in up_to_symmetry(game, path, tuple(firsts)):
        if is_first:
            found = search.bounds(firsts[action], value - 1, value)
            keeps, loses = found.low >= value, found.high < value
        else:
            found = search.bounds(firsts[action], value, value + 1)
            keeps, loses = found.high <= value, found.low > value
        if keeps:
            best.append(action)
        has_all = has_all and (keeps or loses)
    return tuple(best), has_all


def actions_and_states(game: Game[Any], state: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the legal actions of a state, and the states after them."""
    if not game.is_over(state):
        for action in game.legal_actions(state):
            yield action, game.apply(state, action)
