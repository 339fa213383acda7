"""The games, their rules and options, a board to try actions on, and the puzzles of a tournament."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Ge, Le, Len
from pydantic import Field, model_validator

from arena.site.frame.model import AsWritten, Model, ModelOfBots, ModelOfTournament, Name, Parameters
from arena.site.matches.match_model import Shape, ViewedMatch

OPTION_PREFIX = "option_"
"""Of the fields of the form, one for each option; they are read as ``options``."""

OPTIONS_PATTERN = "^( *[^ =]+=[^ ]*)* *$"
"""In OpenAPI; people get the accepted values from the rules of the game."""

MAX_OPTION_FIELDS = 50
MAX_ACTIONS_CHARACTERS = 6000


def option_fields(given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of the fields of options by option, and the other fields that were sent."""
    fields = {str(name): value for name, value in given.items()} if isinstance(given, dict) else {}
    options = {
        name.removeprefix(OPTION_PREFIX): value for name, value in fields.items() if name.startswith(OPTION_PREFIX)
    }
    rest = {name: value for name, value in fields.items() if not name.startswith(OPTION_PREFIX)}
    return options, rest


class GameParameters(Parameters):
    """The address of a game, and of a position in it.

    Attributes:
        game: the game's name, or the dotted path of an external game that a tournament here plays.
        options: ``size=9 scoring=once``, for instance; by default the defaults.
        actions: that led to the position, as text, with spaces between them.
        action: one more, to try.
    """

    game: Name
    options: Annotated[str, Field(max_length=500, json_schema_extra={"pattern": OPTIONS_PATTERN})] = ""
    actions: Annotated[str, Len(0, MAX_ACTIONS_CHARACTERS)] = ""
    action: Annotated[str, Len(0, 200)] = ""

    @model_validator(mode="before")
    @classmethod
    def _with_fields_of_the_form(cls, given: Any) -> Any:
        """Return the values of an address, in which options may have fields of their own."""
        fields, rest = option_fields(given)
        if not fields or len(fields) > MAX_OPTION_FIELDS:
            return given
        written = [f"{name}={value}" for name, value in fields.items() if value != ""]
        return {**rest, "options": " ".join([*str(rest.get("options", "")).split(), *written])}


class ListedGame(Model):
    """A game in the list.

    Attributes:
        name: its name, or the dotted path of an external game.
        players: how many seats it may have, as text.
        pitch: why one would play it, in a sentence; empty for an external game.
        picture: a position of it; None for an external game.
        problem: why it has no page, as a sentence; empty if it has one.
    """

    name: str
    summary: str = ""
    players: str = ""
    options: tuple[str, ...] = ()
    pitch: str = ""
    picture: ViewedMatch | None = None
    problem: str = ""


class GamesPage(Model):
    """The games, each in a sentence: those of the arena, then external ones that tournaments here play."""

    games: tuple[ListedGame, ...]


class GameOption(Model):
    """An option of a game.

    Attributes:
        type: "whole number" or "choice".
        accepted: the accepted values, as text.
        value: its value on the board.
        minimum: of a whole number; None for a choice.
        maximum: of a whole number; None for a choice.
        choices: empty for a whole number.
    """

    name: str
    type: str
    default: int | str
    accepted: str
    meaning: str
    value: int | str
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[int | str, ...] = ()


class LegalAction(Model):
    """A legal action.

    Attributes:
        actions: those that lead to the position after it; empty if they are too long for an address.
        target: the shape on the board that stands for it; None without one.
    """

    text: str
    actions: str
    target: Shape | None


class AdviceScore(Model):
    """In how many matches against best play the rules for people kept the outcome of a board.

    Attributes:
        board: its options, as on the command line.
        random_actions: with which the matches began.
        low: of the share, with 95 %.
        high: of the share, with 95 %.
    """

    board: str
    random_actions: int
    kept: int
    matches: int
    low: float
    high: float


class GamePage(ModelOfBots):
    """A game: its rules and options, and a board to try actions on.

    Attributes:
        name: its name, or the dotted path of an external game.
        problem: why its rules are not available here, as a sentence; empty if they are.
        options: its options, with those of the board.
        given: the options of the board that are not the defaults, as in the address.
        shown: the position on the board; None without rules.
        actions: that led to it, as in the address.
        earlier: those that led to the position before.
        refused: why an action is illegal, in the words of the rules; empty if none was.
        result: who has won; empty before the end.
        legal: the legal actions, unless there are too many.
        advice: the rules for people, line by line; empty for an external game.
        advice_known: what else is known of them.
    """

    name: str
    summary: str = ""
    problem: str = ""
    rules: str = ""
    action_format: str = ""
    options: tuple[GameOption, ...] = ()
    given: str = ""
    shown: ViewedMatch | None = None
    actions: str = ""
    earlier: str = ""
    refused: str = ""
    result: str = ""
    legal: tuple[LegalAction, ...] = ()
    legal_count: int = 0
    advice: tuple[str, ...] = ()
    advice_scores: tuple[AdviceScore, ...] = ()
    advice_known: str = ""


MAX_PUZZLE = 500
MAX_TRIES_CHARACTERS = 1000
"""With spaces between tries."""


class PuzzlesParameters(Parameters):
    """The address of the puzzles of a tournament."""

    tournament: Name


class ListedPuzzle(Model):
    """A puzzle in the list.

    Attributes:
        puzzle: its number, from 1.
        goal: the best possible result for the seat: "win" or "draw".
        choices: how many actions it may choose from.
        difficulty: the logarithm to base 2 of about how many lines of play there are from the position.
        missed: how often bots have missed the solution.
        met: how often they were in the position.
        plies: how many actions its line has, those of the other seat included: 1, 3, 5 or 7.
        theme: what the solution does to the scores at once; empty if that is not known.
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
    plies: int = 1
    theme: str = ""


class PuzzlesPage(ModelOfTournament):
    """The puzzles of a tournament: positions in which a bot has missed the only action that helps.

    From easy to hard; empty if nobody searched for them, or there are none.
    """

    tournament: str
    puzzles: tuple[ListedPuzzle, ...]


class PuzzleParameters(Parameters):
    """The address of a puzzle; ``action`` has the tries so far, one a turn; ``answer`` asks for the solution."""

    tournament: Name
    puzzle: Annotated[int, Ge(1), Le(MAX_PUZZLE), AsWritten]
    action: Annotated[str, Len(0, MAX_TRIES_CHARACTERS)] = ""
    answer: bool = False


class TodayParameters(Parameters):
    """The address of the puzzle of the day; ``action`` and ``answer`` are those of any puzzle."""

    action: Annotated[str, Len(0, MAX_TRIES_CHARACTERS)] = ""
    answer: bool = False


class PuzzleMiss(Model):
    """A bot that has missed the solution.

    Attributes:
        ply: how many actions led to the position.
        text: what it played; the board may have been reflected there.
    """

    bot: str
    match: int
    ply: int
    text: str


class PuzzleRefutation(Model):
    """A reply to a wrong action, after which the outcome is lost."""

    action: str
    reply: str


class PuzzleTurn(Model):
    """A turn of the seat in the line; no refutation of an action that ends the match."""

    solution: str
    refutations: tuple[PuzzleRefutation, ...]


class PuzzleAnswer(Model):
    """The answer to a puzzle, shown once it is solved or given up.

    Attributes:
        line: the whole line, as a sentence.
        wins: the actions with which the seat wins.
        draws: those with which it draws.
        loses: those with which it loses.
    """

    solution: str
    line: str
    turns: tuple[PuzzleTurn, ...]
    wins: tuple[str, ...]
    draws: tuple[str, ...]
    loses: tuple[str, ...]
    misses: tuple[PuzzleMiss, ...]


class PuzzlePage(ModelOfTournament):
    """A puzzle, with a board on which it is solved.

    Attributes:
        date: of the day (UTC) whose puzzle it is; empty on its own page.
        legal: the legal actions; none when the line is at its end.
        tried: the tries so far, one a turn; empty if there are none.
        found: the right ones among them; the board shows the position after them and the replies.
        is_solved: whether they solve the puzzle.
        verdict: what the last try leads to, as a sentence; empty if nothing was tried.
        answer: None until it is solved or given up.
    """

    tournament: str
    listed: ListedPuzzle
    count: int
    shown: ViewedMatch
    legal: tuple[LegalAction, ...]
    date: str = ""
    tried: str = ""
    found: str = ""
    is_solved: bool = False
    verdict: str = ""
    answer: PuzzleAnswer | None = None


class TodayPage(PuzzlePage):
    """The puzzle of the day, with a board on which it is solved."""
