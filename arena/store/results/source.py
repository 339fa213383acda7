"""A database from which tournaments are taken into another one, or exported whole: every row, as it is stored.

Rows are read one by one: the database may come from another person.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Select, select

from arena.base.records import ScheduledMatch
from arena.store.results.correction_log import SetAside, Skipped
from arena.store.results.schema import matches, records, set_aside, skipped, voids
from arena.store.results.statements import scheduled_match
from arena.store.results.tournament_reader import TournamentReader
from arena.store.results.values import StoredTournament


class VoidTry(NamedTuple):
    """A try that ended because the arena failed, why and when (UTC, ISO 8601)."""

    match: int
    reason: str
    at: str


class Source(TournamentReader):
    """The tournaments of a database with all that is stored of them."""

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def names(self) -> list[str]:
        """Return the names of all tournaments, the oldest first."""
        return self._names()

    def lines(self, tournament: StoredTournament) -> Iterator[ScheduledMatch]:
        """Yield the whole schedule, in order."""
        definition = tournament.definition
        query = select(matches).where(matches.c.tournament_id == tournament.number).order_by(matches.c.match)
        return (scheduled_match(row, definition) for row in self._each(query))

    def record_texts(self, tournament: StoredTournament) -> Iterator[tuple[int, str]]:
        """Yield the number of each match that has a record, and the record as it is stored, in order."""
        query = select(records.c.match, records.c.record).where(records.c.tournament_id == tournament.number)
        return ((row.match, row.record) for row in self._each(query.order_by(records.c.match)))

    def voids(self, tournament: StoredTournament) -> Iterator[VoidTry]:
        """Yield the void tries, the oldest first."""
        query = select(voids.c.match, voids.c.reason, voids.c.at).where(voids.c.tournament_id == tournament.number)
        return (VoidTry(*row) for row in self._each(query.order_by(voids.c.id)))

    def set_aside(self, tournament: StoredTournament) -> Iterator[SetAside]:
        """Yield the records that corrections have set aside, by match."""
        key = (set_aside.c.match, set_aside.c.correction)
        query = select(*key, set_aside.c.record).where(set_aside.c.tournament_id == tournament.number).order_by(*key)
        return (SetAside(*row) for row in self._each(query))

    def skipped(self, tournament: StoredTournament) -> Iterator[Skipped]:
        """Yield the matches that corrections have taken out of the schedule, by match."""
        key = (skipped.c.match, skipped.c.correction)
        query = select(*key).where(skipped.c.tournament_id == tournament.number).order_by(*key)
        return (Skipped(*row) for row in self._each(query))

    def _each(self, query: Select[Any]) -> Iterator[Any]:
        return self._database.each(query)
