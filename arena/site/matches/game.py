"""Builds the page of a game and the puzzles of a tournament; it runs rules, but no search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from arena.base.errors import ArenaError, IllegalActionError, NothingYetError, StoreError
from arena.base.text import shortened_text
from arena.games import Game, find_game, make_game, parse_options
from arena.games.checked_game import checked_game
from arena.lab.advice import ADVICE, Score
from arena.lab.matches.puzzle import Puzzle, kept_puzzles, numbered, puzzle_of_the_day
from arena.lab.solving.worth import number_text
from arena.site.matches.games_model import (
    MAX_ACTIONS_CHARACTERS,
    AdviceScore,
    GameOption,
    GamePage,
    GameParameters,
    LegalAction,
    ListedPuzzle,
    PuzzleAnswer,
    PuzzleMiss,
    PuzzlePage,
    PuzzleParameters,
    PuzzleRefutation,
    PuzzlesPage,
    PuzzlesParameters,
    PuzzleTurn,
    TodayPage,
    TodayParameters,
)
from arena.site.matches.match_sentences import result_sentence
from arena.site.matches.positions import (
    MAX_TEXT_CHARACTERS,
    named_targets,
    problem_text,
    record_of_nobody,
    require_game,
)
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome

MAX_ACTIONS = 1000
MAX_LEGAL = 400
"""Of actions that are listed and shown on the board."""

MAX_RULES_CHARACTERS = 50_000


class _Trial(NamedTuple):
    """A position that was reached by trying actions, and why the next action was illegal."""

    game: Game[Any]
    state: Any
    actions: list[list[Any]]
    texts: list[str]
    refused: str


def build_game(home: ArenaHome, parameters: GameParameters) -> GamePage:
    """Build the page of a game; GameError if its rules are wrong."""
    require_game(home, parameters.game)
    try:
        rules = find_game(parameters.game)
    except ArenaError as error:  # a game of an imported tournament; pages still show the results of its bots
        return GamePage(name=parameters.game, problem=problem_text(error))
    options = parse_options(parameters.game, [text for text in parameters.options.split(" ") if text])
    game = checked_game(make_game(parameters.game, **options), parameters.game)
    trial = _tried(game, parameters.actions.split()[:MAX_ACTIONS], parameters.action.strip())
    record = record_of_nobody(parameters.game, trial.game, trial.state, trial.actions)
    names = {bot: bot for bot in record.bots}
    is_over = game.is_over(trial.state)
    legal = [] if is_over else list(game.legal_actions(trial.state))
    advice = ADVICE.get(parameters.game)
    defaults = {option.name: option.default for option in rules.OPTIONS}
    values = defaults | dict(game.options)
    return GamePage(
        name=parameters.game,
        summary=rules.summary[:MAX_TEXT_CHARACTERS],
        rules=game.rulebook()[:MAX_RULES_CHARACTERS],
        action_format=rules.action_format[:MAX_TEXT_CHARACTERS],
        options=tuple(
            GameOption.of(option, type=option.type_name, value=values[option.name]) for option in rules.OPTIONS
        ),
        given=" ".join(f"{name}={value}" for name, value in options.items() if value != defaults[name]),
        shown=viewed_match(record, names, most=1),
        actions=" ".join(trial.texts),
        earlier=" ".join(trial.texts[:-1]),
        refused=trial.refused,
        result=result_sentence(record, record.bots) if is_over else "",
        legal=tuple(_legal_actions(trial, legal[:MAX_LEGAL])),
        legal_count=len(legal),
        advice=tuple(line.text for line in advice.lines.values()) if advice else (),
        advice_scores=tuple(map(_advice_score, advice.scores)) if advice else (),
        advice_known=advice.known if advice else "",
    )


def _advice_score(score: Score) -> AdviceScore:
    low, high = score.interval
    return AdviceScore.of(score, low=low, high=high)


def _tried(game: Game[Any], texts: Sequence[str], wanted: str) -> _Trial:
    """Play actions up to the first illegal one."""
    state, actions, played, refused = game.initial_state(), list[list[Any]](), list[str](), ""
    for text in [*texts, *([wanted] if wanted else [])]:
        try:
            action = game.parse_action(text)
            seat, state = game.seat_to_act(state), game.apply(state, action)
        except IllegalActionError as error:
            refused = f"{text}: {error.reason}"[:MAX_TEXT_CHARACTERS]
            break
        actions.append([seat, action])
        played.append(text)
    return _Trial(game, state, actions, played, refused)


def _legal_actions(trial: _Trial, legal: Sequence[Any]) -> list[LegalAction]:
    listed = []
    for text, target in named_targets(trial.game, trial.state, legal):
        after = " ".join([*trial.texts, text])
        fits = len(after) <= MAX_ACTIONS_CHARACTERS and len(trial.texts) < MAX_ACTIONS and len(text.split()) == 1
        listed.append(LegalAction(text=text, actions=after if fits else "", target=target))
    return listed


class _LinePosition(NamedTuple):
    """A position of a puzzle's line, and the actions that led to it."""

    state: Any
    actions: list[list[Any]]


def build_puzzles(home: ArenaHome, parameters: PuzzlesParameters) -> PuzzlesPage:
    """Build the list of the puzzles of a tournament; StoreError if their file is malformed."""
    tournament = home.store.tournament(parameters.tournament)
    puzzles = kept_puzzles(home.directory, tournament)
    return PuzzlesPage(
        tournament=tournament.name, puzzles=tuple(_listed(number, puzzle) for number, puzzle in enumerate(puzzles, 1))
    )


def build_puzzle(home: ArenaHome, parameters: PuzzleParameters) -> PuzzlePage:
    """Build the page of a puzzle.

    Raises:
        StoreError: if the file of the puzzles is malformed.
        GameError: if the rules are wrong.
    """
    tournament = home.store.tournament(parameters.tournament)
    puzzles = kept_puzzles(home.directory, tournament)
    puzzle = numbered(puzzles, parameters.puzzle)
    return _puzzle_page(home, tournament.name, parameters.puzzle, len(puzzles), puzzle, parameters)


def build_today(home: ArenaHome, parameters: TodayParameters) -> TodayPage:
    """Build the page of the puzzle of the day.

    Raises:
        NothingYetError: if no tournament has a puzzle.
        GameError: if the rules are wrong.
    """
    date = datetime.now(UTC).date().isoformat()
    today = puzzle_of_the_day(home.directory, home.store.tournaments(), date)
    if today is None:
        raise NothingYetError(
            "There are no puzzles here yet. The site searches finished tournaments for them, as does:"
            " arena lab puzzles TOURNAMENT"
        )
    tournament, daily = today
    page = _puzzle_page(home, tournament.name, daily.number, daily.count, daily.puzzles[0], parameters)
    return TodayPage.of(page, date=date)


def _puzzle_page(
    home: ArenaHome,
    tournament: str,
    number: int,
    count: int,
    puzzle: Puzzle,
    parameters: PuzzleParameters | TodayParameters,
) -> PuzzlePage:
    require_game(home, puzzle.game)
    game = checked_game(make_game(puzzle.game, **puzzle.options), puzzle.game)
    line_positions = _replayed(game, puzzle, number)
    solved, wrong = _solved_turns(puzzle, parameters.action.strip())
    position, is_solved = line_positions[solved], solved == len(puzzle.turns)
    right = [turn.right.text for turn in puzzle.turns[:solved]]
    legal = [
        LegalAction(text=text, actions=" ".join([*right, text]), target=target)
        for text, target in (
            () if is_solved else named_targets(game, position.state, game.legal_actions(position.state))
        )
    ]
    record = record_of_nobody(puzzle.game, game, position.state, position.actions)
    line_text = _line_sentence(puzzle, game.is_over(line_positions[-1].state))
    verdict = _verdict(puzzle, solved, line_text)
    return PuzzlePage(
        tournament=tournament,
        listed=_listed(number, puzzle),
        count=count,
        shown=viewed_match(record, {bot: bot for bot in record.bots}, most=1),
        legal=tuple(legal),
        tried=parameters.action.strip(),
        found=" ".join(right),
        is_solved=is_solved,
        verdict=_wrong_verdict(game, puzzle, number, solved, position, wrong) if wrong else verdict,
        answer=_answer(puzzle, line_text) if is_solved or parameters.answer else None,
    )


def _solved_turns(puzzle: Puzzle, tries: str) -> tuple[int, str]:
    """Return how many turns the tries solve, and the first wrong try after them; "" without one."""
    for number, turn in enumerate(puzzle.turns):
        text = turn.right.text
        if tries == text:
            return number + 1, ""
        if not tries.startswith(f"{text} ") or any(tries == choice.text for choice in turn.choices):
            return number, tries
        tries = tries.removeprefix(text).strip()
    return len(puzzle.turns), ""


def _listed(number: int, puzzle: Puzzle) -> ListedPuzzle:
    return ListedPuzzle.of(
        puzzle,
        puzzle=number,
        options=", ".join(f"{name} {value}" for name, value in puzzle.options.items()),
        goal=puzzle.goal_in_words,
        choices=len(puzzle.choices),
        difficulty=puzzle.lines_log2,
    )


def _replayed(game: Game[Any], puzzle: Puzzle, number: int) -> list[_LinePosition]:
    state, actions, positions = game.initial_state(), [list(pair) for pair in puzzle.actions], list[_LinePosition]()
    try:
        for seat, action in actions:
            if game.seat_to_act(state) != seat:
                raise StoreError(f"puzzle {number}: seat {seat} acts, but is not to act")
            state = game.apply(state, action)
    except IllegalActionError as error:
        raise StoreError(f"puzzle {number}: {error.reason}") from error
    for turn in puzzle.turns:
        if turn.reply:
            state, actions = _after(game, _LinePosition(state, actions), turn.reply, number)
        if _texts(game, state) != [choice.text for choice in turn.choices] or game.seat_to_act(state) != puzzle.seat:
            raise StoreError(f"puzzle {number}: its choices are not the legal actions of its position")
        positions.append(_LinePosition(state, actions))
        state, actions = _after(game, positions[-1], turn.right.text, number)
    return [*positions, _LinePosition(state, actions)]


def _texts(game: Game[Any], state: Any) -> list[str]:
    return [] if game.is_over(state) else [str(game.format_action(action)) for action in game.legal_actions(state)]


def _after(game: Game[Any], position: _LinePosition, text: str, number: int) -> _LinePosition:
    texts = _texts(game, position.state)
    if text not in texts:
        raise StoreError(f"puzzle {number}: {shortened_text(text)} is not legal in its line")
    action = game.legal_actions(position.state)[texts.index(text)]
    pair = [game.seat_to_act(position.state), action]
    return _LinePosition(game.apply(position.state, action), [*position.actions, pair])


def _verdict(puzzle: Puzzle, solved: int, line: str) -> str:
    if not solved:
        return ""
    right, who = puzzle.turns[solved - 1].right.text, f"seat {puzzle.seat}"
    if solved < len(puzzle.turns):
        reply = puzzle.turns[solved].reply
        return f"{right} is right. Seat {1 - puzzle.seat} answers {reply}, and {who} is to act again."
    if puzzle.line:
        return f"Solved. {line}"
    return f"Solved: with {right}, {who} {puzzle.verb(puzzle.goal)}, and with no other action."


def _wrong_verdict(
    game: Game[Any], puzzle: Puzzle, number: int, solved: int, position: _LinePosition, tried: str
) -> str:
    choice = next((option for option in puzzle.turns[solved].choices if option.text == tried), None)
    if choice is None:
        return f"{shortened_text(tried)} is no legal action here."
    loses = f"seat {puzzle.seat} {puzzle.verb(choice.outcome)}"
    after = _after(game, position, tried, number)
    if game.is_over(after.state):
        return f"Not {tried}: it ends the match, and {loses}."
    if not choice.refutation:
        return f"Not {tried}: after it, {loses} with best play."
    answers = f"Not {tried}: seat {1 - puzzle.seat} answers {choice.refutation}"
    if game.is_over(_after(game, after, choice.refutation, number).state):
        return f"{answers}, which ends the match, and {loses}."
    return f"{answers}, and then {loses} with best play."


def _answer(puzzle: Puzzle, line: str) -> PuzzleAnswer:
    by_verb: dict[str, list[str]] = {"wins": [], "draws": [], "loses": []}
    for choice in puzzle.choices:
        by_verb[puzzle.verb(choice.outcome)].append(choice.text)
    return PuzzleAnswer(
        solution=puzzle.choices[puzzle.solution].text,
        line=line,
        turns=tuple(
            PuzzleTurn(
                solution=turn.right.text,
                refutations=tuple(
                    PuzzleRefutation(action=choice_of_turn.text, reply=choice_of_turn.refutation)
                    for choice_of_turn in turn.choices
                    if choice_of_turn.refutation
                ),
            )
            for turn in puzzle.turns
        ),
        wins=tuple(by_verb["wins"]),
        draws=tuple(by_verb["draws"]),
        loses=tuple(by_verb["loses"]),
        misses=tuple(map(PuzzleMiss.of, puzzle.misses)),
    )


def _line_sentence(puzzle: Puzzle, is_over: bool) -> str:
    """Return the line to be read out: "Seat 0: b4, seat 1: c2, seat 0: a1 – and seat 0 wins by 3"."""
    parts = list[str]()
    for turn in puzzle.turns:
        parts += [f"seat {1 - puzzle.seat}: {turn.reply}"] if turn.reply else []
        parts.append(f"seat {puzzle.seat}: {turn.right.text}")
    verb, margin = puzzle.verb(puzzle.goal), puzzle.turns[-1].right.margin or 0
    is_ahead = verb == "wins" and (margin > 0) == (puzzle.seat == 0) and margin != 0
    by = f" by {number_text(abs(margin)).removeprefix('+')}" if is_ahead else ""
    rest = "" if is_over else " with best play"
    return f"S{', '.join(parts).removeprefix('s')} – and seat {puzzle.seat} {verb}{by}{rest}."
