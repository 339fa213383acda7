"""Takes a legal action from the middle."""

from arena.botkit import run


def choose(game, state, clock):
    actions = game.legal_actions(state)
    return actions[len(actions) // 2]


run(choose)
