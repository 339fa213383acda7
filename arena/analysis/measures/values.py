"""Values that pages show as they are; the web process loads them, and no NumPy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """A share (0 to 1) of matches or points with its 95 % interval, by a bootstrap over encounters."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class GameStatistics:
    """Recorded matches and encounters of one game of a tournament.

    Attributes:
        repeats: duplicate matches, which their bots always play the same from that opening.
        draws: the share of matches whose first rank is shared.
        seats: the share of points of each seat, in the matches that have it.
    """

    game: str
    matches: int
    encounters: int
    repeats: int
    draws: Share
    seats: tuple[Share, ...]

    @property
    def decisive(self) -> float:
        """The share of matches with a single winner."""
        return 1.0 - self.draws.value


@dataclass(frozen=True, slots=True)
class BalanceLine:
    """One kind of balance.

    Attributes:
        imbalance: the distance of the worst count from a fair one, in matches.
        worst: the entrants with the worst count, as text.
    """

    game: str
    kind: str
    least: int
    most: int
    imbalance: float
    worst: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRound:
    """A round of one entrant of a Swiss; no rival in a bye.

    Attributes:
        rival_number: the rival's line in the table, from 1.
        points: of the entrant and the rival in the matches of their meeting.
        total: the score after this round.
    """

    rival: str | None
    rival_number: int | None
    score: float
    points: tuple[float, float] | None
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BotAccuracy:
    """How well ``name@version`` played in annotated matches.

    ``kept`` is the mean share kept in a decision, None without one; ``points_known`` counts the matches whose points
    are divided into luck-adjusted ones and others.
    """

    bot: str
    matches: int
    encounters: int
    actions: int
    decisions: int
    kept: Share | None
    mistakes: int
    blunders: int
    points_known: int
    earned: float
    lucky: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingPoint:
    """A bot's rating on the leaderboard of a game as it was after a tournament.

    Attributes:
        at: when that began; UTC, ISO 8601.
        round: the rating is that in the tournament alone, after this round, whose last match began ``at``; None for
            all rounds.
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
    round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """How a bot did against another, in all tournaments that count.

    Attributes:
        score_percent: the mean over encounters of the share of points.
        wins: matches in which the bot came out ahead of the rival.
    """

    rival: str
    score_percent: float
    margin_percent: float
    encounters: int
    wins: int
    draws: int
    losses: int
