"""A bot's rating at a time."""

from __future__ import annotations

from arena.site.frame.model import Model

MAX_CHARTED = 8
"""Bots in a chart: there are no more colours and dashes that can be told apart."""


class RatingPoint(Model):
    """A bot's rating on the leaderboard of a game as it was after a tournament.

    Attributes:
        game: the game.
        bot: ``name@version``.
        tournament: after which.
        at: when that was begun; UTC, ISO 8601.
        rank: on the leaderboard.
        bots: how many were on it.
        mu: the rating.
        margin_95: half the width of its 95 % interval; None before the first rated match.
        exposure: mu - 3 sigma.
        matches: how many the bot had played.
        score_percent: points per match; None before the first match.
    """

    game: str
    bot: str
    tournament: str
    at: str
    rank: int
    bots: int
    mu: float
    margin_95: float | None
    exposure: float
    matches: int
    score_percent: float | None
