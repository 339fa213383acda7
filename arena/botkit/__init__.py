"""A toolkit for bots in Python: everything but the idea.

A whole bot:

    from arena.botkit import run

    run(lambda game, state, clock: game.legal_actions(state)[0])

``game`` is the rules (``arena.games.Game``), ``state`` the position, and ``clock`` has the time for the action. The
function returns an action, or ``Choice(action, note=...)`` to add a note to the replay. ``run_on_observations`` is for
bots that don't use the rules: their function is called with a ``Turn``, which has the observation and the legal
actions.

The standard ``random`` module is seeded with the match's ``rng_seed`` when a match begins, so a bot that draws from it
plays the same match again from the same seed. ``print`` writes to stderr, never into the protocol; ``log`` does the
same and is explicit about it.

``until(stop_at, actions)`` is a loop over actions that ends when the time is up, ``spread(actions)`` an order for it.
``without_pie(choose)`` plays with the pie rule by a function that doesn't know of it.

``python bot.py --selfplay GAME`` plays the bot against itself in one process, without the arena; add ``--help`` for the
other options.
"""

from __future__ import annotations

from arena.botkit.conversation import log, run, run_on_observations
from arena.botkit.observations import (
    CoprimalityObservation,
    DifferencesObservation,
    MultiplicationObservation,
    PlaidObservation,
    PlusminusObservation,
)
from arena.botkit.seat import Choice, Clock, MatchInfo, MatchResult, Turn, spread, until, without_pie

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
    "spread",
    "until",
    "without_pie",
]
