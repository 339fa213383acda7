"""Checks of a game as a class and as an object: its attributes, its options, its path, and pickling."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

from arena.base.errors import OptionError, UsageError
from arena.games import make_game
from arena.games.conformance.calls import guarded
from arena.games.conformance.finding import MistakeError, problem_of, shown
from arena.games.game import ChoiceOption, Game, IntOption, Option

NO_VALUES: tuple[Any, ...] = (None, True, 1.5, "", "nonsense", (), [1])
"""Values that no option accepts, unless one is among its choices."""


def check_attributes(game_class: type[Game[Any]]) -> None:
    """The class has a name, a summary, a description of actions, a table of options, and rules in its docstring."""
    for attribute in ("name", "summary", "action_format"):
        text = getattr(game_class, attribute, None)
        if type(text) is not str or not text or not text.isprintable():
            raise MistakeError(f"the attribute {attribute} is {shown(text)}; expected a line of text")
    if type(game_class.mine) is not str:
        raise MistakeError(f"the attribute mine is {shown(game_class.mine)}; expected text")
    rulebook = game_class.rulebook()
    if type(rulebook) is not str or not rulebook.strip():
        raise MistakeError("the module has no docstring; expected the rules of the game, numbered")


def check_table(game_class: type[Game[Any]]) -> None:
    """The table of options has known types, different names, and defaults that are accepted."""
    table = game_class.OPTIONS
    if not isinstance(table, list | tuple):
        raise MistakeError(f"OPTIONS is {shown(table)}; expected a tuple of IntOption and ChoiceOption")
    invalid = next((option for option in table if not isinstance(option, IntOption | ChoiceOption)), None)
    if invalid is not None:
        raise MistakeError(f"OPTIONS has {shown(invalid)}; expected a tuple of IntOption and ChoiceOption")
    names = [option.name for option in table]
    if any(type(name) is not str or not name.isidentifier() for name in names) or len(set(names)) < len(names):
        raise MistakeError(f"OPTIONS has the names {shown(names)}; expected different names such as size")
    for option in table:
        _check_option(option)


def _check_option(option: Option) -> None:
    name = f"the option {option.name!r}"
    if type(option.meaning) is not str or not option.meaning:
        raise MistakeError(f"{name} has the meaning {shown(option.meaning)}; expected a short description")
    if isinstance(option, IntOption):
        bounds = option.minimum, option.maximum
        if any(type(bound) is not int for bound in bounds) or option.minimum > option.maximum:
            raise MistakeError(f"{name} has the bounds {shown(bounds)}; expected whole numbers, the lower one first")
    elif not isinstance(option.choices, tuple) or any(type(choice) not in (int, str) for choice in option.choices):
        raise MistakeError(f"{name} has the choices {shown(option.choices)}; expected a tuple of text or whole numbers")
    try:
        option.check(option.default)
    except OptionError as error:
        raise MistakeError(f"{name} does not accept its own default: {error}") from error
    if option.name == "players":
        lowest = option.minimum if isinstance(option, IntOption) else min(option.choices)
        if type(lowest) is not int or lowest < 2:
            raise MistakeError(f"{name} accepts {shown(lowest)}; a match has at least 2 players")


def check_players(game: Game[Any]) -> None:
    """The number of seats is that of the option ``players``, or 2."""
    expected = game.options.get("players", 2)
    if type(game.players) is not int or game.players != expected:
        reason = "the option players has that value" if "players" in game.options else "there is no option players"
        raise MistakeError(
            f"the attribute players is {shown(game.players)}; expected {expected}, as {reason}", ends=True
        )


def made(game_class: type[Game[Any]], options: dict[str, Any]) -> Game[Any] | None:
    """Return a game with options; None if it rejects them with OptionError, as options may not fit together.

    MistakeError if it raises anything else, or if its values differ from the given ones.
    """
    option_text = ", ".join(f"{name} = {shown(value)}" for name, value in options.items()) or "its defaults"
    game: Game[Any] | None = guarded(
        lambda: _made_or_refused(game_class, options), f"making it with {option_text}", game_class.__module__
    )
    for name, value in options.items() if game is not None else ():
        if game is not None and name != "players" and game.options.get(name) != value:
            raise MistakeError(f"made with {name} = {value!r}, it has {name} = {game.options.get(name)!r}")
    return game


def _made_or_refused(game_class: type[Game[Any]], options: dict[str, Any]) -> Game[Any] | None:
    try:
        return game_class(**options)
    except OptionError:
        return None


def check_bounds(game_class: type[Game[Any]]) -> None:
    """The game refuses values beyond an option's bounds or of another type, and unknown options, with OptionError."""
    for name, value in [*_beyond(game_class), ("no_such_option", 1)]:
        try:
            options = {name: value}
            game = guarded(
                partial(_made_or_refused, game_class, options),
                f"making it with {name} = {value!r}",
                game_class.__module__,
            )
        except MistakeError as mistake:
            raise MistakeError(f"{mistake.sentence}; expected OptionError") from mistake
        if game is not None:
            raise MistakeError(f"{name} = {value!r} is accepted; expected OptionError")


def _beyond(game_class: type[Game[Any]]) -> Iterator[tuple[str, Any]]:
    for option in game_class.OPTIONS:
        accepted: tuple[Any, ...] = ()
        if isinstance(option, IntOption):
            yield option.name, option.minimum - 1
            yield option.name, option.maximum + 1
        else:
            accepted = option.choices
        yield from ((option.name, value) for value in NO_VALUES if value not in accepted)


def check_path(game: Game[Any]) -> None:
    """The game is found by the name or the dotted path in its ``repr``, which is how other processes make it."""
    text = repr(game)
    try:
        again = eval(text, {"make_game": make_game})
    except UsageError as error:
        raise MistakeError(f"repr returned {text}, which can't be evaluated: {error}") from error
    except Exception as error:
        raise MistakeError(f"evaluating repr, {text}, {problem_of(error, type(game).__module__)}") from error
    if type(again) is not type(game) or again.options != game.options:
        raise MistakeError(f"repr returned {shown(text)}, which is another game: {shown(again)}")


def check_pickling(game: Game[Any]) -> None:
    """A game can be pickled, as other processes need."""
    try:
        again = pickle.loads(pickle.dumps(game))
    except Exception as error:
        raise MistakeError(f"pickling the game {problem_of(error, type(game).__module__)}") from error
    if type(again) is not type(game) or again.options != game.options:
        raise MistakeError(f"pickling the game returned another one: {shown(again)}")
