"""How good a newcomer is, before the leaderboard has it."""

from __future__ import annotations

from arena.site.frame.model import Model


class FirstRating(Model):
    """How the director of a ladder rates a newcomer, which is known as soon as its first round is recorded.

    Attributes:
        bot: ``name@version``.
        tournament: the ladder.
        mu: the rating.
        margin_95: half the width of its 95 % interval.
    """

    bot: str
    tournament: str
    mu: float
    margin_95: float
