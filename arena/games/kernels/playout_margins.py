"""How far seat 0 is ahead at the end of random playouts from an opening: an estimate, and its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

from arena.games import Game
from arena.games.kernels.playouts import random_playouts

BATCHES, PLAYOUTS_A_BATCH = 20, 200
PLAYOUTS = BATCHES * PLAYOUTS_A_BATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutMargin:
    """What random playouts say of an opening.

    Attributes:
        mean: of the score of seat 0 minus that of seat 1.
        error: the standard error of the mean, from the means of batches.
    """

    mean: float
    error: float

    @property
    def square(self) -> float:
        """The square of the true mean, estimated without bias: that of an inexact mean is larger by its error."""
        return self.mean**2 - self.error**2


def playout_margin(game: Game[Any], opening: Sequence[Any], seed: int) -> PlayoutMargin:
    """Play ``PLAYOUTS`` random playouts of a game for two from an opening on, by its kernel or by the rules."""
    means = []
    for number in range(BATCHES):
        played = random_playouts(game, seed, number * PLAYOUTS_A_BATCH, PLAYOUTS_A_BATCH, opening)
        first, second = played.score_sums
        means.append((first - second) / PLAYOUTS_A_BATCH)
    mean = fsum(means) / BATCHES
    variance = fsum((one - mean) ** 2 for one in means) / (BATCHES - 1)
    return PlayoutMargin(mean=mean, error=sqrt(variance / BATCHES))
