"""Analyses one position: what it is worth, what each legal action is worth, and a line of best play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.base.errors import UsageError
from arena.games import Game
from arena.lab.matches.annotation import Mark, mark_of
from arena.lab.oracle import ActionWorth, Oracle
from arena.lab.solving.worth import Worth

MAX_LINE = 1000
"""Actions of the best line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedAction:
    """A legal action, the worth to seat 0 of the state after it, and the mark that it would have in a match."""

    action: Any
    text: str
    worth: Worth
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The worth of a position to seat 0, its legal actions in order, and the exact line of best play from here on."""

    seat: int
    worth: Worth
    actions: tuple[AnalysedAction, ...]
    best_line: tuple[Any, ...]


def analyse(game: Game[Any], oracle: Oracle, state: Any) -> Analysis:
    """Analyse a position; UsageError if the match is over there."""
    seat = game.seat_to_act(state)
    if seat is None:
        raise UsageError("the match is over in this position: there is nothing to choose")
    actions = oracle.actions(state)
    worth = oracle.worth(state)  # after its actions, from which a search has learned
    analysed = tuple(
        AnalysedAction(
            action=one.action,
            text=game.format_action(one.action),
            worth=one.worth,
            mark=mark_of(seat, worth, one.worth),
        )
        for one in actions
    )
    return Analysis(seat=seat, worth=worth, actions=analysed, best_line=_best_line(game, oracle, state, worth, actions))


def _best_line(
    game: Game[Any], oracle: Oracle, state: Any, worth: Worth, actions: Sequence[ActionWorth]
) -> tuple[Any, ...]:
    line: list[Any] = []
    while actions and worth.is_exact and len(line) < MAX_LINE:
        target = (worth.margin, worth.outcome)
        best = next((one for one in actions if (one.worth.margin, one.worth.outcome) == target), None)
        if best is None:  # a search was stopped
            break
        line.append(best.action)
        state, worth = game.apply(state, best.action), best.worth
        actions = [] if game.is_over(state) else oracle.actions(state)
    return tuple(line)
