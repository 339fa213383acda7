"""The steps of skill: strategies of one sentence, searches of rising strength, and encounters between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from random import Random
from statistics import fmean
from typing import Any

from arena.base.results import points_of
from arena.base.seeds import derived_seed
from arena.base.text import counted
from arena.games.game import Game
from arena.games.squares import as_square
from arena.lab.measures.exact_values import BestPlay, ExactValues
from arena.lab.measures.simulation import SimulatedMatch, Strategy, TreeSearch, pick, simulate

# Strategies that can be said in one sentence: what they reach shows how much more there is to a game.

_OTHER_SIGN = {"+": "-", "-": "+"}


def at_random(game: Game[Any]) -> Strategy:
    """Return a strategy that takes any legal action."""
    return lambda state, _answered, rng: pick(game.legal_actions(state), rng)


def greedy(game: Game[Any]) -> Strategy:
    """Return a strategy that takes an action after which its score is furthest ahead of the best other one."""

    def choose(state: Any, _answered: Any, rng: Random) -> Any:
        seat = game.seat_to_act(state)
        assert seat is not None
        return _pick_best(game, state, lambda action: lead_of(game.scores(game.apply(state, action)), seat), rng)

    return choose


def answering(game: Game[Any], counterpart: Callable[[Any], Any]) -> Strategy:
    """Return a strategy that answers an action with its counterpart, and takes any action where that is not legal."""

    def choose(state: Any, answered: Any, rng: Random) -> Any:
        actions = game.legal_actions(state)
        answer = None if answered is None else counterpart(answered)
        counterparts = [action for action in actions if answer is not None and as_value(action) == answer]
        return counterparts[0] if counterparts else pick(actions, rng)

    return choose


def bordering(game: Game[Any], board: Board) -> Strategy:
    """Return a strategy that takes an action as near to the border as any."""
    return lambda state, _answered, rng: _pick_best(game, state, lambda action: -board.from_border(action), rng)


def _pick_best(game: Game[Any], state: Any, rating: Callable[[Any], float], rng: Random) -> Any:
    rated = [(rating(action), action) for action in game.legal_actions(state)]
    best = max(rated, key=itemgetter(0))[0]
    return pick([action for rate, action in rated if rate == best], rng)


class Board:
    """Where actions are: squares, lines across a sheet, and signs, which are nowhere."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height

    def reflected(self, action: Any) -> Any:
        """Return an action at the same distance on the other side of the centre, or of the other sign."""
        square = as_square(action)
        if square is not None:
            return self._width + 1 - square[0], self._height + 1 - square[1]
        if _is_line(action):
            return action[0], (self._width if action[0] == "v" else self._height) - action[1]
        return _OTHER_SIGN.get(action) if isinstance(action, str) else None

    def copied(self, action: Any) -> Any:
        """Return an action with columns and rows exchanged, or of the same sign."""
        square = as_square(action)
        if square is not None:
            return square[1], square[0]
        if _is_line(action):
            return ("h" if action[0] == "v" else "v"), action[1]
        return action if action in _OTHER_SIGN else None

    def from_border(self, action: Any) -> int:
        """Return the distance from the nearest border; 0 for what is nowhere."""
        square = as_square(action)
        if square is not None:
            return min(square[0] - 1, self._width - square[0], square[1] - 1, self._height - square[1])
        if _is_line(action):
            return int(min(action[1], (self._width if action[0] == "v" else self._height) - action[1]))
        return 0


def board_of(game: Game[Any]) -> Board | None:
    """Return the board of a game whose actions are squares or lines; None for other games."""
    width = game.options.get("width", game.options.get("size"))
    height = game.options.get("height", game.options.get("size"))
    if type(width) is not int or type(height) is not int:
        return None
    state = game.initial_state()
    for _ in range(_LOOKED_AHEAD):
        actions = game.legal_actions(state)
        if not actions:
            return None
        if as_square(actions[0]) is not None or _is_line(actions[0]):
            return Board(width, height)
        state = game.apply(state, actions[0])
    return None


_LOOKED_AHEAD = 200
"""Actions after which a board must have been used; the two lists of plusminus come before its grid."""

SENTENCES = {
    "random": "take any legal action",
    "greedy": "take an action after which your score is furthest ahead",
    "mirror": "answer on the other side of the centre; else any",
    "copy": "answer with column and row exchanged, or the same sign; else any",
    "border": "act as near to the border as you can",
}
"""Each strategy as it would be said to a player."""


def simple_strategies(game: Game[Any]) -> dict[str, Strategy]:
    """Return the strategies that a game allows, by their names in ``SENTENCES``."""
    strategies: dict[str, Strategy] = {"random": at_random(game), "greedy": greedy(game)}
    board = board_of(game)
    if board is not None:
        strategies["mirror"] = answering(game, board.reflected)
        strategies["copy"] = answering(game, board.copied)
        strategies["border"] = bordering(game, board)
    return strategies


def lead_of(scores: tuple[int | float, ...], seat: int) -> float:
    """Return by how much the score of a seat exceeds the best other one."""
    return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)


def as_value(action: Any) -> Any:
    """Return an action that can be compared: a list becomes a tuple."""
    return tuple(action) if isinstance(action, list) else action


def _is_line(action: Any) -> bool:
    return isinstance(action, tuple | list) and len(action) == 2 and action[0] in ("v", "h")


# Strengths to simulate matches with, and encounters between them.

FIRST_PLAYOUTS = 8
"""The playouts for each action of the weakest search; each stronger one has twice as many."""

LAST_PLIES = (2, 4, 6)
"""In how many of the last actions handicapped best play is best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """A way to play, what tables call it, and the playouts for each action of a search."""

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
    """Return the strengths that every game has, from weak to strong."""
    budgets = [FIRST_PLAYOUTS << doubled for doubled in range(doublings + 1)]
    return [
        Strength(name="random", strategy=at_random(game)),
        Strength(name="greedy", strategy=greedy(game)),
        *(
            Strength(name=f"search {budget}", strategy=TreeSearch(game, budget, check_time).choose, playouts=budget)
            for budget in budgets
        ),
    ]


def best_play_strengths(game: Game[Any], values: ExactValues, has_equal_lengths: bool) -> list[Strength]:
    """Return the strengths of a game with known values, from weak to strong: best play in the last actions."""
    handicapped = [
        Strength(name=f"best play in the last {counted(last, 'action')}", strategy=BestPlay(game, values, last).choose)
        for last in (LAST_PLIES if has_equal_lengths else ())
    ]
    return [*handicapped, Strength(name="best play", strategy=BestPlay(game, values).choose)]


def neighbours(strengths: Sequence[Strength]) -> list[Step]:
    """Return the steps of a ladder."""
    return [Step(stronger, weaker) for weaker, stronger in pairwise(strengths)]


def self_play(
    game: Game[Any], strength: Strength, seed: tuple[object, ...], check_time: Callable[[], None]
) -> SimulatedMatch:
    """Play a match in which all seats have the same strength; ``seed`` and strength determine it."""
    rng = _rng("self-play", strength.name, *seed)
    return simulate(game, [strength.strategy] * game.players, rng, check_time)


def encounter(game: Game[Any], step: Step, seed: tuple[object, ...], check_time: Callable[[], None]) -> float:
    """Play a match with the stronger one in each seat and the weaker in all others; return its mean points."""
    points = []
    for seat in range(game.players):
        strategies = [step.weaker.strategy] * game.players
        strategies[seat] = step.stronger.strategy
        rng = _rng("encounter", step.name, seat, *seed)
        points.append(points_of(simulate(game, strategies, rng, check_time).ranks, seat))
    return fmean(points)


def _rng(*parts: object) -> Random:
    return Random(derived_seed("quality", *parts))
