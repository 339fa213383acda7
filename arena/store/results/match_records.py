"""Records of matches, read piece by piece each time they are iterated over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Select, func, select

from arena.base.display import Tabular
from arena.base.records import MatchRecord
from arena.store.results.connection import Database
from arena.store.results.schema import records
from arena.store.results.statements import CHUNK_ROWS, record_from


class Records(Tabular):
    """The records of some tournaments, by tournament and match.

    Iterating reads them piece by piece, so a million of them take little memory; ``len`` counts them.
    """

    def __init__(self, database: Database, numbers: Sequence[int], game: str | None) -> None:
        self._database = database
        self._numbers = numbers
        self._game = game

    def __iter__(self) -> Iterator[MatchRecord]:
        for match, text in record_texts(self._database, self._numbers, self._game):
            yield record_from(match, text)

    def __len__(self) -> int:
        query = self._chosen(select(func.count()))
        return int(self._database.read(lambda connection: connection.execute(query).scalar_one()))

    def first(self, count: int) -> list[MatchRecord]:
        """Return the first records, at most ``count``."""
        return self._ordered(count, records.c.tournament_id, records.c.match)

    def last(self, count: int) -> list[MatchRecord]:
        """Return the last records, at most ``count``, in order."""
        return self._ordered(count, records.c.tournament_id.desc(), records.c.match.desc())[::-1]

    def _ordered(self, count: int, *order: Any) -> list[MatchRecord]:
        query = self._chosen(select(records.c.match, records.c.record)).order_by(*order).limit(count)
        rows = self._database.read(lambda connection: list(connection.execute(query)))
        return [record_from(match, text) for match, text in rows]

    def _chosen(self, query: Select[Any]) -> Select[Any]:
        return _of_game(query.where(records.c.tournament_id.in_(self._numbers)), self._game)


def record_texts(database: Database, numbers: Sequence[int], game: str | None) -> Iterator[tuple[int, str]]:
    """Yield the number of each match and its record as it is stored, by tournament and match."""
    yield from rows_by_match(database, select(records.c.match, records.c.record), numbers, game, CHUNK_ROWS)


def rows_by_match(
    database: Database, chosen: Select[Any], numbers: Sequence[int], game: str | None, chunk_rows: int
) -> Iterator[Any]:
    """Yield rows about records by tournament and match, reading piece by piece; see ``pieces_by_match``."""
    for number in numbers:
        for rows in pieces_by_match(database, chosen, number, game, chunk_rows):
            yield from rows


def pieces_by_match(
    database: Database, chosen: Select[Any], number: int, game: str | None, chunk_rows: int, after_match: int = 0
) -> Iterator[list[Any]]:
    """Yield rows about records by match, piece by piece.

    Args:
        database: where they are.
        chosen: selects columns, the match's number among them.
        number: of the tournament.
        game: only of this one; None for all.
        chunk_rows: how many to read at once.
        after_match: only matches with a larger number.
    """
    ordered = _of_game(chosen, game).order_by(records.c.match).limit(chunk_rows)
    of_tournament = ordered.where(records.c.tournament_id == number)
    last = after_match
    while rows := _later(database, of_tournament, last):
        last = rows[-1].match
        yield rows


def _later(database: Database, chosen: Select[Any], match: int) -> list[Any]:
    query = chosen.where(records.c.match > match)
    return database.read(lambda connection: list(connection.execute(query).all()))  # row by row takes twice as long


def _of_game(query: Select[Any], game: str | None) -> Select[Any]:
    return query if game is None else query.where(records.c.game == game)
