"""Positions that no match has reached, for pages on which visitors try actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.base.bot_text import BotText
from arena.base.enums import Termination
from arena.base.errors import ArenaError, GameError
from arena.base.records import MatchRecord, SeatReport, TimeControl
from arena.games import Game
from arena.match.final_ranks import final_ranks
from arena.site.matches.action_targets import action_targets
from arena.site.matches.games import MAX_TEXT_CHARACTERS
from arena.site.matches.match_model import Shape


def record_of_nobody(name: str, game: Game[Any], state: Any, actions: Sequence[Sequence[Any]]) -> MatchRecord:
    """Return a position as the record of a match of nobody.

    Args:
        name: of the game.
        game: its rules.
        state: the position.
        actions: ``[seat, action]`` each, that led to it.
    """
    count, nothing = game.players, (None,) * len(actions)
    return MatchRecord(
        match=1,
        tournament="",
        game=name,
        options=game.options,
        bots=tuple(f"seat {seat}" for seat in range(count)),
        rng_seed=0,
        encounter=1,
        opening=None,
        opening_plies=0,
        actions=tuple(actions),
        scores=tuple(game.scores(state)),
        ranks=tuple(final_ranks(game, state, [])),
        termination=Termination.NORMAL,
        faults=(),
        wall_seconds=nothing,
        cpu_seconds=nothing,
        seats=(SeatReport(),) * count,
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
        yield _text_of(game, action), target


def _text_of(game: Game[Any], action: Any) -> str:
    try:
        return str(game.format_action(action))[:MAX_TEXT_CHARACTERS]
    except GameError:
        return str(action)[:MAX_TEXT_CHARACTERS]
