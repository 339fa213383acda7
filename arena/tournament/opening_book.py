"""Opening books: the openings of a game with its options, in a TOML file that people read and change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from arena.base.checked import check_model, read_toml
from arena.base.definition import GameChoice
from arena.base.errors import DefinitionError, UsageError
from arena.base.text import shortened_text, toml_value
from arena.games import Game, make_game
from arena.games.checked_game import checked_game
from arena.tournament.opening_lines import MAX_LINES, read_lines, text_of
from arena.tournament.openings import Opening

VERSION = 1
"""Of the file format."""


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
    """Return the openings of a book for a game with its options.

    Raises:
        DefinitionError: if the file is no book, or one for another game, or one of its openings can't be played.
        GameError: if the rules of the game are wrong.
    """
    book = check_model(BookFile, read_toml(path, DefinitionError), path, DefinitionError)
    if book.game != choice.game:
        given = shortened_text(repr(book.game))
        raise DefinitionError(f"{path}: game = {given}: expected a book for the tournament's game, {choice.game!r}")
    try:
        game = make_game(book.game, **book.options)
    except UsageError as error:
        raise DefinitionError(f"{path}: {error}") from error
    for name, value in choice.options.items():
        own = game.options.get(name)
        if own != value:
            raise DefinitionError(
                f"{path}: it is for {name} = {toml_value(own)}, and the tournament has {toml_value(value)}"
            )
    return tuple(read_lines(checked_game(game, book.game), book.openings, str(path)))


def book_text(game: Game[Any], path: str, openings: Iterable[tuple[Opening, str]], about: str) -> str:
    """Return a book as text.

    Args:
        game: with its options.
        path: the game's name or dotted path.
        openings: each with what is to be said of it.
        about: what they are, in a line.

    Raises:
        DefinitionError: if an action of the game can't be written into a line.
    """
    return "\n".join(_lines(game, path, openings, about)) + "\n"


def _lines(game: Game[Any], path: str, openings: Iterable[tuple[Opening, str]], about: str) -> Iterator[str]:
    options = ", ".join(f"{name} = {json.dumps(value)}" for name, value in game.options.items())
    yield f"# {_in_a_line(about)}"
    yield f"version = {VERSION}"
    yield f"game = {json.dumps(path)}"
    yield f"options = {{ {options} }}" if options else "options = {}"
    yield "openings = ["
    for opening, said in openings:
        text = json.dumps(text_of(game, opening), ensure_ascii=False)
        yield f"  {text},{f'  # {_in_a_line(said)}' if said else ''}"
    yield "]"


def _in_a_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
