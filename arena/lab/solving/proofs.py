"""What the strategies prove of a game, and the machine that checks them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from arena.base.errors import ArenaError, IllegalActionError
from arena.games.game import Game
from arena.lab.solving.limits import Limits
from arena.lab.solving.strategies import Strategy, strategies_for
from arena.lab.solving.worth import HIGHEST, LOWEST

_SHARE_OF_HOSTILE = 0.5


class BrokenStrategyError(ArenaError):
    """A strategy does not do what it promises.

    Attributes:
        line: the actions that lead to where it breaks.
    """

    def __init__(self, strategy: Strategy, problem: str, line: tuple[Any, ...]) -> None:
        super().__init__(f"the strategy {strategy.name!r} for {strategy.game} {problem} after {list(line)}")
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the strategies prove of a state.

    Attributes:
        low: its value is at least this.
        high: its value is at most this.
        names: the strategies that say so; empty without one.
        actions: those after which the seat to act holds what it is proved to hold.
    """

    low: int = LOWEST
    high: int = HIGHEST
    names: tuple[str, ...] = ()
    actions: tuple[Any, ...] = ()


def proof_of(game: Game[Any], path: str, state: Any) -> Proof:
    """Return what is proved of a state, which may be nothing.

    Args:
        game: the rules.
        path: the game's name or dotted path.
        state: a state in which a seat is to act.
    """
    proof = Proof()
    for strategy, seat in strategies_for(game, path):
        if game.seat_to_act(state) == seat:
            actions = game.legal_actions(state)
            keeping = tuple(one for one in actions if strategy.holds(game, game.apply(state, one)))
            if not keeping:
                continue
            proof = replace(proof, actions=keeping)
        elif not strategy.holds(game, state):
            continue
        proof = replace(proof, names=(*dict.fromkeys((*proof.names, strategy.name)),))
        proof = replace(proof, low=0) if seat == 0 else replace(proof, high=0)
    return proof


def check_exhaustively(game: Game[Any], strategy: Strategy, seat: int, limits: Limits | None = None) -> int:
    """Try every action of the other seats against a strategy, and return how many states it met.

    Args:
        game: the rules.
        strategy: what ``seat`` plays.
        seat: a seat, which may also be one that the strategy is not for.
        limits: the time.

    Raises:
        BrokenStrategyError: with the first line on which it breaks.
        TimeIsUpError: at the deadline.
    """
    limits = limits or Limits()
    first = _after_reply(game, strategy, seat, game.initial_state(), ())
    seen = {first[0]}
    waiting = [first]
    while waiting:
        limits.check_time()
        state, line = waiting.pop()
        _check(game, strategy, seat, state, line)
        if game.is_over(state):
            continue
        for action in game.legal_actions(state):
            after = _after_reply(game, strategy, seat, game.apply(state, action), (*line, action))
            if after[0] not in seen:
                seen.add(after[0])
                waiting.append(after)
    return len(seen)


def check_by_random_play(game: Game[Any], strategy: Strategy, seat: int, matches: int, rng_seed: int) -> int:
    """Play a strategy against hostile random actions, checking its invariant at every action; return how many it met.

    Half of the time the other seat takes an action that its counterpart can't answer, where there is one: an action
    after which the invariant still holds.

    Raises:
        BrokenStrategyError: with the line on which it breaks.
    """
    rng = random.Random(rng_seed)
    met = 0
    for _ in range(matches):
        state, line = _after_reply(game, strategy, seat, game.initial_state(), ())
        while True:
            _check(game, strategy, seat, state, line)
            met += 1
            if game.is_over(state):
                break
            action = _hostile(game, strategy, state, rng)
            state, line = _after_reply(game, strategy, seat, game.apply(state, action), (*line, action))
    return met


def _hostile(game: Game[Any], strategy: Strategy, state: Any, rng: random.Random) -> Any:
    actions = list(game.legal_actions(state))
    rng.shuffle(actions)
    if rng.random() < _SHARE_OF_HOSTILE:
        unanswerable = _unanswerable(game, strategy, state, actions[:50])
        return next(unanswerable, actions[0])
    return actions[0]


def _unanswerable(game: Game[Any], strategy: Strategy, state: Any, actions: list[Any]) -> Iterator[Any]:
    return (action for action in actions if strategy.holds(game, game.apply(state, action)))


def _after_reply(
    game: Game[Any], strategy: Strategy, seat: int, state: Any, line: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    """Return the state, and the line to it, in which the other seat is to act or the match is over."""
    while game.seat_to_act(state) == seat:
        action = strategy.reply(game, state)
        if action is None:
            raise BrokenStrategyError(strategy, "has no action", line)
        try:
            state = game.apply(state, action)
        except IllegalActionError as error:
            raise BrokenStrategyError(strategy, f"wants what is not legal ({error.reason})", line) from error
        line = (*line, action)
    return state, line


def _check(game: Game[Any], strategy: Strategy, seat: int, state: Any, line: tuple[Any, ...]) -> None:
    """Check the promise at the end of a match, and before that the invariant."""
    if game.is_over(state):
        ranks = game.ranks(state)
        if ranks[seat] > min(ranks):
            raise BrokenStrategyError(strategy, f"loses in seat {seat}", line)
    elif not strategy.holds(game, state):
        raise BrokenStrategyError(strategy, "leaves a state without its invariant", line)
