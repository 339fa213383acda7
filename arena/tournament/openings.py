"""Openings: drawn from a seed, as texts that the rules read, and in books."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from arena.base.checked_files import check_model, read_toml
from arena.base.definition import Definition, GameChoice
from arena.base.errors import DefinitionError, IllegalActionError, UsageError
from arena.base.seeds import derived_seed, pick_below
from arena.base.text import shortened_text, toml_value
from arena.games import Game, make_game
from arena.games.checked_game import check_action, checked_game
from arena.games.pie import PieState

# Seeded random openings: without them, deterministic bots would play the same match again and again.

TRIES = 200
"""How many openings are drawn before the arena assumes that no new one exists."""

SAME_TRIES = 20
"""How many random matches must end at the same ply to show that every match has this length."""

MAX_REMEMBERED = 10_000
"""How many openings are remembered, to keep later ones different; beyond that number, a repetition does no harm."""

Opening = tuple[Any, ...]


def openings(game: Game[Any], plies: int, rng_seed: int) -> Iterator[Opening]:
    """Yield opening 0, 1, 2, … of ``plies`` random legal actions each.

    No opening ends the match or eliminates a seat. Each differs from all earlier ones as long as there are new ones.

    Args:
        game: from ``checked_game``.
    """
    seen: set[Opening] = set()
    looks_for_new = plies > 0
    for number in count():
        fresh = None
        tries = (_random_actions(game, plies, (rng_seed, game.name, number, attempt)) for attempt in range(TRIES))
        drawn = (opening for opening in tries if len(opening) == plies)
        first = next(drawn, None)
        if first is None:
            raise DefinitionError(f"opening_plies = {plies}: {no_opening_reason(game, f'a match of {game!r}')}")
        if looks_for_new:
            fresh = first if first not in seen else next((opening for opening in drawn if opening not in seen), None)
            seen.add(fresh or first)
            looks_for_new = fresh is not None and len(seen) < MAX_REMEMBERED
        yield fresh or first


def distinct_openings(game: Game[Any], plies: int, rng_seed: int, most: int) -> Iterator[Opening]:
    """Yield openings until one comes again: then there are no others that are found easily; at most ``most``."""
    seen: set[Opening] = set()
    for opening in islice(openings(game, plies, rng_seed), most):
        if opening in seen:
            return
        seen.add(opening)
        yield opening


def has_opening(game: Game[Any], plies: int) -> bool:
    """Return whether random tries find an opening of that many plies that leaves everybody in the match."""
    lengths = []
    for attempt in range(TRIES):
        lengths.append(len(_random_actions(game, plies, ("check", attempt))))
        if lengths[-1] == plies:
            return True
        if len(lengths) == SAME_TRIES and len(set(lengths)) == 1:
            break
    return False


def no_opening_reason(game: Game[Any], match: str) -> str:
    """Return why there is no opening with the number of plies."""
    start = game.initial_state()
    if isinstance(start, PieState):
        return f"an opening ends before seat 1 keeps or swaps; expected {start.left} or fewer, as pie = {start.left}"
    return f"no random opening of that many plies leaves every seat in {match}; expected fewer"


def _random_actions(game: Game[Any], plies: int, seed: tuple[object, ...]) -> Opening:
    state = game.initial_state()
    actions = []
    for ply in range(plies):
        legal = game.legal_actions(state)
        action = legal[pick_below(len(legal), "opening", *seed, ply)]
        check_action(game, action)
        state = game.apply(state, action)
        if game.is_over(state) or game.seats_out(state) or _is_chosen(state):
            break
        actions.append(action)
    return tuple(actions)


def _is_chosen(state: Any) -> bool:
    """Return whether the choice of the pie rule has been made, which is for the bots."""
    return isinstance(state, PieState) and bool(state.choice)


KEPT_OPENINGS = 100_000
"""How many drawn openings stay in memory, of about 200 bytes each."""


class RandomOpenings:
    """Random openings by number; for one before the latest, which are kept, all are drawn again."""

    def __init__(self, draw: Callable[[], Iterator[Opening]]) -> None:
        self._draw = draw
        self._begin()

    def _begin(self) -> None:
        self._coming = self._draw()
        self._latest = deque[Opening](maxlen=KEPT_OPENINGS)
        self._drawn = 0

    def take(self, number: int) -> Opening:
        """Return the opening of a number."""
        if number < self._drawn - len(self._latest):
            self._begin()
        while self._drawn <= number:
            self._latest.append(next(self._coming))
            self._drawn += 1
        return self._latest[number - self._drawn]


# Openings as texts: read by the rules, and played in an order that follows from the seed.

MAX_LINES = 10_000
"""The most openings of a tournament; of random openings, too, no more are remembered."""

MAX_TEXT = 20_000
"""The most characters of an opening: more than any match needs."""


def text_of(game: Game[Any], opening: Opening) -> str:
    """Return an opening as text."""
    texts = [game.format_action(action) for action in opening]
    for text in texts:
        if not text or text.split() != [text]:
            raise DefinitionError(
                f"the actions of {game.name} can't be written into a line: {shortened_text(repr(text))} is empty or"
                " has a space"
            )
    return " ".join(texts)


def read_lines(game: Game[Any], lines: Sequence[str], where: str) -> list[Opening]:
    """Return openings from their texts."""
    if not 1 <= len(lines) <= MAX_LINES:
        raise DefinitionError(f"{where}: {len(lines):,} openings; expected 1 to {MAX_LINES:,}")
    numbers: dict[Opening, int] = {}
    for number, text in enumerate(lines, 1):
        opening_shown = f"{where}: opening {number} ({shortened_text(repr(text))})"
        opening = _read(game, text, opening_shown)
        if opening in numbers:
            raise DefinitionError(f"{opening_shown}: it is opening {numbers[opening]} as well")
        numbers[opening] = number
    return list(numbers)


def _read(game: Game[Any], text: str, where: str) -> Opening:
    if len(text) > MAX_TEXT:
        raise DefinitionError(f"{where}: more than {MAX_TEXT:,} characters")
    state = game.initial_state()
    actions = []
    for word in text.split():
        try:
            action = game.parse_action(word)
            state = game.apply(state, action)
        except IllegalActionError as error:
            raise DefinitionError(f"{where}: {shortened_text(repr(word))} is illegal: {error.reason}") from error
        actions.append(action)
        if _is_chosen(state):
            raise DefinitionError(
                f"{where}: {shortened_text(repr(word))} is for seat 1 to say; expected a shorter opening"
            )
        if game.is_over(state) or game.seats_out(state):
            ends = "ends the match" if game.is_over(state) else "takes a seat out of the match"
            raise DefinitionError(f"{where}: {shortened_text(repr(word))} {ends}; expected a shorter opening")
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
        turn, index = divmod(number, len(self._openings))
        if turn != self._turn:
            places = range(len(self._openings))
            self._order = sorted(places, key=lambda k: derived_seed("order of openings", *self._seed, turn, k))
            self._turn = turn
        return self._openings[self._order[index]]


def openings_of(definition: Definition, game: int) -> ListedOpenings | RandomOpenings:
    """Return the openings of a game of a tournament, by number."""
    choice = definition.games[game]
    rules = checked_game(make_game(choice.game, **choice.options), choice.game)
    if definition.openings:
        lines = definition.openings[game].lines
        return ListedOpenings(read_lines(rules, lines, f"openings of {choice.game}"), definition.rng_seed, game)
    return RandomOpenings(lambda: openings(rules, definition.opening_plies, definition.rng_seed))


# Opening books: the openings of a game with its options, in a TOML file that people read and change.

VERSION = 1
"""The version of the file format."""


class BookFile(BaseModel):
    """A book.

    Attributes:
        version: of the format.
        game: its name or dotted path.
        options: of the game; those that are left out have their defaults.
        openings: each with the texts of its actions between spaces.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    version: Literal[1]
    game: str
    options: dict[str, Any] = {}
    openings: Annotated[list[str], Field(min_length=1, max_length=MAX_LINES)]


def read_book(path: Path, choice: GameChoice) -> tuple[Opening, ...]:
    """Return the openings of a book for a game with its options."""
    book = check_model(BookFile, read_toml(path, DefinitionError), path, DefinitionError)
    if book.game != choice.game:
        game_shown = shortened_text(repr(book.game))
        raise DefinitionError(
            f"{path}: game = {game_shown}: expected a book for the tournament's game, {choice.game!r}"
        )
    try:
        game = make_game(book.game, **book.options)
    except UsageError as error:
        raise DefinitionError(f"{path}: {error}") from error
    defaults = {option.name: option.default for option in game.OPTIONS}
    for name in {**choice.options, **game.options}:
        own, value = (options.get(name, defaults.get(name)) for options in (game.options, choice.options))
        if own != value:
            raise DefinitionError(
                f"{path}: it is for {name} = {toml_value(own)}, and the tournament has {toml_value(value)}"
            )
    return tuple(read_lines(checked_game(game, book.game), book.openings, str(path)))


def book_text(game: Game[Any], path: str, openings: Iterable[tuple[Opening, str]], about: str) -> str:
    """Return a book as text: each opening with a comment on it, below a line about them all."""
    return "\n".join(_lines(game, path, openings, about)) + "\n"


def _lines(game: Game[Any], path: str, openings: Iterable[tuple[Opening, str]], about: str) -> Iterator[str]:
    options = ", ".join(f"{name} = {json.dumps(value)}" for name, value in game.options.items())
    yield f"# {_in_a_line(about)}"
    yield f"version = {VERSION}"
    yield f"game = {json.dumps(path)}"
    yield f"options = {{ {options} }}" if options else "options = {}"
    yield "openings = ["
    for opening, comment in openings:
        text = json.dumps(text_of(game, opening), ensure_ascii=False)
        yield f"  {text},{f'  # {_in_a_line(comment)}' if comment else ''}"
    yield "]"


def _in_a_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
