"""What has been played: results, faults and records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sqlalchemy import Integer, Select, and_, func, select

from arena.errors import StoreError
from arena.records import MatchRecord
from arena.results import StoredResult
from arena.store.schema import faults, matches, records, tournaments, voids
from arena.store.statements import CHUNK_ROWS, narrowed, record_from, result_in_round, stored_bots_and_ranks
from arena.store.tournament_reader import TournamentReader
from arena.store.values import StoredFault, StoredTournament

RESULTS_CHUNK_ROWS = 10_000
HASHES = (records.c.opening_hash, records.c.actions_hash)


class RecordReader(TournamentReader):
    """The tournaments in a database, and what has been played in them."""

    def results(
        self,
        tournament: StoredTournament | None = None,
        game: str | None = None,
        last_encounter: int | None = None,
        last_tournament: int | None = None,
    ) -> Iterator[StoredResult]:
        """Yield the result of every match, in the order of the schedule, reading them piece by piece.

        Args:
            tournament: only of this one; by default of all.
            game: only of this one; by default of all.
            last_encounter: only up to this one of each tournament.
            last_tournament: only up to the tournament with this number.
        """
        key = (records.c.tournament_id, records.c.match)
        columns = (records.c.encounter, records.c.game, records.c.bots, records.c.ranks)
        chosen = narrowed(select(*key, *columns, *HASHES), tournament, game)
        if last_encounter is not None:
            chosen = chosen.where(records.c.encounter <= last_encounter)
        if last_tournament is not None:
            chosen = chosen.where(records.c.tournament_id <= last_tournament)
        bots_and_ranks = lru_cache(maxsize=None)(stored_bots_and_ranks)
        for number, match, encounter, name, labels, ranks, *hashes in self._by_key(chosen, RESULTS_CHUNK_ROWS):
            try:
                pair = bots_and_ranks(labels, ranks)
            except StoreError as error:
                raise StoreError(f"the result of match {match}: {error}") from error
            yield StoredResult(number, encounter, name, *pair, *hashes)

    def _by_key(self, chosen: Select[Any], chunk_rows: int) -> Iterator[Any]:
        """Yield the rows of a query that begins with tournament and match, in that order, reading piece by piece."""
        key = (records.c.tournament_id, records.c.match)
        last = (0, 0)
        while True:
            beyond = (key[0] > last[0]) | ((key[0] == last[0]) & (key[1] > last[1]))
            rows = self._rows(chosen.where(beyond).order_by(*key).limit(chunk_rows))
            if not rows:
                return
            last = (rows[-1][0], rows[-1][1])
            yield from rows

    def results_by_round(self, tournament: StoredTournament, after: int = 0) -> list[list[StoredResult]]:
        """Return the results of each round of the schedule later than ``after``; a round may have none."""
        same = and_(records.c.tournament_id == matches.c.tournament_id, records.c.match == matches.c.match)
        query = (
            select(
                *(matches.c.round, matches.c.encounter, matches.c.game, matches.c.seats),
                *(records.c.ranks, *(column.label(column.key) for column in HASHES)),
            )
            .join(records, same)
            .where(matches.c.tournament_id == tournament.number, matches.c.round > after)
            .order_by(matches.c.match)
        )
        rounds: list[list[StoredResult]] = [[] for _ in range(after, self.last_round(tournament))]
        for row in self._rows(query):
            rounds[row.round - after - 1].append(result_in_round(row, tournament))
        return rounds

    def last_encounter(self, tournament: StoredTournament) -> int:
        """Return the number of the last encounter that has a record; 0 before the first."""
        query = select(func.max(records.c.encounter, type_=Integer)).where(records.c.tournament_id == tournament.number)
        return next((int(number) for (number,) in self._rows(query) if number is not None), 0)

    def fault_counts(
        self, tournament: StoredTournament | None = None, game: str | None = None
    ) -> dict[str, dict[str, int]]:
        """Count faults by bot (``name@version``) and kind."""
        query = select(faults.c.bot, faults.c.kind, func.count()).group_by(faults.c.bot, faults.c.kind)
        if tournament is not None:
            query = query.where(faults.c.tournament_id == tournament.number)
        if game is not None:
            query = query.where(faults.c.game == game)
        counts: dict[str, dict[str, int]] = {}
        for bot, kind, count in self._rows(query):
            counts.setdefault(bot, {})[kind] = count
        return counts

    def faults_of(self, bot: str) -> list[StoredFault]:
        """Return the faults of a bot (``name@version``), the latest first."""
        query = (
            select(tournaments.c.name, faults.c.match, faults.c.seat, faults.c.game, faults.c.kind)
            .join(tournaments, tournaments.c.id == faults.c.tournament_id)
            .where(faults.c.bot == bot)
            .order_by(faults.c.tournament_id.desc(), faults.c.match.desc(), faults.c.seat)
        )
        return [StoredFault(*row) for row in self._rows(query)]

    def records(self, tournament: StoredTournament | None = None, game: str | None = None) -> Iterator[MatchRecord]:
        """Yield whole records by tournament and match, reading them piece by piece.

        Raises:
            StoreError: if a newer arena has stored one, or it is malformed.
        """
        for match, text in self.record_texts(tournament, game):
            yield record_from(match, text)

    def record_texts(
        self, tournament: StoredTournament | None = None, game: str | None = None
    ) -> Iterator[tuple[int, str]]:
        """Yield the number of each match and its record as it is stored, by tournament and match, piece by piece."""
        chosen = narrowed(select(records.c.tournament_id, records.c.match, records.c.record), tournament, game)
        for _, match, text in self._by_key(chosen, CHUNK_ROWS):
            yield match, text

    def record_of(self, tournament: StoredTournament, match: int) -> MatchRecord:
        """Return the record of one match.

        Raises:
            StoreError: if it does not exist, a newer arena has stored it, or it is malformed.
        """
        query = select(records.c.record).where(records.c.tournament_id == tournament.number, records.c.match == match)
        last = self.last_match(tournament)
        text = next((text for (text,) in self._rows(query)), None) if 1 <= match <= last else None
        if text is None:
            raise StoreError(
                f"match {match} of tournament {tournament.name!r} has no record;"
                f" it has matches 1 to {last}, {tournament.recorded} of them recorded"
            )
        return record_from(match, text)

    def void_tries(self, tournament: StoredTournament) -> list[tuple[int, str]]:
        """Return ``(match, reason)`` of every void try."""
        query = select(voids.c.match, voids.c.reason).where(voids.c.tournament_id == tournament.number)
        return [(match, reason) for match, reason in self._rows(query.order_by(voids.c.id))]
