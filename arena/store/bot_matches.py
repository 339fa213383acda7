"""The recorded matches of some bots: against anybody, or against some rivals. ``seats`` says which they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, select, tuple_

from arena.records import MatchRecord
from arena.results import StoredResult
from arena.store.connection import Database
from arena.store.schema import records, seats
from arena.store.statements import record_from, stored_bots_and_ranks

CHUNK_ROWS = 50_000

_RESULT = (records.c.encounter, records.c.game, records.c.bots, records.c.ranks)
_HASHES = (records.c.opening_hash, records.c.actions_hash)


class BotMatches:
    """The matches in which one of some bots played, with one of some rivals if there are any."""

    def __init__(
        self, database: Database, tournaments: Sequence[int], bots: Collection[str], rivals: Collection[str] | None
    ) -> None:
        """Choose matches.

        Args:
            database: where they are.
            tournaments: the numbers of those that count.
            bots: ``name@version`` each.
            rivals: the same; None for all.
        """
        self._database = database
        self._tournaments = frozenset(tournaments)
        self._bots = sorted(bots)
        self._rivals = None if rivals is None else sorted(rivals)

    def results(self) -> Iterator[StoredResult]:
        """Yield their results in the order of the schedule, tournament by tournament, reading piece by piece.

        Raises:
            StoreError: if a result is malformed.
        """
        played = {number for (number,) in self._rows(select(seats.c.tournament_id).where(self._met()).distinct())}
        for number in sorted(played & self._tournaments):
            last = 0
            while rows := self._rows(self._results_after(number, last)):
                last = rows[-1].match
                for _, encounter, game, bots, ranks, *hashes in rows:
                    yield StoredResult(number, encounter, game, *stored_bots_and_ranks(bots, ranks), *hashes)

    def latest(self, count: int) -> list[tuple[int, MatchRecord]]:
        """Return the number of the tournament and the record of the latest matches, the last first.

        Raises:
            StoreError: if one is malformed, or a newer arena has stored it.
        """
        key = (seats.c.tournament_id, seats.c.match)
        # the sum keeps the database from looking up tournament by tournament: the rows of a bot are in this order
        counts = (seats.c.tournament_id + 0).in_(self._tournaments)
        newest = select(*key).where(counts).distinct().order_by(*(column.desc() for column in key)).limit(count)
        found = {(number, match) for bot in self._bots for number, match in self._rows(newest.where(self._met(bot)))}
        keys = sorted(found, reverse=True)[:count]
        stored = select(records.c.tournament_id, records.c.match, records.c.record)
        rows = self._rows(stored.where(tuple_(records.c.tournament_id, records.c.match).in_(keys)))
        texts = {(number, match): text for number, match, text in rows}
        return [(key[0], record_from(key[1], texts[key])) for key in keys if key in texts]

    def _rows(self, query: Select[Any]) -> list[Any]:
        return self._database.read(lambda connection: list(connection.execute(query).all()))

    def _met(self, bot: str | None = None) -> ColumnElement[bool]:
        """Return the condition that a row is of one of the bots, or of this one, and of one of the rivals."""
        own = seats.c.bot.in_(self._bots) if bot is None else seats.c.bot == bot
        return own if self._rivals is None else and_(own, seats.c.rival.in_(self._rivals))

    def _results_after(self, number: int, match: int) -> Select[Any]:
        """Return the query for the results of a tournament after a match."""
        chosen = select(seats.c.match).where(seats.c.tournament_id == number, seats.c.match > match, self._met())
        next_ones = chosen.distinct().order_by(seats.c.match).limit(CHUNK_ROWS).subquery()
        same = and_(records.c.tournament_id == number, records.c.match == next_ones.c.match)
        return select(records.c.match, *_RESULT, *_HASHES).join(next_ones, same).order_by(records.c.match)
