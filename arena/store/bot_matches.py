"""The recorded matches of some bots: against anybody, or against some rivals."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, false, or_, select, true, tuple_

from arena.records import MatchRecord
from arena.results import StoredResult
from arena.store.connection import Database
from arena.store.rows import as_json
from arena.store.schema import records
from arena.store.statements import record_from, stored_bots_and_ranks

CHUNK_ROWS = 10_000

_KEY = (records.c.tournament_id, records.c.match)
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
            tournaments: the numbers of those that count, in order.
            bots: ``name@version`` each.
            rivals: the same; None for all.
        """
        self._database = database
        self._tournaments = tournaments
        self._bots = frozenset(bots)
        self._rivals = None if rivals is None else frozenset(rivals)

    def results(self) -> Iterator[StoredResult]:
        """Yield their results in the order of the schedule, tournament by tournament, reading piece by piece.

        Raises:
            StoreError: if a result is malformed.
        """
        for number in self._tournaments:
            last = 0
            chosen = self._chosen(select(records.c.match, *_RESULT, *_HASHES)).where(records.c.tournament_id == number)
            ordered = chosen.order_by(records.c.match).limit(CHUNK_ROWS)
            while rows := self._rows(ordered.where(records.c.match > last)):
                last = rows[-1].match
                for _, encounter, game, bots, ranks, *hashes in rows:
                    result = StoredResult(number, encounter, game, *stored_bots_and_ranks(bots, ranks), *hashes)
                    if self._met_in(result.bots):
                        yield result

    def latest(self, count: int) -> list[tuple[int, MatchRecord]]:
        """Return the number of the tournament and the record of the latest matches, the last first.

        Raises:
            StoreError: if one is malformed, or a newer arena has stored it.
        """
        newest = self._chosen(select(*_KEY, records.c.bots, records.c.ranks))
        newest = newest.where(records.c.tournament_id.in_(self._tournaments))
        newest = newest.order_by(*(column.desc() for column in _KEY)).limit(4 * count)
        keys = [
            (number, match)
            for number, match, bots, ranks in self._rows(newest)
            if self._met_in(stored_bots_and_ranks(bots, ranks)[0])
        ][:count]
        whole = select(*_KEY, records.c.record).where(tuple_(*_KEY).in_(keys))
        found = {(number, match): text for number, match, text in self._rows(whole)} if keys else {}
        return [(key[0], record_from(key[1], found[key])) for key in keys if key in found]

    def _rows(self, query: Select[Any]) -> list[Any]:
        return self._database.read(lambda connection: list(connection.execute(query).all()))

    def _chosen(self, query: Select[Any]) -> Select[Any]:
        return query.where(_has_one_of(self._bots), true() if self._rivals is None else _has_one_of(self._rivals))

    def _met_in(self, bots: Sequence[str]) -> bool:
        """Return whether these bots are some of ours, and rivals in other seats."""
        ours = [seat for seat, bot in enumerate(bots) if bot in self._bots]
        if self._rivals is None:
            return bool(ours)
        return any(bot in self._rivals and seat != own for own in ours for seat, bot in enumerate(bots))


def _has_one_of(bots: Collection[str]) -> ColumnElement[bool]:
    return or_(false(), *(records.c.bots.contains(as_json(bot), autoescape=True) for bot in sorted(bots)))
