"""The page of a game: its rules, and a board to try actions on. The position is in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.base.errors import ArenaError, IllegalActionError
from arena.games import ChoiceOption, Game, Option, find_game, make_game, parse_options
from arena.games.checked_game import checked_game
from arena.site.matches.games import MAX_TEXT_CHARACTERS, problem_text, require_game
from arena.site.matches.games_model import (
    MAX_ACTIONS_CHARACTERS,
    GameOption,
    GamePage,
    GameParameters,
    LegalAction,
)
from arena.site.matches.match_sentences import result_sentence
from arena.site.matches.positions import named_targets, record_of_nobody
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome

MAX_ACTIONS = 1000
MAX_LEGAL = 400
"""Of actions that are listed and shown on the board."""

MAX_RULES_CHARACTERS = 50_000


class _Trial(NamedTuple):
    """A position that was reached by trying, and why it goes no further."""

    game: Game[Any]
    state: Any
    actions: list[list[Any]]
    texts: list[str]
    refused: str


def build_game(home: ArenaHome, parameters: GameParameters) -> GamePage:
    """Build the page of a game.

    Raises:
        UnknownNameError: if it does not exist here.
        OptionError: if an option is not accepted.
        GameError: if the rules are wrong.
    """
    require_game(home, parameters.game)
    try:
        rules = find_game(parameters.game)
    except ArenaError as error:  # of a tournament from elsewhere: what its bots did can be shown all the same
        return GamePage(name=parameters.game, problem=problem_text(error))
    options = parse_options(parameters.game, [text for text in parameters.options.split(" ") if text])
    game = checked_game(make_game(parameters.game, **options), parameters.game)
    trial = _tried(game, parameters.actions.split()[:MAX_ACTIONS], parameters.action.strip())
    record = record_of_nobody(parameters.game, trial.game, trial.state, trial.actions)
    names = {bot: bot for bot in record.bots}
    is_over = game.is_over(trial.state)
    legal = [] if is_over else list(game.legal_actions(trial.state))
    return GamePage(
        name=parameters.game,
        summary=rules.summary[:MAX_TEXT_CHARACTERS],
        rules=rules.rulebook()[:MAX_RULES_CHARACTERS],
        action_format=rules.action_format[:MAX_TEXT_CHARACTERS],
        options=tuple(_option(option, game.options.get(option.name)) for option in rules.OPTIONS),
        given=" ".join(f"{name}={value}" for name, value in options.items() if value != _default(rules, name)),
        shown=viewed_match(record, names, most=1),
        actions=" ".join(trial.texts),
        earlier=" ".join(trial.texts[:-1]),
        refused=trial.refused,
        result=result_sentence(record, record.bots) if is_over else "",
        legal=tuple(_legal_actions(trial, legal[:MAX_LEGAL])),
        legal_count=len(legal),
    )


def _default(rules: type[Game[Any]], name: str) -> int | str | None:
    return next((option.default for option in rules.OPTIONS if option.name == name), None)


def _option(option: Option, value: int | str | None) -> GameOption:
    bounds: dict[str, Any] = (
        {"choices": option.choices}
        if isinstance(option, ChoiceOption)
        else {"minimum": option.minimum, "maximum": option.maximum}
    )
    return GameOption(
        name=option.name,
        type=option.type_name,
        default=option.default,
        accepted=option.accepted,
        meaning=option.meaning,
        value=option.default if value is None else value,
        **bounds,
    )


def _tried(game: Game[Any], texts: Sequence[str], wanted: str) -> _Trial:
    """Play actions up to the first that is refused."""
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
    found = []
    for text, target in named_targets(trial.game, trial.state, legal):
        after = " ".join([*trial.texts, text])
        is_short = len(after) <= MAX_ACTIONS_CHARACTERS and len(trial.texts) < MAX_ACTIONS and not _is_split(text)
        found.append(LegalAction(text=text, actions=after if is_short else "", target=target))
    return found


def _is_split(text: str) -> bool:
    """Return whether a text would be taken for several actions."""
    return len(text.split()) != 1
