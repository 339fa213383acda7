import random

from arena.games import make_game
from arena.match.replay import final_ranks
from tests.lab.games import plain_value
from tests.site.matches import record


def record_of(name, options, choose, opening_plies=0, **changes):
    """Return the record of a match in which ``choose(game, state)`` makes every action."""
    game = make_game(name, **options)
    state, actions = game.initial_state(), []
    while not game.is_over(state):
        action = choose(game, state)
        actions.append([game.seat_to_act(state), action])
        state = game.apply(state, action)
    values = {
        "match": 1, "game": name, "options": game.options, "bots": ("a@1", "b@1"), "encounter": 1,
        "opening": 0 if opening_plies else None, "opening_plies": opening_plies, "scores": game.scores(state),
        "ranks": tuple(final_ranks(game, state, [])),
    }  # fmt: skip
    return record(actions, **{**values, **changes})


def at_random(seed):
    generator = random.Random(seed)
    return lambda game, state: generator.choice(list(game.legal_actions(state)))


def random_record(name, rng_seed, match=1, opening_plies=0, **options):
    return record_of(name, options, at_random(rng_seed), opening_plies, match=match)


def best(game, state):
    choose = max if game.seat_to_act(state) == 0 else min
    return choose(game.legal_actions(state), key=lambda action: plain_value(game, game.apply(state, action)))
