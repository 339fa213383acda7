"""Records of random matches, and outcomes by the plainest of all solvers."""

import random

from arena.games import make_game
from tests.site.matches import record


def random_record(name, rng_seed, match=1, opening_plies=0, **options):
    """Return a match of a game for two in which both bots play at random."""
    game, rng = make_game(name, **options), random.Random(rng_seed)
    state, actions = game.initial_state(), []
    while not game.is_over(state):
        action = rng.choice(list(game.legal_actions(state)))
        actions.append([game.seat_to_act(state), list(action) if isinstance(action, tuple) else action])
        state = game.apply(state, action)
    end = {"scores": game.scores(state), "ranks": game.ranks(state)}
    return record(actions, match=match, game=name, options=dict(game.options), opening_plies=opening_plies, **end)


def outcome_of(game, state, known):
    """Return 1, 0 or -1 where seat 0 wins, draws or loses with best play.

    Args:
        game: the rules.
        state: a state.
        known: the outcomes that were found already.
    """
    if state not in known:
        if game.is_over(state):
            first, second = game.ranks(state)
            known[state] = (first < second) - (second < first)
        else:
            best = max if game.seat_to_act(state) == 0 else min
            known[state] = best(outcome_of(game, game.apply(state, one), known) for one in game.legal_actions(state))
    return known[state]
