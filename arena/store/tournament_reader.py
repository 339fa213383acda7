"""Which tournaments there are, and their schedules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Integer, Select, func, select

from arena.errors import StoreError, UnknownNameError
from arena.records import ScheduledMatch
from arena.store.connection import Database
from arena.store.correction_log import corrections_of
from arena.store.schema import matches, records, skipped, tournaments
from arena.store.statements import CHUNK_ROWS, is_to_be_played, scheduled_match, stored_tournament
from arena.store.values import StoredTournament


class TournamentReader:
    """The tournaments in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _rows(self, query: Select[Any]) -> list[Any]:
        return self._database.read(lambda connection: list(connection.execute(query)))

    def tournaments(self) -> list[StoredTournament]:
        """Return all tournaments, the oldest first."""
        return self._select_tournaments(select(tournaments).where(tournaments.c.deleted_at.is_(None)))

    def _select_tournaments(self, chosen: Select[Any]) -> list[StoredTournament]:
        lines = select(func.count()).where(matches.c.tournament_id == tournaments.c.id).scalar_subquery()
        left_out = select(func.count(skipped.c.match.distinct())).where(skipped.c.tournament_id == tournaments.c.id)
        recorded = select(func.count()).where(records.c.tournament_id == tournaments.c.id).scalar_subquery()
        query = chosen.add_columns(
            (lines - left_out.scalar_subquery()).label("scheduled"), recorded.label("recorded")
        ).order_by(tournaments.c.id)

        def read(connection: Connection) -> list[StoredTournament]:
            return [stored_tournament(row, corrections_of(connection, row.id)) for row in connection.execute(query)]

        return self._database.read(read)

    def find_tournament(self, name: str) -> StoredTournament | None:
        """Return a tournament by its name; None if it does not exist."""
        chosen = select(tournaments).where(tournaments.c.name == name, tournaments.c.deleted_at.is_(None))
        return next(iter(self._select_tournaments(chosen)), None)

    def tournament(self, name: str) -> StoredTournament:
        """Return a tournament by its name.

        Raises:
            UnknownNameError: if it does not exist.
        """
        found = self.find_tournament(name)
        if found is None:
            raise UnknownNameError("tournament", name, self._names())
        return found

    def _names(self) -> list[str]:
        query = select(tournaments.c.name).where(tournaments.c.deleted_at.is_(None)).order_by(tournaments.c.id)
        return [name for (name,) in self._rows(query)]

    def latest_tournament(self) -> StoredTournament:
        """Return the tournament that was begun last.

        Raises:
            StoreError: if there is no tournament yet.
        """
        names = self._names()
        if not names:
            raise StoreError(f"{self._database.shown}: there is no tournament yet; begin one with: arena run FILE")
        return self.tournament(names[-1])

    def last_match(self, tournament: StoredTournament) -> int:
        """Return the number of the last match in the schedule; 0 if it is empty."""
        query = select(func.max(matches.c.match, type_=Integer)).where(matches.c.tournament_id == tournament.number)
        return next((int(number) for (number,) in self._rows(query) if number is not None), 0)

    def last_round(self, tournament: StoredTournament) -> int:
        """Return the number of the last round in the schedule; 0 if it is empty."""
        query = select(func.max(matches.c.round, type_=Integer)).where(matches.c.tournament_id == tournament.number)
        return next((int(number) for (number,) in self._rows(query) if number is not None), 0)

    def unplayed(self, tournament: StoredTournament) -> Iterator[ScheduledMatch]:
        """Yield the matches that are still to be played, in order, reading the schedule piece by piece."""
        chosen = select(matches).where(matches.c.tournament_id == tournament.number, is_to_be_played())
        return self._lines(tournament, chosen)

    def schedule(self, tournament: StoredTournament) -> Iterator[ScheduledMatch]:
        """Yield all matches of the schedule, in order, reading it piece by piece."""
        return self._lines(tournament, select(matches).where(matches.c.tournament_id == tournament.number))

    def _lines(self, tournament: StoredTournament, chosen: Select[Any]) -> Iterator[ScheduledMatch]:
        last = 0
        while lines := self._rows(chosen.where(matches.c.match > last).order_by(matches.c.match).limit(CHUNK_ROWS)):
            for line in lines:
                last = line.match
                yield scheduled_match(line, tournament.definition)
