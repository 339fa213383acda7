import random
from functools import cache


def result_of(game, state):
    """Return the result of a match that is over for seat 0 (1, 0 or -1), and the lead of seat 0."""
    ranks, scores = game.ranks(state), game.scores(state)
    return (ranks[1] > ranks[0]) - (ranks[0] > ranks[1]), round(scores[0] - scores[1], 9)


def brute_force(game):
    """Return a function that gives the value of a position for seat 0 by looking at everything: result, then lead."""

    @cache
    def value(state):
        seat = game.seat_to_act(state)
        if seat is None:
            return result_of(game, state)
        found = [value(game.apply(state, action)) for action in game.legal_actions(state)]
        return max(found) if seat == 0 else min(found)

    return value


def positions(game, rng_seed, matches):
    """Yield each state of random matches in which somebody is to act, and the seat."""
    draw = random.Random(rng_seed)
    for _ in range(matches):
        state = game.initial_state()
        while (seat := game.seat_to_act(state)) is not None:
            yield state, seat
            state = game.apply(state, draw.choice(list(game.legal_actions(state))))
