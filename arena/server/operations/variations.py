"""Variations of a match that was played: one option is changed, and then a vote says which was enjoyed more."""

from __future__ import annotations

import json
from dataclasses import replace

from arena.base.errors import UsageError
from arena.base.text import any_of
from arena.server.gate.operation import Visit
from arena.server.operations.play_choices import menu_of, seats_of
from arena.site.matches.games_model import GameOption
from arena.site.matches.playing import SEATS, Ballot
from arena.store.people.unrated_match import Choices, MatchState, UnratedMatch

MIN_ACTIONS = 3
"""Of a person, and as many of the bot, before a match counts as played."""
MAX_VALUES = 4
"""Of an option that is a variation of the rules; more are sizes."""
TOO_SHORT = f"a match is compared once you and the bot have played {MIN_ACTIONS} actions each, and it is over"


def is_played(one: UnratedMatch) -> bool:
    """Return whether a person has played a match; actions before a position that was played on took no time."""
    actions = json.loads(one.position.actions)
    own = sum(seat == one.choices.seat for seat, *_ in actions)
    answers = sum(seconds is not None for _, _, seconds, *_ in actions)
    return one.position.state is MatchState.OVER and min(own, answers) >= MIN_ACTIONS


def variations_of(visit: Visit, one: UnratedMatch) -> dict[str, Choices]:
    """Return the choices for each variation of a match, by what it changes: ``NAME=VALUE``."""
    game = next((game for game in menu_of(visit.people).games if game.name == one.choices.game), None)
    if game is None or one.choices.challenger or seats_of(one.choices) != SEATS or not is_played(one):
        return {}
    options = {option.name: option.default for option in game.options} | json.loads(one.choices.options)
    changed = {
        f"{option.name}={value}": json.dumps(options | {option.name: value}, sort_keys=True)
        for option in game.options
        if option.name != "players"
        for value in _values(option)
        if value != options[option.name]
    }
    compared = json.dumps(options, sort_keys=True)
    return {change: replace(one.choices, options=text, compared=compared) for change, text in changed.items()}


def _values(option: GameOption) -> tuple[int | str, ...]:
    values = option.choices or tuple(range(option.minimum or 0, (option.maximum or 0) + 1))
    return values if len(values) <= MAX_VALUES else ()


def varied(visit: Visit, one: UnratedMatch, change: str) -> Choices:
    """Return the choices for a variation of a match; raise UsageError for one that it does not have."""
    offered = variations_of(visit, one)
    if change not in offered:
        raise UsageError(f"change {change!r:.80}: expected {any_of(list(offered))}" if offered else TOO_SHORT)
    return offered[change]


def ballot_of(visit: Visit, one: UnratedMatch) -> Ballot | None:
    """Return the question after a variation; None for any other match."""
    if not one.choices.compared:
        return None
    first, second = (json.loads(text) for text in (one.choices.compared, one.choices.options))
    option = next(name for name, value in second.items() if first[name] != value)
    choice = visit.people.votes.after(one.number)
    return Ballot(option=option, values=(first[option], second[option]), is_open=is_played(one), choice=choice)
