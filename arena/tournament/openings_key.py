"""What ``openings`` in a tournament file means: drawn at random, chosen for their information, or from a book."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.base.definition import GameChoice, GameOpenings
from arena.base.enums import OpeningChoice
from arena.base.errors import UsageError
from arena.games import make_game
from arena.tournament.opening_book import read_book
from arena.tournament.opening_information import check_information
from arena.tournament.opening_lines import text_of
from arena.tournament.tournament_file import CommonKeys

Openings = tuple[tuple[GameOpenings, ...], int]
"""The openings of each game, unless they are drawn at random, and the most plies of one."""


def openings_in(file: CommonKeys, base: Path, games: Sequence[GameChoice], faults: list[str]) -> Openings:
    """Return the openings that a file asks for; what is wrong with them is added to the faults.

    Args:
        file: the file, whose shape has been checked.
        base: the directory that paths in it begin at.
        games: of the tournament.
        faults: of the file.
    """
    table = file.openings
    if table is None:
        return (), file.opening_plies
    if not games:  # which is a fault already
        return (), 0
    try:
        if table.plies is None:
            return _book(games, base / (table.book or ""))
        if table.choose == "information":
            for choice in games:
                check_information(choice, table.plies)
            return tuple(GameOpenings(choose=OpeningChoice.INFORMATION) for _ in games), table.plies
    except UsageError as error:
        faults.append(str(error))
    return (), table.plies or 0


def _book(games: Sequence[GameChoice], path: Path) -> Openings:
    if len(games) > 1:
        raise UsageError(f"openings = {str(path)!r}: a book is of one game, and there are {len(games)}")
    openings = read_book(path, games[0])
    game = make_game(games[0].game, **games[0].options)
    lines = tuple(text_of(game, opening) for opening in openings)
    return (GameOpenings(choose=OpeningChoice.BOOK, lines=lines),), max(map(len, openings))
