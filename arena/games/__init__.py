"""The games: pure rules, without clock, process, randomness or I/O.

>>> game = make_game("differences", size=9, scoring="once")
>>> state = game.apply(game.initial_state(), (3, 4))
>>> game.seat_to_act(state), game.players
(1, 2)
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from arena.base.errors import GameError, IllegalActionError, OptionError, UnknownNameError, UsageError, suggestion
from arena.games.coprimality import Coprimality
from arena.games.differences import Differences
from arena.games.drawing import Drawing, board, hexagon, text_drawing
from arena.games.game import (
    ChoiceOption,
    Game,
    IntOption,
    Option,
    Space,
    all_squares,
    board_space,
    one_hot,
    refuse_when_over,
)
from arena.games.multiplication import Multiplication
from arena.games.plaid import Plaid
from arena.games.plusminus import Plusminus
from arena.games.squares import draw_grid, format_square, parse_square, seat_letter, square_of

GAMES: Mapping[str, type[Game[Any]]] = {
    "plusminus": Plusminus,
    "plaid": Plaid,
    "coprimality": Coprimality,
    "differences": Differences,
    "multiplication": Multiplication,
}

__all__ = [
    "GAMES",
    "ChoiceOption",
    "Drawing",
    "Game",
    "IllegalActionError",
    "IntOption",
    "Option",
    "OptionError",
    "Space",
    "all_squares",
    "board",
    "board_space",
    "draw_grid",
    "find_game",
    "format_square",
    "hexagon",
    "make_game",
    "one_hot",
    "parse_options",
    "parse_square",
    "refuse_when_over",
    "seat_letter",
    "square_of",
    "text_drawing",
]


def find_game(name: str) -> type[Game[Any]]:
    """Return the class of a game by its name, or by a dotted path ``package.module:Class``.

    Raises:
        UnknownNameError: if there is no game of that name.
        UsageError: if the dotted path can't be loaded or is not a game.
    """
    if not isinstance(name, str):
        raise UsageError(f"game {_shown(name)}: expected a name, such as differences or module:Class")
    if name in GAMES:
        return GAMES[name]
    if ":" not in name:
        raise UnknownNameError("game", name, GAMES)
    from arena.base.names import look_in_games_directory  # bots start without it

    look_in_games_directory()
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}"
        raise UsageError(f"game {name!r} can't be loaded: SyntaxError: {error.msg} ({where})") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # importing an external module may raise anything
        if isinstance(error, ModuleNotFoundError) and error.name == module_name.partition(".")[0]:
            where = "in the working directory, in PYTHONPATH or installed"
            raise UsageError(f"game {name!r} can't be loaded: there is no module {error.name!r} {where}") from error
        raised = GameError.raised(name, "", error, module_name)
        place = f" ({raised.place})" if raised.place else ""
        raise UsageError(f"game {name!r} can't be loaded: importing it {raised.problem}{place}") from error
    found = getattr(module, class_name, None)
    if found is None:
        values = vars(module).values()
        games = [value.__name__ for value in values if isinstance(value, type) and issubclass(value, Game)]
        hint = f"; {suggestion(class_name, games)}" if games else ""
        raise UsageError(f"game {name!r} can't be loaded: its module has no class {class_name!r}{hint}")
    if not (isinstance(found, type) and issubclass(found, Game)):
        raise UsageError(f"game {name!r} is not a subclass of arena.games.Game")
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    missing += [
        attribute for attribute in ("name", "summary", "OPTIONS", "action_format") if not hasattr(found, attribute)
    ]
    if missing:
        raise UsageError(f"game {name!r} lacks {', '.join(missing)}, required by arena.games.Game")
    for attribute in ("name", "summary", "action_format"):
        if not isinstance(getattr(found, attribute), str):
            raise UsageError(f"game {name!r}: {attribute} = {_shown(getattr(found, attribute))}; expected a text")
    table = found.OPTIONS
    if not isinstance(table, list | tuple) or not all(isinstance(option, Option) for option in table):
        raise UsageError(f"game {name!r}: OPTIONS = {_shown(table)}; expected a tuple of IntOption and ChoiceOption")
    for option in table:
        try:
            option.check(option.default)
        except (OptionError, TypeError) as error:  # TypeError: bounds of another type can't be compared
            raise UsageError(
                f"game {name!r}: the option {option.name!r} does not accept its own default: {error}"
            ) from error
    return found


def make_game(name: str, /, **options: Any) -> Game[Any]:
    """Return a game with its options.

    Args:
        name: one of ``GAMES``, or a dotted path ``package.module:Class``.
        options: the game's options; see ``arena games NAME``.

    Raises:
        UnknownNameError: if there is no such game.
        OptionError: naming the option, the value and what is accepted.
        GameError: if the game fails to take its options.
    """
    rules = find_game(name)
    try:
        game = rules(**options)
        seats, values = game.players, game.options
    except (UsageError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        raise GameError.raised(name, "prepare", error, rules.__module__) from error
    if type(seats) is not int or seats < 1 or not isinstance(values, dict):
        problem = f"left players = {_shown(seats)} and options = {_shown(values)}"
        raise GameError(name, "prepare", f"{problem}; expected a number of seats and a dictionary")
    return game


def _shown(value: object) -> str:
    from arena.games.checked_game import shown  # bots start without it

    return shown(value)


def parse_options(game: str, given: Sequence[str]) -> dict[str, Any]:
    """Read ``--option name=value``; UsageError without ``=``."""
    table = {option.name: option for option in find_game(game).OPTIONS}
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option {text!r}: expected NAME=VALUE, such as size=9")
        name = name.strip()
        values[name] = table[name].parse(value.strip()) if name in table else value
    return values
