"""The puzzles of a tournament: a list, and each with a board on which it is solved."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le, Len

from arena.site.frame.model import AsWritten, Model, ModelOfTournament, Name, Parameters
from arena.site.matches.games_model import LegalAction
from arena.site.matches.match_model import ViewedMatch

MAX_PUZZLE = 500


class PuzzlesParameters(Parameters):
    """The address of the puzzles of a tournament.

    Attributes:
        tournament: the tournament's name.
    """

    tournament: Name


class ListedPuzzle(Model):
    """A puzzle in the list.

    Attributes:
        puzzle: its number, from 1.
        game: the game's name.
        options: the game's options, as text.
        seat: to act.
        goal: what the seat can reach: "win" or "draw".
        choices: how many actions it may choose from.
        difficulty: the logarithm to base 2 of about how many lines of play there are from the position.
        missed: how often bots have missed the solution.
        met: how often they were in the position.
    """

    puzzle: int
    game: str
    options: str
    seat: int
    goal: str
    choices: int
    difficulty: float
    missed: int
    met: int


class PuzzlesPage(ModelOfTournament):
    """The puzzles of a tournament.

    Attributes:
        tournament: the tournament's name.
        puzzles: from easy to hard; empty if none were looked for, or found.
    """

    tournament: str
    puzzles: tuple[ListedPuzzle, ...]


class PuzzleParameters(Parameters):
    """The address of a puzzle, and of an action that is tried.

    Attributes:
        tournament: the tournament's name.
        puzzle: the puzzle's number.
        action: that is tried, as text.
        answer: whether to show the solution.
    """

    tournament: Name
    puzzle: Annotated[int, Ge(1), Le(MAX_PUZZLE), AsWritten]
    action: Annotated[str, Len(0, 200)] = ""
    answer: bool = False


class PuzzleMiss(Model):
    """A bot that has missed the solution.

    Attributes:
        bot: its ``name@version``.
        match: the match.
        ply: how many actions led to the position.
        text: what it played; the board may have been reflected there.
    """

    bot: str
    match: int
    ply: int
    text: str


class PuzzleAnswer(Model):
    """What is shown once a puzzle is solved, or given up.

    Attributes:
        solution: the action, as text.
        wins: the actions with which the seat wins.
        draws: those with which it draws.
        loses: those with which it loses.
        misses: the bots that have missed it, with the match, the ply and what they played.
    """

    solution: str
    wins: tuple[str, ...]
    draws: tuple[str, ...]
    loses: tuple[str, ...]
    misses: tuple[PuzzleMiss, ...]


class PuzzlePage(ModelOfTournament):
    """A puzzle.

    Attributes:
        tournament: the tournament's name.
        listed: what the list says of it.
        count: how many puzzles there are.
        shown: the position.
        legal: the actions that may be tried.
        tried: the action that was tried; empty if none was.
        is_solved: whether it is the solution.
        verdict: what it leads to, as a sentence; empty if nothing was tried.
        answer: None until it is solved or given up.
    """

    tournament: str
    listed: ListedPuzzle
    count: int
    shown: ViewedMatch
    legal: tuple[LegalAction, ...]
    tried: str = ""
    is_solved: bool = False
    verdict: str = ""
    answer: PuzzleAnswer | None = None
