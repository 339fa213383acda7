"""Standings: a line for each bot, the ranking of a format, crosstables and ratings at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ConfigDict

from arena.analysis.text.standings_columns import StatColumn, finish_count, flat_table, standings_columns
from arena.base.enums import FaultKind
from arena.site.frame.model import Model, Table


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
