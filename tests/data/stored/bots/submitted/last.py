"""Takes the last legal action."""

from arena.botkit import run

run(lambda game, state, clock: game.legal_actions(state)[-1])
