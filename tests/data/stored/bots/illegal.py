"""Answers with an action that no game has, after its third."""

from arena.botkit import run

answered = 0


def choose(game, state, clock):
    global answered
    answered += 1
    return game.legal_actions(state)[0] if answered % 4 else "nowhere"


run(choose)
