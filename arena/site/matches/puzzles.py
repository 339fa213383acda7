"""Builds the puzzles of a tournament, which ``arena lab puzzles`` has found: nothing is computed for a visitor."""

from __future__ import annotations

from typing import Any

from arena.base.errors import IllegalActionError, StoreError, UnknownNameError
from arena.games import Game, make_game
from arena.games.checked_game import checked_game
from arena.lab.matches.puzzle import Puzzle, kept_puzzles
from arena.site.matches.games import require_game
from arena.site.matches.games_model import LegalAction
from arena.site.matches.positions import named_targets, record_of_nobody
from arena.site.matches.puzzles_model import (
    ListedPuzzle,
    PuzzleAnswer,
    PuzzleMiss,
    PuzzlePage,
    PuzzleParameters,
    PuzzlesPage,
    PuzzlesParameters,
)
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome


def build_puzzles(home: ArenaHome, parameters: PuzzlesParameters) -> PuzzlesPage:
    """Build the list of the puzzles of a tournament.

    Raises:
        UnknownNameError: if there is no such tournament.
        StoreError: if the file of its puzzles is malformed.
    """
    tournament = home.store.tournament(parameters.tournament)
    found = kept_puzzles(home.directory, tournament)
    return PuzzlesPage(
        tournament=tournament.name, puzzles=tuple(_listed(number, one) for number, one in enumerate(found, 1))
    )


def build_puzzle(home: ArenaHome, parameters: PuzzleParameters) -> PuzzlePage:
    """Build the page of a puzzle.

    Raises:
        UnknownNameError: if there is no such tournament, puzzle or game.
        StoreError: if the file of the puzzles is malformed.
        GameError: if the rules are wrong.
    """
    tournament = home.store.tournament(parameters.tournament)
    found = kept_puzzles(home.directory, tournament)
    if parameters.puzzle > len(found):
        raise UnknownNameError("puzzle", str(parameters.puzzle), [f"1 to {len(found)}"] if found else [])
    puzzle = found[parameters.puzzle - 1]
    require_game(home, puzzle.game)
    game = checked_game(make_game(puzzle.game, **puzzle.options), puzzle.game)
    state = _replayed(game, puzzle, parameters.puzzle)
    legal = [
        LegalAction(text=text, actions=text, target=target)
        for text, target in named_targets(game, state, game.legal_actions(state))
    ]
    record = record_of_nobody(puzzle.game, game, state, puzzle.actions)
    tried = next((one for one in puzzle.choices if one.text == parameters.action.strip()), None)
    is_solved = tried is not None and tried is puzzle.choices[puzzle.solution]
    return PuzzlePage(
        tournament=tournament.name,
        listed=_listed(parameters.puzzle, puzzle),
        count=len(found),
        shown=viewed_match(record, {bot: bot for bot in record.bots}, most=1),
        legal=tuple(legal),
        tried=parameters.action.strip(),
        is_solved=is_solved,
        verdict=_verdict(puzzle, parameters.action.strip()),
        answer=_answer(puzzle) if is_solved or parameters.answer else None,
    )


def _listed(number: int, puzzle: Puzzle) -> ListedPuzzle:
    return ListedPuzzle(
        puzzle=number,
        game=puzzle.game,
        options=", ".join(f"{name} {value}" for name, value in puzzle.options.items()),
        seat=puzzle.seat,
        goal=puzzle.goal_in_words,
        choices=len(puzzle.choices),
        difficulty=puzzle.lines_log2,
        missed=puzzle.missed,
        met=puzzle.met,
    )


def _replayed(game: Game[Any], puzzle: Puzzle, number: int) -> Any:
    """Return the state of a puzzle.

    Raises:
        StoreError: if the rules refuse an action, or other actions are legal there.
    """
    state = game.initial_state()
    try:
        for seat, action in puzzle.actions:
            if game.seat_to_act(state) != seat:
                raise StoreError(f"puzzle {number}: seat {seat} acts, but is not to act")
            state = game.apply(state, action)
    except IllegalActionError as error:
        raise StoreError(f"puzzle {number}: {error.reason}") from error
    texts = [] if game.is_over(state) else [str(game.format_action(one)) for one in game.legal_actions(state)]
    if texts != [choice.text for choice in puzzle.choices] or game.seat_to_act(state) != puzzle.seat:
        raise StoreError(f"puzzle {number}: its choices are not the legal actions of its position")
    return state


def _verdict(puzzle: Puzzle, tried: str) -> str:
    if not tried:
        return ""
    choice = next((one for one in puzzle.choices if one.text == tried), None)
    if choice is None:
        return f"{tried} is no legal action here."
    who = f"seat {puzzle.seat}"
    if choice is puzzle.choices[puzzle.solution]:
        return f"Solved: with {tried}, {who} {puzzle.verb(choice.outcome)}, and with no other action."
    return f"Not {tried}: after it, {who} {puzzle.verb(choice.outcome)} with best play."


def _answer(puzzle: Puzzle) -> PuzzleAnswer:
    by_verb: dict[str, list[str]] = {"wins": [], "draws": [], "loses": []}
    for choice in puzzle.choices:
        by_verb[puzzle.verb(choice.outcome)].append(choice.text)
    return PuzzleAnswer(
        solution=puzzle.choices[puzzle.solution].text,
        wins=tuple(by_verb["wins"]),
        draws=tuple(by_verb["draws"]),
        loses=tuple(by_verb["loses"]),
        misses=tuple(
            PuzzleMiss(bot=miss.bot, match=miss.match, ply=miss.ply, text=miss.text) for miss in puzzle.misses
        ),
    )
