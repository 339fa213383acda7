"""A rating: the belief about a bot's strength."""

from __future__ import annotations

from typing import NamedTuple


class Rating(NamedTuple):
    """The belief about a bot's strength: a normal distribution.

    Attributes:
        mu: its mean.
        sigma: its standard deviation.
    """

    mu: float
    sigma: float

    @property
    def exposure(self) -> float:
        """``mu - 3 sigma``: a strength the bot has almost certainly; tables are sorted by it."""
        return self.mu - 3 * self.sigma
