"""Seeded random openings: without them, deterministic bots would play the same match again and again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from arena.base.errors import DefinitionError
from arena.base.seeds import pick_below
from arena.games import Game
from arena.games.checked_game import check_action

TRIES = 200
"""Openings drawn before it is assumed that no new one exists."""

SAME_TRIES = 20
"""Matches that all end at the same ply show how long a match is."""

MAX_REMEMBERED = 10_000
"""How many openings are remembered to keep later ones different; after that many a repetition does no harm."""

Opening = tuple[Any, ...]


def openings(game: Game[Any], plies: int, rng_seed: int) -> Iterator[Opening]:
    """Yield opening 0, 1, 2, … of ``plies`` random legal actions each.

    No opening ends the match or eliminates a seat. Each differs from all earlier ones as long as there are new ones.

    Args:
        game: from ``checked_game``.
        plies: the length of each opening.
        rng_seed: all openings follow from it.

    Raises:
        DefinitionError: if no opening of that many plies leaves everybody in the match.
        GameError: if the rules of the game are wrong.
    """
    seen: set[Opening] = set()
    looks_for_new = plies > 0
    for number in count():
        fresh = None
        tries = (_random_actions(game, plies, (rng_seed, game.name, number, attempt)) for attempt in range(TRIES))
        drawn = (opening for opening in tries if len(opening) == plies)
        first = next(drawn, None)
        if first is None:
            raise DefinitionError(
                f"opening_plies = {plies}: no random opening of that many plies leaves every seat in a match of"
                f" {game!r}; expected fewer"
            )
        if looks_for_new:
            fresh = first if first not in seen else next((opening for opening in drawn if opening not in seen), None)
            seen.add(fresh or first)
            looks_for_new = fresh is not None and len(seen) < MAX_REMEMBERED
        yield fresh or first


def has_opening(game: Game[Any], plies: int) -> bool:
    """Return whether an opening of that many plies leaves everybody in the match, as far as chance finds one.

    Args:
        game: its rules.
        plies: the length of an opening.
    """
    lengths = []
    for attempt in range(TRIES):
        lengths.append(len(_random_actions(game, plies, ("check", attempt))))
        if lengths[-1] == plies:
            return True
        if len(lengths) == SAME_TRIES and len(set(lengths)) == 1:
            break
    return False


def _random_actions(game: Game[Any], plies: int, seed: tuple[object, ...]) -> Opening:
    """Return random legal actions; fewer than ``plies`` if one more ends the match or eliminates a seat."""
    state = game.initial_state()
    actions = []
    for ply in range(plies):
        legal = game.legal_actions(state)
        action = legal[pick_below(len(legal), "opening", *seed, ply)]
        check_action(game, action)
        state = game.apply(state, action)
        if game.is_over(state) or game.seats_out(state):
            break
        actions.append(action)
    return tuple(actions)
