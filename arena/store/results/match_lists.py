"""Lists of recorded matches: pages of a tournament's, the latest of all, and who has met whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    select,
    true,
)

from arena.base.enums import FaultKind, Termination
from arena.store.results.connection import Database, Repository
from arena.store.results.match_line import MatchKey, MatchLine, match_lines
from arena.store.results.schema import faults, is_same_match, records, seats

_AFTER_AT = chr(ord("@") + 1)
_NEXT = select(func.min(seats.c.bot, type_=String)).where(
    seats.c.bot > bindparam("last"), seats.c.bot < bindparam("end")
)


def labels_of(database: Database, bot: str) -> list[str]:
    """Return the recorded versions of a bot (``name@version`` each), or the bot itself if it is given with a version.

    The rows of each version are skipped, not read.
    """
    if "@" in bot:
        return [bot]

    def read(connection: Connection) -> list[str]:
        labels: list[str] = []
        last = f"{bot}@"
        while True:
            label = connection.execute(_NEXT, {"last": last, "end": bot + _AFTER_AT}).scalar()
            if label is None:
                return labels
            labels.append(last := label)

    return database.read(read)


# Pages of the recorded matches of a tournament, by bot, rival, game, termination and fault.
#
# A page continues behind a match, never at an offset. The rarest of the filters is followed along its index, and the
# others are checked match by match. How many matches are checked for a page is bounded: where hardly any fits, a page
# may be short although others follow.

MAX_LINES = 1_000
MAX_CHECKED = 20_000
"""How many matches are checked for a page, along each index that is followed."""
MAX_COUNTED = 2_000
"""How far matches are counted to find the rarest filter."""
PIECE_ROWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFilter:
    """Which matches are listed: those that fit everything that is given.

    Attributes:
        bot: played in it: ``name@version``, or a name for all versions.
        rival: played against it; the same.
        fault: it had a fault of this kind; the bot's, if there is a bot.
    """

    bot: str | None = None
    rival: str | None = None
    game: str | None = None
    termination: Termination | None = None
    fault: FaultKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchPage:
    """A page of matches; ``next`` is the match behind which the next page continues, None at the end."""

    lines: tuple[MatchLine, ...]
    next: int | None


class _Path(NamedTuple):
    """An index along which matches are found: its rows, and which of them fit the other filters."""

    table: Table
    along: ColumnElement[bool]
    fits: ColumnElement[bool]


class MatchLists(Repository):
    """The lists of recorded matches in a database."""

    def page(
        self,
        tournament: int,
        chosen: MatchFilter = MatchFilter(),
        *,
        after: int | None = None,
        oldest_first: bool = False,
        limit: int = MAX_LINES,
    ) -> MatchPage:
        """Return a page of a tournament's matches, behind match ``after`` and at most ``MAX_LINES`` long."""
        limit = min(limit, MAX_LINES)
        paths = self._rarest(tournament, self._paths_by_filter(chosen))
        if not paths:
            return MatchPage(lines=(), next=None)
        sign = 1 if oldest_first else -1
        walks = [_Walk(self._database, tournament, path, after, sign, limit) for path in paths]
        fitting = [match for match, _ in groupby(merge(*walks, key=lambda match: sign * match))]
        ends = [sign * walk.end for walk in walks if walk.end is not None]
        if ends:  # beyond the nearest of them, not everything has been checked
            fitting = [match for match in fitting if sign * match <= min(ends)]
        last = fitting[limit - 1] if len(fitting) > limit else sign * min(ends) if ends else None
        lines = match_lines(self._database, [MatchKey(tournament, match) for match in fitting[:limit]])
        return MatchPage(lines=tuple(lines), next=last)

    def _paths_by_filter(self, chosen: MatchFilter) -> list[list[_Path]]:
        """Return for each filter the paths along its index that together lead to all matches."""
        bot, rival = (chosen.bot, chosen.rival) if chosen.bot is not None else (chosen.rival, None)
        labels = None if bot is None else labels_of(self._database, bot)
        rivals = None if rival is None else labels_of(self._database, rival)
        ways: list[list[_Path]] = []
        others = partial(_fits, chosen, labels, rivals)
        if labels is not None:
            of_rivals = true() if rivals is None else seats.c.rival.in_(rivals)
            fits = and_(of_rivals, others(seats, but="seats"))
            ways.append([_Path(seats, seats.c.bot == label, fits) for label in labels])
        if chosen.fault is not None:
            ways.append([_Path(faults, faults.c.kind == chosen.fault, others(faults, but="fault"))])
        if chosen.termination is not None:
            along = records.c.termination == chosen.termination
            ways.append([_Path(records, along, others(records, but="termination"))])
        if chosen.game is not None:
            ways.append([_Path(records, records.c.game == chosen.game, others(records, but="game"))])
        return ways or [[_Path(records, true(), true())]]

    def _rarest(self, tournament: int, ways: list[list[_Path]]) -> list[_Path]:
        return ways[0] if len(ways) == 1 else min(ways, key=lambda paths: self._count(tournament, paths))

    def _count(self, tournament: int, paths: list[_Path]) -> int:
        """Count the rows of some paths until it shows which are rare."""
        total = 0
        for path in paths:
            rows = select(literal(1)).where(path.table.c.tournament_id == tournament, path.along).limit(MAX_COUNTED)
            query = select(func.count()).select_from(rows.subquery())
            total += self._database.number(query)
        return total


def _fits(
    chosen: MatchFilter, labels: Sequence[str] | None, rivals: Sequence[str] | None, table: Table, but: str
) -> ColumnElement[bool]:
    """Return the condition that a row of a table fits all filters but one, along whose index it was found."""
    conditions: list[ColumnElement[bool]] = [true()]
    if labels is not None and but != "seats":
        met: list[ColumnElement[bool]] = [is_same_match(seats, table), seats.c.bot.in_(labels)]
        met += [] if rivals is None else [seats.c.rival.in_(rivals)]
        conditions.append(exists().where(*met).correlate(table))
    if chosen.fault is not None:
        own = true() if chosen.bot is None or labels is None else faults.c.bot.in_(labels)
        if but == "fault":
            conditions.append(own)
        else:
            of_kind = faults.c.kind == chosen.fault
            conditions.append(exists().where(is_same_match(faults, table), of_kind, own).correlate(table))
    if chosen.game is not None and but != "game":
        conditions.append(_unindexed(table.c.game) == chosen.game)
    if chosen.termination is not None and but != "termination":
        ended = _unindexed(records.c.termination) == chosen.termination
        of_it = ended if table is records else exists().where(is_same_match(records, table), ended).correlate(table)
        conditions.append(of_it)
    return and_(*conditions)


def _unindexed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a column as an expression for which no index is used."""
    return func.coalesce(column, "")


class _Walk:
    """The matches of a path that fit, in order, until there are enough.

    Attributes:
        end: after iterating: the match behind which nothing was checked; None if everything was.
    """

    def __init__(
        self, database: Database, tournament: int, path: _Path, after: int | None, sign: int, limit: int
    ) -> None:
        self._database = database
        self._limit = limit
        self._sign = sign
        self._after = after
        self._column = path.table.c.match
        fits = func.max(case((path.fits, 1), else_=0))  # of the rows of a match, of which there may be several
        of_path = select(self._column, fits).where(path.table.c.tournament_id == tournament, path.along)
        self._query = of_path.group_by(self._column)
        self.end: int | None = None

    def __iter__(self) -> Iterator[int]:
        fitting, checked, rows, last = 0, 0, self._limit + 1, self._after
        while pieces := self._read(last, rows):
            for match, fits in pieces:
                if fits:
                    fitting += 1
                    yield match
                last = match
            checked += len(pieces)
            if len(pieces) < rows:
                return
            if fitting > self._limit or checked >= MAX_CHECKED:
                self.end = last
                return
            rows = PIECE_ROWS

    def _read(self, after: int | None, rows: int) -> list[tuple[int, int]]:
        query = self._query.order_by(self._column if self._sign > 0 else self._column.desc()).limit(rows)
        if after is not None:
            query = query.where(self._column > after if self._sign > 0 else self._column < after)
        return [tuple(row) for row in self._database.rows(query)]
