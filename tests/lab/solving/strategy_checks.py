"""The machine that checks strategies: every line of play on small boards, hostile random play on large ones."""

import random

from arena.base.errors import IllegalActionError


class BrokenStrategyError(Exception):
    """A strategy breaks its promise after ``line``."""

    def __init__(self, strategy, problem, line):
        super().__init__(f"the strategy {strategy.name!r} for {strategy.game} {problem} after {list(line)}")
        self.line = line


def check_exhaustively(game, strategy, seat):
    """Try every action of the other seats against a strategy, and return how many states it met.

    ``seat`` may also be one that the strategy is not for. BrokenStrategyError has the first line on which it breaks.
    """
    first = _after_reply(game, strategy, seat, game.initial_state(), ())
    seen = {first[0]}
    waiting = [first]
    while waiting:
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


def check_by_random_play(game, strategy, seat, matches, rng_seed):
    """Play a strategy against hostile random actions; return how many it met. BrokenStrategyError if it breaks.

    Half of the time the other seat takes an action that its counterpart can't answer, where there is one: an action
    after which the invariant still holds.
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


def _hostile(game, strategy, state, rng):
    actions = list(game.legal_actions(state))
    rng.shuffle(actions)
    if rng.random() < 0.5:
        return next((one for one in actions[:50] if strategy.holds(game, game.apply(state, one))), actions[0])
    return actions[0]


def _after_reply(game, strategy, seat, state, line):
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


def _check(game, strategy, seat, state, line):
    if game.is_over(state):
        ranks = game.ranks(state)
        if ranks[seat] > min(ranks):
            raise BrokenStrategyError(strategy, f"loses in seat {seat}", line)
    elif not strategy.holds(game, state):
        raise BrokenStrategyError(strategy, "leaves a state without its invariant", line)
