"""Openings as texts: read by the rules, and played in an order that follows from the seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.base.errors import DefinitionError, IllegalActionError
from arena.base.seeds import derived_seed
from arena.base.text import shortened_text
from arena.games import Game
from arena.tournament.openings import Opening

MAX_LINES = 10_000
"""Openings of a tournament; more would not be remembered at random, either."""

MAX_TEXT = 20_000
"""Characters of an opening: longer than that of any match."""


def text_of(game: Game[Any], opening: Opening) -> str:
    """Return an opening as text.

    Raises:
        DefinitionError: if the game writes an action so that it can't be read from among others.
    """
    texts = [game.format_action(action) for action in opening]
    for text in texts:
        if not text or text.split() != [text]:
            raise DefinitionError(
                f"the actions of {game.name} can't be written into a line: {shortened_text(repr(text))} is empty or"
                " has a space"
            )
    return " ".join(texts)


def read_lines(game: Game[Any], lines: Sequence[str], where: str) -> list[Opening]:
    """Return openings from their texts.

    Args:
        game: from ``checked_game``.
        lines: the texts.
        where: they come from, for the message.

    Raises:
        DefinitionError: if they are none or too many; or one is illegal, ends the match, takes a seat out, or is there
            twice.
        GameError: if the rules of the game are wrong.
    """
    if not 1 <= len(lines) <= MAX_LINES:
        raise DefinitionError(f"{where}: {len(lines):,} openings; expected 1 to {MAX_LINES:,}")
    numbers: dict[Opening, int] = {}
    for number, text in enumerate(lines, 1):
        place = f"{where}: opening {number} ({shortened_text(repr(text))})"
        opening = _read(game, text, place)
        if opening in numbers:
            raise DefinitionError(f"{place}: it is opening {numbers[opening]} as well")
        numbers[opening] = number
    return list(numbers)


def _read(game: Game[Any], text: str, place: str) -> Opening:
    if len(text) > MAX_TEXT:
        raise DefinitionError(f"{place}: more than {MAX_TEXT:,} characters")
    state = game.initial_state()
    actions = []
    for word in text.split():
        try:
            action = game.parse_action(word)
            state = game.apply(state, action)
        except IllegalActionError as error:
            raise DefinitionError(f"{place}: {shortened_text(repr(word))} is illegal: {error.reason}") from error
        actions.append(action)
        if game.is_over(state) or game.seats_out(state):
            ends = "ends the match" if game.is_over(state) else "takes a seat out of the match"
            raise DefinitionError(f"{place}: {shortened_text(repr(word))} {ends}; expected a shorter opening")
    return tuple(actions)


class ListedOpenings:
    """Openings from a list, by number: all of them in an order that follows from the seed, then all in another."""

    def __init__(self, openings: Sequence[Opening], *seed: object) -> None:
        self._openings = openings
        self._seed = seed
        self._turn = -1
        self._order: list[int] = []

    def take(self, number: int) -> Opening:
        """Return the opening of a number, from 0."""
        turn, place = divmod(number, len(self._openings))
        if turn != self._turn:
            self._order = _order(len(self._openings), *self._seed, turn)
            self._turn = turn
        return self._openings[self._order[place]]


def _order(length: int, *seed: object) -> list[int]:
    """Return the numbers below ``length`` in an order that follows from the seed."""
    return sorted(range(length), key=lambda k: derived_seed("order of openings", *seed, k))
