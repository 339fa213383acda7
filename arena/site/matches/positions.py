"""The list of games, and positions that no match has reached, for pages on which visitors try actions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from arena.analysis.text.match_view import action_targets, action_text
from arena.base.bot_text import BotText
from arena.base.enums import Termination
from arena.base.errors import ArenaError, UnknownNameError
from arena.base.records import MatchRecord, SeatReport, TimeControl
from arena.games import GAMES, Game, find_game, make_game
from arena.match.replay import final_ranks
from arena.site.frame.model import Parameters
from arena.site.matches.games_model import GamesPage, ListedGame
from arena.site.matches.match_model import Shape, ViewedMatch
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome

MAX_EXTERNAL_GAMES = 100
MAX_TEXT_CHARACTERS = 1000


def build_games(home: ArenaHome, _: Parameters) -> GamesPage:
    """Build the list of games."""
    return GamesPage(games=tuple(map(_listed, [*GAMES, *external_games(home)[:MAX_EXTERNAL_GAMES]])))


def external_games(home: ArenaHome) -> list[str]:
    """Return the dotted paths of the games from elsewhere that tournaments here play, in order."""
    names = {choice.game for tournament in home.store.tournaments() for choice in tournament.definition.games}
    return sorted(names - set(GAMES))


def require_game(home: ArenaHome, name: str) -> None:
    """Raise UnknownNameError unless it is a game of the arena or of a tournament here: no other module is imported."""
    if name not in GAMES and name not in external_games(home):
        raise UnknownNameError("game", name, [*GAMES, *external_games(home)])


def problem_text(error: ArenaError) -> str:
    """Return why a game can't be loaded."""
    return str(error)[:MAX_TEXT_CHARACTERS]


PITCHES = {
    "plusminus": "You bet on ups and downs before a single mark is on the board, and then fight for every one of them.",
    "plaid": "You draw lines across a sheet; of the rectangles that they make, counting decides which are yours.",
    "coprimality": "One path, one wrong number, and you are out; the last one who can still go on wins.",
    "differences": "A mark in every row and column, and only steps of new lengths count. It is fair at every size.",
    "multiplication": "First you place the marks together, then you number them: the longest jumps are worth the most.",
}
PICTURED = {
    "plusminus": ({"size": 8}, 20),
    "plaid": ({"width": 24, "height": 24, "lines": 12}, 12),
    "coprimality": ({"size": 8}, 9),
    "differences": ({"size": 8}, 6),
    "multiplication": ({"size": 9}, 14),
}
"""The options of the position in the picture of a game, and how many random actions lead to it."""


@cache
def _picture(name: str) -> ViewedMatch:
    options, plies = PICTURED[name]
    game, rng = make_game(name, **options), random.Random(1)
    state, actions = game.initial_state(), list[list[Any]]()
    for _ in range(plies):
        after = [(action, game.apply(state, action)) for action in game.legal_actions(state)]
        unfinished = [pair for pair in after if not game.is_over(pair[1])]
        if not unfinished:
            break
        action, next_state = rng.choice(unfinished)
        actions.append([game.seat_to_act(state), action])
        state = next_state
    record = record_of_nobody(name, game, state, actions)
    return viewed_match(record, {bot: bot for bot in record.bots}, most=1)


def _listed(name: str) -> ListedGame:
    try:
        game = find_game(name)
    except ArenaError as error:
        return ListedGame(name=name, problem=problem_text(error))
    options = tuple(option.name for option in game.OPTIONS)
    return ListedGame(
        name=name,
        summary=game.summary[:MAX_TEXT_CHARACTERS],
        players="2 or more" if "players" in options else "2",
        options=options,
        pitch=PITCHES.get(name, ""),
        picture=_picture(name) if name in PICTURED else None,
    )


def record_of_nobody(name: str, game: Game[Any], state: Any, actions: Sequence[Sequence[Any]]) -> MatchRecord:
    """Return a position, and the ``[seat, action]`` pairs that led to it, as the record of a match of nobody."""
    unplayed = record_without_result(name, game.options, [f"seat {seat}" for seat in range(game.players)], actions)
    scores, ranks = tuple(game.scores(state)), tuple(final_ranks(game, state, []))
    return replace(unplayed, scores=scores, ranks=ranks, termination=Termination.NORMAL)


def record_without_result(
    game: str, options: Mapping[str, int | str], bots: Sequence[str], actions: Sequence[Sequence[Any]]
) -> MatchRecord:
    """Return actions in the form of a record, before anything is known of a result."""
    nothing = (None,) * len(actions)
    return MatchRecord(
        match=1,
        tournament="",
        game=game,
        options=options,
        bots=tuple(bots),
        rng_seed=0,
        encounter=1,
        opening=None,
        opening_plies=0,
        actions=tuple(actions),
        scores=(0,) * len(bots),
        ranks=(1,) * len(bots),
        termination=Termination.VOID,
        faults=(),
        wall_seconds=nothing,
        cpu_seconds=nothing,
        seats=(SeatReport(),) * len(bots),
        notes=BotText(()),
        time_control=TimeControl(),
        isolation="",
    )


def named_targets(game: Game[Any], state: Any, legal: Sequence[Any]) -> Iterator[tuple[str, Shape | None]]:
    """Yield each action as text, with the shape on the board that stands for it; None without one."""
    try:
        targets = action_targets(game, state, legal)
    except ArenaError:
        targets = [None] * len(legal)
    for action, target in zip(legal, targets, strict=True):
        yield action_text(game, action), target
