"""``--like``: the conditions of a tournament, for commands that play something else under them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from arena.base.definition import Definition, GameChoice
from arena.base.errors import UnknownNameError, UsageError
from arena.base.shipped import tournament_path
from arena.base.text import all_of, shortened_text
from arena.cli.terminal.common import open_home

like_option = click.option(
    "--like",
    metavar="FILE_OR_TOURNAMENT",
    help="Play as this tournament does: its games, options, openings, limits of plies and time, and isolation. Options"
    " beside it take precedence.",
)


def conditions(
    like: str | None, game: str | None, options: Sequence[str], more_options: Mapping[str, Any] | None = None
) -> Definition:
    """Return the conditions under which the command plays, as a definition without entrants.

    The function reads the command's other options (``OF_OPTIONS``) from the click context. With ``like``, it ignores
    options that the user has not given.

    Args:
        like: a tournament file, or the name of a stored tournament; None for the defaults.
        game: the only game; None for all games of ``like``.
        options: of the game, ``NAME=VALUE`` each, in place of those of ``like``.
        more_options: of the game, in addition to ``options``.

    Raises:
        UsageError: if something is not accepted; it begins with the option.
    """
    base = Definition(name="", games=(), entrants=()) if like is None else _read(like)
    values = click.get_current_context().params
    chosen = {name: values[name] for name in OF_OPTIONS if name in values and (like is None or is_given(name))}
    if "seconds" in chosen:
        keys = {"per_action_seconds": chosen.pop("seconds"), "bank_seconds": None, "increment_seconds": 0.0}
        chosen["time_control"] = replace(base.time_control, **keys)
    if "opening_plies" in chosen:
        chosen["openings"] = ()
    return replace(_with_games(base, like, game, options, more_options or {}), **chosen)


def is_given(option: str) -> bool:
    """Return whether the user has given an option of this command, so that it is not its default."""
    return click.get_current_context().get_parameter_source(option) not in (None, ParameterSource.DEFAULT)


def first_openings(chosen: Definition) -> list[tuple[Any, ...]]:
    """Return for each game the actions with which its first match under these conditions begins."""
    from arena.tournament.formats.format import format_class
    from arena.tournament.opening_information import with_openings
    from arena.tournament.openings import openings_of

    with_lines = with_openings(chosen, format_class(chosen))
    return [openings_of(with_lines, game).take(0) for game in range(len(chosen.games))]


def _read(like: str) -> Definition:
    from arena.tournament.definition import load_conditions
    from arena.tournament.executors.worker_start import workers_that_fit

    path = tournament_path(like)
    if os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises an error for a name that is too long
        definition = load_conditions(path)
    else:
        try:
            with open_home() as arena_home:
                definition = arena_home.store.tournament(like).definition
        except UnknownNameError as error:
            raise UsageError(f"--like {shortened_text(repr(like))}: there is no such file, and {error}") from error
    workers_that_fit(definition.limits)
    values = {name: getattr(definition, name) for name in CONDITIONS}
    return type(definition)(name="", entrants=(), **values)


OF_OPTIONS = ("seconds", "opening_plies", "ply_limit", "rng_seed", "workers", "isolation")
"""The options of commands that are conditions."""

CONDITIONS = (
    "games",
    "opening_plies",
    "openings",
    "ply_limit",
    "time_control",
    "limits",
    "rng_seed",
    "isolation",
    "fresh_bots",
    "workers",
)
"""The fields of a definition that are its conditions."""


def _with_games(
    base: Definition, like: str | None, game: str | None, options: Sequence[str], more_options: Mapping[str, Any]
) -> Definition:
    """Return conditions with the games that are to be played, and their openings."""
    from arena.games import parse_options

    numbers = [number for number, choice in enumerate(base.games) if game in (None, choice.game)]
    if like is not None and game is not None and not numbers:
        have = all_of(list(dict.fromkeys(choice.game for choice in base.games)))
        raise UsageError(f"{game}: expected a game of the tournament {like!r}, which has {have}")
    if game is not None and not numbers:
        return replace(base, games=(_choice(game, {**parse_options(game, options), **more_options}),), openings=())
    if not numbers:
        raise UsageError("--game: missing; expected a game, or --like with a tournament that has some")
    games = tuple(base.games[number] for number in numbers)
    openings = tuple(base.openings[number] for number in numbers if base.openings)
    if options:
        if len(games) > 1:
            raise UsageError(f"--option {options[0]}: {like} has {len(games)} games; expected --game with one of them")
        games = (_choice(games[0].game, {**games[0].options, **parse_options(games[0].game, options)}),)
        openings = tuple(replace(choice, lines=()) if choice.choose == "information" else choice for choice in openings)
    return replace(base, games=games, openings=openings)


def _choice(game: str, options: Mapping[str, Any]) -> GameChoice:
    from arena.games import make_game

    rules = make_game(game, **options)
    return GameChoice(game=game, options=rules.options, players=rules.players)
