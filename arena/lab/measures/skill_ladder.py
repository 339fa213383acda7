"""Strengths to simulate matches with, and encounters between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import fmean
from typing import Any

from arena.base.results import points_of
from arena.base.seeds import derived_seed
from arena.base.text import counted
from arena.games.game import Game
from arena.lab.measures.exact_values import BestPlay, ExactValues
from arena.lab.measures.simple_strategies import GreedyStrategy, RandomStrategy
from arena.lab.measures.simulation import SimulatedMatch, Strategy, simulate
from arena.lab.measures.tree_search import TreeSearch

FIRST_PLAYOUTS = 8
"""Of the weakest search; each one above has twice as many for each action."""

LAST_PLIES = (2, 4, 6)
"""In how many of the last actions handicapped best play is best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """A way to play, and what tables call it.

    Attributes:
        name: what tables call it.
        strategy: what chooses.
        playouts: of a search, how many for each action.
    """

    name: str
    strategy: Strategy
    playouts: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Two strengths that meet, the stronger first."""

    stronger: Strength
    weaker: Strength

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.stronger.name} against {self.weaker.name}"

    @property
    def is_doubling(self) -> bool:
        """Whether both are searches, one of twice the playouts."""
        return self.stronger.playouts is not None and self.weaker.playouts is not None


def strengths_of(game: Game[Any], doublings: int, check_time: Callable[[], None]) -> list[Strength]:
    """Return the strengths that every game has, from weak to strong.

    Args:
        game: the rules.
        doublings: how often the playouts of the search are doubled.
        check_time: called often; it may raise what ends the match.
    """
    budgets = [FIRST_PLAYOUTS << doubled for doubled in range(doublings + 1)]
    return [
        Strength(name="random", strategy=RandomStrategy(game)),
        Strength(name="greedy", strategy=GreedyStrategy(game)),
        *(
            Strength(name=f"search {budget}", strategy=TreeSearch(game, budget, check_time), playouts=budget)
            for budget in budgets
        ),
    ]


def best_play_strengths(game: Game[Any], values: ExactValues, has_equal_lengths: bool) -> list[Strength]:
    """Return the strengths of a game whose values are known: best play in the last actions, from weak to strong.

    Args:
        game: the rules.
        values: of all states.
        has_equal_lengths: whether all its matches have the same number of actions.
    """
    handicapped = [
        Strength(name=f"best play in the last {counted(last, 'action')}", strategy=BestPlay(game, values, last))
        for last in (LAST_PLIES if has_equal_lengths else ())
    ]
    return [*handicapped, Strength(name="best play", strategy=BestPlay(game, values))]


def neighbours(strengths: Sequence[Strength]) -> list[Step]:
    """Return the steps of a ladder."""
    return [Step(stronger, weaker) for weaker, stronger in pairwise(strengths)]


def self_play(
    game: Game[Any], strength: Strength, seed: tuple[object, ...], check_time: Callable[[], None]
) -> SimulatedMatch:
    """Play a match in which all seats have the same strength.

    Args:
        game: the rules.
        strength: of all seats.
        seed: what determines its randomness, beside the strength.
        check_time: called before each action.
    """
    rng = _rng("self-play", strength.name, *seed)
    return simulate(game, [strength.strategy] * game.players, rng, check_time)


def encounter(game: Game[Any], step: Step, seed: tuple[object, ...], check_time: Callable[[], None]) -> float:
    """Play a match with the stronger one in each seat and the weaker in all others; return its mean points.

    Args:
        game: the rules.
        step: who meets.
        seed: what determines its randomness, beside who meets.
        check_time: called before each action.
    """
    points = []
    for seat in range(game.players):
        strategies = [step.weaker.strategy] * game.players
        strategies[seat] = step.stronger.strategy
        rng = _rng("encounter", step.name, seat, *seed)
        points.append(points_of(simulate(game, strategies, rng, check_time).ranks, seat))
    return fmean(points)


def _rng(*parts: object) -> Random:
    return Random(derived_seed("quality", *parts))
