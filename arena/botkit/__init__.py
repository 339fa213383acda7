"""For authors of bots in Python: everything but the idea.

A whole bot:

    from arena.botkit import run

    run(lambda game, state, clock: game.legal_actions(state)[0])

``game`` is the rules (``arena.games.Game``), ``state`` the position, ``clock`` says how long the action may take. The
function returns an action, or ``Choice(action, note=...)`` to leave a note for the replay. ``run_on_observations`` is
for bots that keep no rules: their function is given a ``Turn`` with the observation and the legal actions.

The standard ``random`` module is seeded with the match's ``rng_seed`` when a match begins, so a bot that draws from it
plays the same match again from the same seed. What the bot prints goes to stderr, never into the protocol; ``log`` does
the same and says so.

``python bot.py --selfplay GAME`` lets the bot play against itself in one process, without the arena; ``--help`` beside
it lists what else there is to set.
"""

from __future__ import annotations

from arena.botkit.clock import Clock
from arena.botkit.conversation import log, run, run_on_observations
from arena.botkit.observations import (
    CoprimalityObservation,
    DifferencesObservation,
    MultiplicationObservation,
    PlaidObservation,
    PlusminusObservation,
)
from arena.botkit.seat import Choice, MatchInfo, MatchResult, Turn

__all__ = [
    "Choice",
    "Clock",
    "CoprimalityObservation",
    "DifferencesObservation",
    "MatchInfo",
    "MatchResult",
    "MultiplicationObservation",
    "PlaidObservation",
    "PlusminusObservation",
    "Turn",
    "log",
    "run",
    "run_on_observations",
]
