"""Which options a bot is tried with: unusual sizes in every seat, and every option at its bounds in one seat."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from arena.base.errors import OptionError, UsageError
from arena.games import Game, find_game, make_game
from arena.games.conformance.suite import variants
from arena.games.options import IntOption

MAX_PLIES_OF_SEAT = 100
MAX_LISTED = 20_000
"""A variant is left out if a match of random actions has more plies for each seat, or lists more legal actions."""


class Bounds(NamedTuple):
    """A game with each option at its lowest and highest, and with each choice.

    Attributes:
        tried: the options that are tried.
        left_out: those with which a match takes too long.
    """

    tried: list[dict[str, Any]]
    left_out: list[dict[str, Any]]


def bounds_of(game: str) -> Bounds:
    """Return the variants of a game that ``odd_options`` does not have."""

    def fitting(changed: dict[str, Any]) -> Game[Any] | None:
        try:
            return make_game(game, **changed)
        except OptionError:
            return None

    bounds = Bounds([], [])
    odd = odd_options(game)
    for changed, rules in variants(find_game(game).OPTIONS, fitting):
        if changed not in odd:
            (bounds.tried if _is_short(rules) else bounds.left_out).append(changed)
    return bounds


def _is_short(rules: Game[Any]) -> bool:
    """Return whether a match of random actions stays within MAX_PLIES_OF_SEAT and MAX_LISTED."""
    draw = random.Random(0)
    state = rules.initial_state()
    listed = 0
    for _ in range(MAX_PLIES_OF_SEAT * rules.players + 1):
        if rules.is_over(state):
            return True
        legal = rules.legal_actions(state)
        listed += len(legal)
        if listed > MAX_LISTED:
            return False
        state = rules.apply(state, draw.choice(legal))
    return False


def odd_options(game: str) -> list[dict[str, Any]]:
    """Return unusual options of a game: the smallest and an odd size, and three players where the game allows them."""
    unusual = []
    for option in find_game(game).OPTIONS:
        if not isinstance(option, IntOption):
            continue
        if option.name == "players":
            values = [3]
        elif option.name == "size":
            values = [option.minimum, option.default + 1 + option.default % 2]
        else:
            continue
        for value in values:
            try:
                make_game(game, **{option.name: value})
            except UsageError:
                continue
            if option.minimum <= value <= option.maximum and value != option.default:
                unusual.append({option.name: value})
    return unusual


def options_text(options: dict[str, Any]) -> str:
    """Return options as text, such as "size = 9"."""
    return ", ".join(f"{name} = {value}" for name, value in options.items())
