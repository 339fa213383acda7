"""Positions that are written down, and which actions are the same but for a symmetry of the board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.base.errors import IllegalActionError, UsageError
from arena.base.stored import from_json_text, is_plain
from arena.base.text import json_value, short_size_text
from arena.games import GAMES, Game, make_game
from arena.games.checked_game import checked_game
from arena.games.pie import CHOICES, Pie

# Positions that are written down: a game with its options and the actions that lead there, as JSON.
#
# A file may be anybody's: only legal actions are taken from it, so every position is one that a match can reach.

MAX_BYTES = 2**20
MAX_ACTIONS = 10_000

_EXPECTED = 'expected an object such as {"options": {"size": 8}, "actions": ["c4", [2, 5]]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position after ``ply`` actions."""

    game: Game[Any]
    path: str
    state: Any
    ply: int


def rules_of(path: str, options: Mapping[str, Any]) -> Game[Any]:
    """Return the rules of a game; those from outside are checked."""
    rules = make_game(path, **options)
    return rules if path in GAMES else checked_game(rules, path)


def read_position(path: str, file: Path, given: dict[str, Any]) -> Position:
    """Read a position from JSON: ``options`` (those in ``given`` may be missing), ``actions`` and perhaps ``game``.

    Raises:
        UsageError: if the file can't be read, or is no position of this game.
    """
    stored = _read(file)
    stored_path, options, actions = stored.get("game", path), stored.get("options", {}), stored.get("actions", [])
    unknown = sorted(set(stored) - {"game", "options", "actions"})
    if unknown or not isinstance(options, dict) or not isinstance(actions, list) or not is_plain(actions):
        raise UsageError(f"{file}: {_EXPECTED}" + (f", got {json_value(unknown[0])}" if unknown else ""))
    if stored_path != path:
        raise UsageError(f"{file}: it is a position of {json_value(stored_path)}; expected one of {path}")
    if len(actions) > MAX_ACTIONS:
        raise UsageError(f"{file}: it has {len(actions)} actions; expected at most {MAX_ACTIONS}")
    differing = sorted(name for name in set(given) & set(options) if given[name] != options[name])
    if differing:
        raise UsageError(f"{file}: {differing[0]} is {json_value(options[differing[0]])}, but --option differs")
    game = rules_of(path, {**options, **given})
    state = game.initial_state()
    for ply, action in enumerate(actions):
        try:
            state = game.apply(state, game.parse_action(action) if isinstance(action, str) else action)
        except IllegalActionError as error:
            raise UsageError(f"{file}: action {ply}, {json_value(action)}: {error.reason}") from error
    return Position(game=game, path=path, state=state, ply=len(actions))


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as source:
            data = source.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: can't be read: {getattr(error, 'strerror', None) or 'this is no path'}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{file}: expected a position of at most {short_size_text(MAX_BYTES)}")
    try:
        stored = from_json_text(data.decode("utf-8-sig"), str(file))
    except UnicodeDecodeError:
        stored = None
    if not isinstance(stored, dict):
        raise UsageError(f"{file}: {_EXPECTED}")
    return stored


# Which first actions are the same but for a symmetry of the board, which leaves every seat its score.

ActionMap = Callable[[Any], Any]


def symmetries_of(game: Game[Any], path: str) -> tuple[ActionMap, ...]:
    """Return the symmetries of a game's first state, as maps of actions, without the identity.

    In differences, both reflections keep the lengths of all steps. In multiplication only the one that keeps the
    leftmost mark where it is: number 1. In coprimality the reflection at the diagonal through the 1. Plusminus has
    none, as its lists grow in one direction, and plaid none, as half a turn gives rectangles to other seats.
    """
    if isinstance(game, Pie):
        return tuple(map(_but_for_answers, symmetries_of(game.rules, path)))
    beyond = game.options.get("size", 0) + 1
    if path == "differences":
        return (
            lambda square: (beyond - square[0], square[1]),
            lambda square: (square[0], beyond - square[1]),
            lambda square: (beyond - square[0], beyond - square[1]),
        )
    if path == "multiplication":
        return (lambda square: (square[0], beyond - square[1]),)
    if path == "coprimality":
        return (lambda square: (beyond - square[1], beyond - square[0]),)
    return ()


def _but_for_answers(action_map: ActionMap) -> ActionMap:
    return lambda action: action if action in CHOICES else action_map(action)


def up_to_symmetry(game: Game[Any], path: str, actions: Sequence[Any]) -> list[Any]:
    """Return the first of all actions that are the same but for a symmetry of the first state."""
    return list(dict.fromkeys(representatives(game, path, actions).values()))


def representatives(game: Game[Any], path: str, actions: Sequence[Any]) -> dict[Any, Any]:
    """Return for each action the first one that is the same but for a symmetry of the first state."""
    maps = symmetries_of(game, path)
    firsts: dict[Any, Any] = {}
    for action in actions:
        for same in (action, *(action_map(action) for action_map in maps)):
            firsts.setdefault(same, action)
    return {action: firsts[action] for action in actions}
