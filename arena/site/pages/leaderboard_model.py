"""The leaderboard of a game: every bot that has played it, rated over several tournaments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Ge, Le

from arena.analysis.measures.values import RatingPoint
from arena.analysis.text.tables import Row
from arena.site.frame.model import AsWritten, Model, ModelOfBots, Name, Parameters, Sentence, Table
from arena.site.pages.standings_model import StandingLine, standings_csv


class LeaderboardParameters(Parameters):
    """The address of a leaderboard.

    Attributes:
        season: only the tournaments of this season; None for all.
        tournament: only this one, or this one too; None for none in particular.
        first: the line that the page begins with.
    """

    game: Name
    season: Name | None = None
    tournament: Name | None = None
    first: Annotated[int, Ge(1), Le(1_000_000), AsWritten] = 1


class LeaderboardPage(ModelOfBots):
    """Every bot that has played a game, rated over all tournaments, those of a season, or one.

    Attributes:
        season: whose tournaments count; None for those of all.
        tournaments: the names of those that count and have this game, the oldest first.
        findings: what the ratings rest on, in sentences.
        history: ratings of the best bots after each of the latest tournaments.
        seasons: the names of all seasons that have a tournament with this game.
    """

    game: str
    season: str | None
    tournaments: tuple[str, ...]
    verdict: Sentence
    players: int
    matches: int
    standings: tuple[StandingLine, ...]
    findings: tuple[str, ...]
    history: tuple[RatingPoint, ...]
    seasons: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def is_charted(self) -> bool:
        """Whether a line can be drawn through the history."""
        return len({point.tournament for point in self.history}) > 1

    def tables(self) -> Mapping[str, Table]:
        """Return its tables."""
        return {"standings": standings_csv(self.standings, self.players), "history": _history(self.history)}


def _history(points: tuple[RatingPoint, ...]) -> Table:
    """Return a line for each tournament, and a column for each bot, as ``arena leaderboard --over-time`` does."""
    bots = list(dict.fromkeys(point.bot for point in points))
    rows: dict[str, Row] = {}
    for point in sorted(points, key=lambda point: (point.at, point.tournament)):
        row = rows.setdefault(point.tournament, {"tournament": point.tournament, "at": point.at})
        row[point.bot] = point.mu
    nothing = dict.fromkeys(bots)
    return Table.of(("tournament", "at", *bots), [nothing | row for row in rows.values()], dict.fromkeys(bots, 2))


class GameLeaders(Model):
    """The first bots of a game's leaderboard."""

    game: str
    tournaments: int
    matches: int
    bots: int
    leaders: tuple[StandingLine, ...]


class ListedSeason(Model):
    """A season: its tournaments, the oldest first, and their games."""

    name: str
    tournaments: tuple[str, ...]
    games: tuple[str, ...]


class LeaderboardsPage(ModelOfBots):
    """The best bots of each game, and the seasons."""

    games: tuple[GameLeaders, ...]
    seasons: tuple[ListedSeason, ...]
    left_out: tuple[str, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return its table."""
        keys = ("rank", "bot", "mu", "margin_95", "matches")
        rows = [{"game": one.game, **line.model_dump(include={*keys})} for one in self.games for line in one.leaders]
        return {"leaders": Table.of(("game", *keys), rows, {"mu": 2, "margin_95": 2})}
