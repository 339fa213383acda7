"""The options with which kernels are compared with the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.games import GAMES, Game
from arena.games.kernels.kernel import KERNEL_NAMES
from arena.games.multiplication import Multiplication
from arena.games.permutation import PermutationGame


class _MultiplicationOfAnySize(Multiplication):
    """The rules without the lower bound of rule 1: at size 7 there are too many states to compare all."""

    def prepare(self) -> None:
        PermutationGame.prepare(self)
        self.starter = self.options.get("second_starts", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSets:
    """A game's options to compare with.

    ``compare`` compares all states of ``small`` ones, traces and lines of ``usual`` ones, and a few traces of ``large``
    ones, which are at the bounds; ``refused`` are numbers beyond the bounds, each in one option. For two: the value of
    best play is compared for ``small`` and ``solved`` ones, ``largest`` may last for hours, and no solver takes
    ``unsolved`` ones.
    """

    small: tuple[dict[str, Any], ...]
    usual: tuple[dict[str, Any], ...]
    large: tuple[dict[str, Any], ...]
    refused: tuple[tuple[int, ...], ...]
    solved: tuple[dict[str, Any], ...]
    largest: tuple[dict[str, Any]]
    unsolved: tuple[dict[str, Any], ...]


OPTION_SETS = {
    "plusminus": OptionSets(
        small=({"size": 2}, {"size": 3}, {"size": 3, "grid_first": 2}),
        usual=({}, {"grid_first": 2}, {"size": 2, "grid_first": 2}, {"size": 5}, {"size": 16}),
        large=({"size": 67}, {"size": 100, "grid_first": 2}),
        refused=((101, 0),),
        solved=({"size": 4},),
        largest=({"size": 9},),
        unsolved=({"size": 10},),
    ),
    "plaid": OptionSets(
        small=(
            {"width": 4, "height": 3, "lines": 2},
            {"width": 3, "height": 3, "lines": 4, "players": 3},
            {"width": 1, "height": 6, "lines": 2},
            {"width": 5, "height": 2, "lines": 3},
            {"width": 6, "height": 1, "lines": 1, "players": 3},
            {"width": 4, "height": 3, "lines": 3, "players": 3},
            {"width": 4, "height": 4, "lines": 3, "players": 4},
        ),
        usual=(
            {},
            {"width": 6, "height": 6, "lines": 5},
            {"width": 64, "height": 64, "lines": 12},
            {"width": 1, "height": 64, "lines": 9},
            {"width": 9, "height": 8, "lines": 5, "players": 3},
            {"width": 40, "height": 30, "lines": 3, "players": 5},
            {"width": 63, "height": 66, "lines": 8, "players": 7},
            {"width": 65, "height": 64, "lines": 5},
            {"width": 128, "height": 66, "lines": 5},
        ),
        large=(
            {"width": 1000, "height": 1000, "lines": 1, "players": 64},
            {"width": 300, "height": 4, "lines": 301},
            {"width": 32, "height": 32, "lines": 62, "players": 64},
        ),
        refused=((65, 60, 60, 12), (2, 1001, 60, 12), (2, 60, 1001, 12)),
        solved=(
            {"width": 4, "height": 4, "lines": 5},
            {"width": 6, "height": 3, "lines": 4},
            {"width": 3, "height": 6, "lines": 1},
            {"width": 5, "height": 4, "lines": 7},
            {"width": 1, "height": 18, "lines": 2},
            {"width": 2, "height": 1, "lines": 1},
        ),
        largest=({"width": 14, "height": 14, "lines": 12},),
        unsolved=({}, {"width": 4, "height": 3, "lines": 3, "players": 3}),
    ),
    "coprimality": OptionSets(
        small=(
            {"size": 3},
            {"size": 3, "max_grids": 1, "players": 4},
            {"size": 3, "max_grids": 2, "players": 3},
            {"size": 3, "max_grids": 7, "players": 3},
            {"size": 4, "max_grids": 2, "players": 4},
        ),
        usual=(
            {},
            {"size": 4},
            {"size": 5, "max_grids": 3, "players": 3},
            {"size": 3, "max_grids": 1000},
            {"size": 9, "players": 7},
            {"size": 14, "players": 4},
        ),
        large=({"size": 100, "players": 64}, {"size": 20, "players": 64}, {"size": 12, "players": 63}),
        refused=((65, 12, 10), (2, 101, 10)),
        solved=(
            {"size": 3, "max_grids": 1},
            {"size": 4, "max_grids": 1},
            {"size": 5, "max_grids": 3},
            {"size": 6, "max_grids": 1},
            {"size": 6, "max_grids": 2},
            {"size": 9, "max_grids": 2},
        ),
        largest=({"size": 40},),
        unsolved=({"players": 3},),
    ),
    "differences": OptionSets(
        small=({"size": 2}, {"size": 3, "scoring": "once"}, {"size": 4}, {"size": 4, "scoring": "once"}),
        usual=({}, {"scoring": "once"}, {"size": 9}, {"size": 5, "scoring": "once"}, {"size": 2}, {"size": 16}),
        large=({"size": 67}, {"size": 100, "scoring": "once"}),
        refused=((101, 0),),
        solved=({"size": 5},),
        largest=({"size": 12},),
        unsolved=({"size": 13},),
    ),
    "multiplication": OptionSets(
        small=(
            {"size": 3},
            {"size": 4, "players": 3, "second_starts": 1},
            {"size": 5},
            {"size": 4, "second_starts": 1},
        ),
        usual=({}, {"size": 7, "second_starts": 1}, {"size": 10, "players": 3}, {"size": 16, "players": 5}),
        large=({"size": 67, "players": 3}, {"size": 100, "players": 33}, {"size": 41}),
        refused=((65, 67, 0), (2, 101, 0)),
        solved=({"size": 2}, {"size": 4}),
        largest=({"size": 12},),
        unsolved=({"size": 13}, {"size": 4, "players": 3}),
    ),
}
assert OPTION_SETS.keys() == set(KERNEL_NAMES)


def games_with(name: str, *kinds: str) -> list[Game[Any]]:
    """Return the game with each of the options of some kinds, which are fields of ``OptionSets``."""
    game_class = _MultiplicationOfAnySize if name == "multiplication" else GAMES[name]
    return [game_class(**options) for field_name in kinds for options in getattr(OPTION_SETS[name], field_name)]


def solved_games(name: str) -> list[Game[Any]]:
    """Return the game for two with all options with which solutions are compared."""
    return [game for game in games_with(name, "small", "solved") if game.players == 2]
