"""Seeded random openings: deterministic bots would otherwise play one match for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from arena.errors import DefinitionError
from arena.games import Game
from arena.tournament.seeds import pick_below

TRIES = 200
"""Openings drawn before one that ends the match, or a repeated one, is put up with or reported."""

Opening = tuple[Any, ...]


def openings(game: Game[Any], plies: int, rng_seed: int) -> Iterator[Opening]:
    """Yield opening 0, 1, 2, … of ``plies`` random legal actions each.

    No opening ends the match or eliminates a seat. Openings differ from all earlier ones as long as new ones are found.

    Raises:
        DefinitionError: if no opening of that many plies leaves everybody in the match.
    """
    seen: set[Opening] = set()
    number = 0
    while True:
        opening = _draw(game, plies, rng_seed, number, seen)
        seen.add(opening)
        yield opening
        number += 1


def _draw(game: Game[Any], plies: int, rng_seed: int, number: int, seen: set[Opening]) -> Opening:
    repeated = None
    for attempt in range(TRIES if plies else 1):
        opening = _random_actions(game, plies, (rng_seed, game.name, number, attempt))
        if opening is None:
            continue
        if opening not in seen:
            return opening
        repeated = opening
        if len(seen) > number + TRIES:
            break
    if repeated is None:
        raise DefinitionError(
            f"opening_plies = {plies}: no random opening of that many plies leaves every seat in a match of {game!r};"
            " fewer are accepted"
        )
    return repeated


def _random_actions(game: Game[Any], plies: int, seed: tuple[object, ...]) -> Opening | None:
    """Return random legal actions, or None if they end the match or eliminate a seat."""
    state = game.initial_state()
    actions = []
    for ply in range(plies):
        legal = game.legal_actions(state)
        action = legal[pick_below(len(legal), "opening", *seed, ply)]
        actions.append(action)
        state = game.apply(state, action)
        if game.is_over(state) or game.seats_out(state):
            return None
    return tuple(actions)
