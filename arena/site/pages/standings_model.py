"""Standings: a line for each bot, the ranking of a format, crosstables; and the leaderboards of games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import ConfigDict

from arena.analysis.measures.values import RatingPoint
from arena.analysis.text.standings_columns import StatColumn, finish_count, flat_table, standings_columns
from arena.analysis.text.tables import Row
from arena.base.enums import FaultKind
from arena.site.frame.model import AsWritten, Model, ModelOfBots, Name, Parameters, Sentence, Table


class StandingLine(Model):
    """One bot's line in standings; a column without an attribute here is a further field, by its key.

    Attributes:
        group: bots with the same letter are tied with the first of them.
        finish_counts: how many matches it finished 1st, 2nd, …; ties count at their shared rank.
        seat_matches: its matches by seat.
        seat_percent: points per match by seat; None without a match there.
    """

    model_config = ConfigDict(extra="allow")

    rank: int
    bot: str
    label: str
    exposure: float
    mu: float
    sigma: float
    margin_95: float | None
    rank_95: tuple[int, int] | None
    better_than_next: float | None
    same_as_next: bool
    group: str
    matches: int
    finish_counts: tuple[int, ...]
    wins: int
    draws: int
    losses: int
    points: float
    score_percent: float | None
    seat_matches: tuple[int, ...]
    seat_percent: tuple[float | None, ...]
    first_seat_percent: float | None = None
    faults: dict[FaultKind, int]
    author: str
    is_author_claimed: bool = False

    @property
    def is_apart(self) -> bool:
        """Whether it and the next bot can be told apart."""
        return self.better_than_next is not None and not self.same_as_next

    def value_of(self, column: StatColumn) -> Any:
        """Return its value in a column of the standings, as JSON has it."""
        place = column.key.removeprefix("place_")
        if place.isdecimal():
            return finish_count(self.finish_counts, int(place))
        return getattr(self, column.key)

    @property
    def further_cells(self) -> list[tuple[StatColumn, Any]]:
        """Its columns without an attribute, with values as people read them."""
        further = self.model_extra or {}
        columns = (column for column in standings_columns(2) if column.key in further)
        return [(column, column.formatted(further[column.key])) for column in columns if column.is_shown]


def scale_of(lines: Sequence[StandingLine]) -> tuple[float, float]:
    """Return the least and the greatest end of the intervals of ratings."""
    ends = [line.mu + side * (line.margin_95 or 0.0) for line in lines for side in (-1, 1)]
    return min(ends, default=0.0), max(ends, default=1.0)


def standings_csv(lines: Sequence[StandingLine], players: int) -> Table:
    """Return standings, the best bot first, as ``arena standings --format csv`` has them."""
    return Table(*flat_table(players, lines, lambda column, line: line.value_of(column)))


class RankingColumn(Model):
    """A column of the ranking of a format; whole numbers have no decimals."""

    key: str
    title: str
    decimals: int | None


class RankedBot(Model):
    """A line in the ranking of a format.

    Attributes:
        values: one for each column of the ranking.
    """

    place: int
    bot: str
    label: str
    values: tuple[float | int, ...]


class Ranking(Model):
    """The ranking of a Swiss or a knockout by its own rules, the best bot first; columns after place and bot."""

    columns: tuple[RankingColumn, ...]
    lines: tuple[RankedBot, ...]

    def table(self) -> Table:
        """Return it as CSV has it."""
        keys = [column.key for column in self.columns]
        rows = [
            {"place": line.place, "bot": line.bot, **dict(zip(keys, line.values, strict=True))} for line in self.lines
        ]
        decimals = {column.key: column.decimals for column in self.columns if column.decimals is not None}
        return Table.of(("place", "bot", *keys), rows, decimals)


class CrosstableCell(Model):
    """A bot's score against a rival: a win is a point, a tie half."""

    points: float
    matches: int


class Crosstable(Model):
    """The score of each bot against each other, of the first in the standings.

    Attributes:
        cells: for each bot its score against each; None where they have not met.
        left_out: how many bots further down have no line.
    """

    bots: tuple[str, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[CrosstableCell | None, ...], ...]
    left_out: int = 0

    def table(self) -> Table:
        """Return it as CSV has it."""
        rivals = [f"against_{number}" for number in range(1, len(self.bots) + 1)]
        rows = [
            {"rank": number, "bot": name, **dict(zip(rivals, map(_share, cells), strict=True))}
            for number, (name, cells) in enumerate(zip(self.names, self.cells, strict=True), 1)
        ]
        return Table.of(("rank", "bot", *rivals), rows)


def _share(cell: CrosstableCell | None) -> float | None:
    return cell.points / cell.matches if cell is not None else None


MAX_CHARTED = 8
"""Bots in a chart: there are no more colours and dashes that can be told apart."""


class FirstRating(Model):
    """How the director of a ladder rates a newcomer, from its first round on.

    Attributes:
        tournament: the ladder.
    """

    bot: str
    tournament: str
    mu: float
    margin_95: float


# Leaderboards: every bot that has played a game, rated over several tournaments.


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
