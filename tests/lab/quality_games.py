"""Tiny games whose truth is known by hand: an edge of the first seat, a mirror draw, a single action, a coin."""

from arena.lab.measures.simulation import simulate
from arena.lab.measures.skill_ladder import Strength
from tests.lab.games import OfATable

WIN, DRAW, LOSS = (None, (1, 0)), (None, (0, 0)), (None, (0, 1))

EDGE = ((0, (1, 1, 2)), WIN, LOSS)
"""Seat 0 acts once: two of its three actions win."""

MIRROR = ((0, (1, 2)), (1, (3, 4)), (1, (4, 3)), DRAW, WIN)
"""Seat 1 draws if it answers with the same action, and loses if not."""

ONE_ACTION = ((0, (1,)), (1, (2,)), (0, (3,)), DRAW)
"""Nobody ever has a choice."""

COIN = ((0, (1, 2)), (1, (3, 4)), (1, (4, 3)), WIN, LOSS)
"""Whoever acts at random tosses a coin; seat 1, which acts last, decides."""

UNEQUAL = ((0, (1, 2, 3)), (1, (4, 5)), (1, (6,)), (1, (4, 5, 7)), WIN, (0, (4, 7)), (0, (7, 5)), (None, (0, 3)))
"""Matches of two to four actions, with one to three to choose from."""


def table_game(positions, **options):
    game = OfATable(**options)
    game.positions = positions
    return game


def played_at_random(game, strategy, rngs):
    strength = Strength(name="any", strategy=strategy)
    return [simulate(game, [strength.strategy] * game.players, rng, lambda: None) for rng in rngs]
