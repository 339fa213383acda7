"""Builds points of rating histories."""

from __future__ import annotations

from arena.analysis.measures.standings import Standing
from arena.site.pages.rating_point import RatingPoint

MAX_HISTORY_MATCHES = 400_000
"""That may be rated for the history of a game on a page: some seconds; each is kept, for other pages too."""


def rating_point(line: Standing, game: str, tournament: str, at: str, bots: int) -> RatingPoint:
    """Return a bot's rating on a leaderboard.

    Args:
        line: the bot's.
        game: of the leaderboard.
        tournament: after which it was so.
        at: when that was begun.
        bots: how many were on the leaderboard.
    """
    return RatingPoint(
        game=game,
        bot=line.label,
        tournament=tournament,
        at=at,
        rank=line.rank,
        bots=bots,
        mu=line.rating.mu,
        margin_95=line.margin,
        exposure=line.rating.exposure,
        matches=line.matches,
        score_percent=None if line.score_share is None else 100 * line.score_share,
    )
