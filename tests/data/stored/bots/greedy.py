"""Takes the action after which it is furthest ahead."""

from arena.botkit import run


def choose(game, state, clock):
    me = game.seat_to_act(state)

    def lead(action):
        scores = game.scores(game.apply(state, action))
        return scores[me] - max(score for seat, score in enumerate(scores) if seat != me)

    return max(game.legal_actions(state), key=lead)


run(choose)
