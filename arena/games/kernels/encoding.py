"""States, options and actions as the numbers that kernels take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena.games import ChoiceOption, Game
from arena.games.coprimality import CoprimalityState
from arena.games.differences import DifferencesState
from arena.games.multiplication import MultiplicationState
from arena.games.plaid import PlaidState
from arena.games.plusminus import SIGNS, PlusminusState

_SIGN_NUMBERS = {" ": 0, **{sign: number for number, sign in enumerate(SIGNS, 1)}}


def option_numbers(game: Game[Any]) -> list[int]:
    """Return the options in the order of the game's table; of a choice, which one it is."""
    return [
        option.choices.index(game.options[option.name])
        if isinstance(option, ChoiceOption)
        else game.options[option.name]
        for option in game.OPTIONS
    ]


def state_numbers(game: Game[Any], state: Any) -> list[int]:
    """Return a state as ``pack`` in the game's C file does."""
    return _ENCODERS[game.name](game, state)


def plaid_state(game: Game[Any], lines: Sequence[int]) -> PlaidState:
    """Return the state of plaid in which these lines, as numbers, are drawn."""
    first_level = game.options["width"] - 1
    return PlaidState(
        tuple(line + 1 for line in lines if line < first_level),
        tuple(line - first_level + 1 for line in lines if line >= first_level),
    )


def _plusminus(game: Game[Any], state: PlusminusState) -> list[int]:
    lists = [signs.ljust(game.options["size"] - 1) for signs in state.predictions]
    return [*(_SIGN_NUMBERS[sign] for signs in lists for sign in signs), *state.heights]


def _plaid(game: Game[Any], state: PlaidState) -> list[int]:
    first_level = game.options["width"] - 1
    return [*(x - 1 for x in state.vertical), *(first_level + y - 1 for y in state.horizontal)]


def _coprimality(game: Game[Any], state: CoprimalityState) -> list[int]:
    size = game.options["size"]
    by_column = [number for x in range(size) for number in state.numbers[x::size]]
    y, x = divmod(state.here, size)
    return [*by_column, x * size + y, state.turn, state.seat, state.grids_used, *state.eliminated]


def _differences(_: Game[Any], state: DifferencesState) -> list[int]:
    return list(state.heights)


def _multiplication(_: Game[Any], state: MultiplicationState) -> list[int]:
    return [*state.heights, *state.numbered]


_ENCODERS: Mapping[str, Callable[[Game[Any], Any], list[int]]] = {
    "plusminus": _plusminus,
    "plaid": _plaid,
    "coprimality": _coprimality,
    "differences": _differences,
    "multiplication": _multiplication,
}

KERNEL_NAMES = tuple(_ENCODERS)
"""The games that have a kernel."""
