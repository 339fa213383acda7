"""Records of matches, read piece by piece, and their results by column."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select, type_coerce
from sqlalchemy.types import NULLTYPE

from arena.base.display import Tabular
from arena.base.errors import StoreError, expect
from arena.base.records import MatchRecord
from arena.base.stored import from_json_text, is_text
from arena.store.results.connection import Database
from arena.store.results.schema import expected, records
from arena.store.results.statements import CHUNK_ROWS, ranks_from, record_from, stored_bots_and_ranks


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
        return self._database.number(query)

    def first(self, count: int) -> list[MatchRecord]:
        """Return the first records, at most ``count``."""
        return self._ordered(count, records.c.tournament_id, records.c.match)

    def last(self, count: int) -> list[MatchRecord]:
        """Return the last records, at most ``count``, in order."""
        return self._ordered(count, records.c.tournament_id.desc(), records.c.match.desc())[::-1]

    def _ordered(self, count: int, *order: Any) -> list[MatchRecord]:
        expect(isinstance(count, Integral) and count >= 0, "count", count, "0 or more")
        query = self._chosen(select(records.c.match, records.c.record)).order_by(*order).limit(count)
        return [record_from(match, text) for match, text in self._database.rows(query)]

    def _chosen(self, query: Select[Any]) -> Select[Any]:
        return _of_game(query.where(records.c.tournament_id.in_(self._numbers)), self._game)


def record_texts(database: Database, numbers: Sequence[int], game: str | None) -> Iterator[tuple[int, str]]:
    """Yield the number of each match and its record as it is stored, by tournament and match."""
    yield from rows_by_match(database, select(records.c.match, records.c.record), numbers, game, CHUNK_ROWS)


def rows_by_match(
    database: Database, chosen: Select[Any], numbers: Sequence[int], game: str | None, chunk_rows: int
) -> Iterator[Any]:
    """Yield the rows of ``pieces_by_match`` of the tournaments with these numbers."""
    for number in numbers:
        for rows in pieces_by_match(database.rows, chosen, number, game, chunk_rows):
            yield from rows


def pieces_by_match(
    read: Callable[[Select[Any]], list[Any]],
    chosen: Select[Any],
    number: int,
    game: str | None,
    chunk_rows: int,
    after_match: int = 0,
) -> Iterator[list[Any]]:
    """Yield rows about records by match, ``chunk_rows`` at once: one by one takes twice as long.

    It ends at the last row there is when it comes there, and does not follow a program that adds rows meanwhile.

    Args:
        chosen: the columns, the match's number first.
        number: of the tournament.
    """
    ordered = _of_game(chosen.where(records.c.tournament_id == number), game).order_by(records.c.match)
    last = after_match
    while rows := read(ordered.where(records.c.match > last).limit(chunk_rows)):
        last = rows[-1][0]
        yield rows
        if len(rows) < chunk_rows:
            return


def _of_game(query: Select[Any], game: str | None) -> Select[Any]:
    return query if game is None else query.where(records.c.game == game)


# Results of recorded matches by column: checked by thousands, many times faster than row by row.

_KINDS = {
    records.c.match: int,
    records.c.encounter: int,
    records.c.game: str,
    records.c.bots: str,
    records.c.ranks: str,
    records.c.opening_hash: str,
    records.c.actions_hash: str,
}

RESULT_COLUMNS: tuple[ColumnElement[Any], ...] = tuple(type_coerce(column, NULLTYPE) for column in _KINDS)
"""The columns as the database has them; ``result_columns`` checks their types."""


class ResultColumns(NamedTuple):
    """Results of matches of one tournament, in the order of the schedule.

    Attributes:
        bots: ``name@version`` per seat.
        ranks: per seat, 1 is best.
        opening_hashes: of the game, its options and the opening.
        actions_hashes: of the game, its options, all actions and the ranks.
    """

    tournament: int
    matches: Sequence[int]
    encounters: Sequence[int]
    games: Sequence[str]
    bots: Sequence[Sequence[str]]
    ranks: Sequence[Sequence[int]]
    opening_hashes: Sequence[str]
    actions_hashes: Sequence[str]


def result_columns(tournament: int, rows: Sequence[Any]) -> ResultColumns:
    """Return rows of ``RESULT_COLUMNS``, one or more, by column; StoreError if a result is malformed."""
    matches, encounters, games, bots, ranks, *hashes = columns = tuple(zip(*rows, strict=True))
    for column, kind in zip(columns, _KINDS.values(), strict=True):
        if set(map(type, column)) != {kind}:
            for value in column:
                expected(kind)(value)
    if min(encounters) < 0:
        match, encounter = next(pair for pair in zip(matches, encounters, strict=True) if pair[1] < 0)
        raise StoreError(f"the result of match {match}: there is no encounter {encounter}")
    labels = _labels(bots)
    if labels is None:
        return _row_by_row(tournament, columns)
    try:
        places = list(map(_ranks, ranks, map(len, labels)))
    except StoreError:
        return _row_by_row(tournament, columns)
    return ResultColumns(tournament, matches, encounters, games, labels, places, *hashes)


def _labels(texts: Sequence[str]) -> list[list[str]] | None:
    """Return lists of bots from their JSON, all parsed together; None if any is malformed."""
    whole = "\n".join(texts)
    lines = whole[2:-2].split('"]\n["')
    if whole[:2] == '["' and whole[-2:] == '"]' and len(whole) > 3 and len(lines) == len(texts):
        lists = [line.split('","') for line in lines]
        if all(map(_is_unescaped, set(chain.from_iterable(lists)))):  # so only what separates has quotes and newlines
            return lists
    try:
        lists = from_json_text(f"[{','.join(texts)}]", "a column")
    except StoreError:
        return None
    if len(lists) != len(texts) or set(map(type, lists)) != {list} or not all(lists):
        return None
    flat = list(chain.from_iterable(lists))
    return lists if set(map(type, flat)) == {str} and all(map(is_text, set(flat))) else None


@lru_cache(maxsize=65_536)
def _is_unescaped(text: str) -> bool:
    """Return whether JSON has a text as it is, between quotes."""
    return is_text(text) and json.dumps(text, ensure_ascii=False) == f'"{text}"'


@lru_cache(maxsize=4096)
def _ranks(text: str, count: int) -> tuple[int, ...]:
    return ranks_from(text, count, "its ranks")


def _row_by_row(tournament: int, columns: Sequence[Sequence[Any]]) -> ResultColumns:
    """Return the columns, or raise StoreError for the first row that is malformed."""
    matches, encounters, games, bots, ranks, *hashes = columns
    pairs = []
    for match, *texts in zip(matches, bots, ranks, strict=True):
        try:
            pairs.append(stored_bots_and_ranks(*texts))
        except StoreError as error:
            raise StoreError(f"the result of match {match}: {error}") from error
    return ResultColumns(tournament, matches, encounters, games, *zip(*pairs, strict=True), *hashes)
