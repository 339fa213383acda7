"""Reads what has been played: results, faults and records; ``tournament_reader.py`` reads the tournaments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import repeat
from typing import Any

from sqlalchemy import Integer, bindparam, exists, func, select

from arena.base.enums import FaultKind, Termination
from arena.base.errors import StoreError
from arena.base.records import MatchRecord
from arena.base.results import StoredResult
from arena.base.text import counted
from arena.store.results.match_line import BotMatches
from arena.store.results.match_lists import MatchLists, labels_of
from arena.store.results.match_records import (
    RESULT_COLUMNS,
    Records,
    ResultColumns,
    pieces_by_match,
    record_texts,
    result_columns,
    rows_by_match,
)
from arena.store.results.schema import faults, is_same_match, matches, records, seats, tournaments, voids
from arena.store.results.scope import ALL_TOURNAMENTS, Scope
from arena.store.results.statements import CHUNK_ROWS, most_rounds_on, record_from, result_in_round
from arena.store.results.tournament_reader import TournamentReader
from arena.store.results.values import StoredFault, StoredTournament

MANY_ROUNDS = 1_000
"""More new rounds than these are compared with the number of matches: a home from elsewhere may have any number."""

RESULTS_CHUNK_ROWS = 2_500
Within = StoredTournament | Scope | str

HASHES = (records.c.opening_hash, records.c.actions_hash)
_RECORD = select(records.c.record).where(
    records.c.tournament_id == bindparam("number"), records.c.match == bindparam("played")
)


class RecordReader(TournamentReader):
    """The tournaments in a database, and what has been played in them; a tournament is given as such or by its name."""

    def results(
        self, within: Within = ALL_TOURNAMENTS, game: str | None = None, last_encounter: int | None = None
    ) -> Iterator[StoredResult]:
        """Yield the result of every match, in the order of the schedule, reading them piece by piece.

        Args:
            within: of this tournament, or of those in this scope; by default of all.
            game: only of this one; by default of all.
            last_encounter: only up to this one of each tournament.

        Raises:
            UnknownNameError: if there is no such tournament, or the scope names one or a season that does not exist.
            StoreError: if a result is malformed.
        """
        for number, _, encounters, games, labels, *others in self.result_columns(within, game, last_encounter):
            yield from map(StoredResult, repeat(number), encounters, games, map(tuple, labels), *others)

    def result_columns(
        self,
        within: Within = ALL_TOURNAMENTS,
        game: str | None = None,
        last_encounter: int | None = None,
        after_match: int = 0,
        last_match: int | None = None,
    ) -> Iterator[ResultColumns]:
        """Yield what ``results`` yields by column, several thousand matches of a tournament at a time.

        ``after_match``: only matches of each tournament with a larger number, up to ``last_match``.
        """
        chosen = select(*RESULT_COLUMNS)
        if last_encounter is not None:
            chosen = chosen.where(records.c.encounter <= last_encounter)
        if last_match is not None:
            chosen = chosen.where(records.c.match <= last_match)
        for number in self._numbers_within(within):
            for rows in pieces_by_match(self._database.tuples, chosen, number, game, RESULTS_CHUNK_ROWS, after_match):
                yield result_columns(number, rows)

    def _numbers_within(self, within: Within) -> list[int]:
        return self._numbers(within) if isinstance(within, Scope) else [self._number(within)]

    def results_by_round(self, tournament: StoredTournament | str, after: int = 0) -> list[list[StoredResult]]:
        """Return the results of each round of the schedule later than ``after``; a round may have none."""
        tournament = self._stored(tournament)
        query = (
            select(
                *(matches.c.round, matches.c.encounter, matches.c.game, matches.c.seats),
                *(records.c.ranks, *(column.label(column.key) for column in HASHES)),
            )
            .join(records, is_same_match(records, matches))
            .where(matches.c.tournament_id == tournament.number, matches.c.round > after)
            .order_by(matches.c.match)
        )
        last_round = self.last_round(tournament)
        if last_round - after > MANY_ROUNDS:
            count = self.last_match(tournament)
            if last_round > count * most_rounds_on(tournament.definition):
                had = f"round {last_round}, but {counted(count, 'match')}"
                raise StoreError(f"tournament {tournament.name!r}: its schedule has {had}")
        rounds: list[list[StoredResult]] = [[] for _ in range(after, last_round)]
        definition = tournament.definition
        with self._unless_changed(tournament):
            for row in self._database.rows(query):
                while row.round - after > len(rounds):  # it was added since the last round was read
                    rounds.append([])
                rounds[row.round - after - 1].append(result_in_round(row, tournament.number, definition))
        return rounds

    def count_results(self, tournament: StoredTournament, after_round: int) -> int:
        """Count the results of the rounds later than ``after_round``."""
        later = (matches.c.tournament_id == tournament.number, matches.c.round > after_round)
        recorded = matches.join(records, is_same_match(records, matches))
        return self._database.number(select(func.count()).select_from(recorded).where(*later))

    def count_records(self, tournament: StoredTournament, last_match: int) -> int:
        """Count the records of the matches up to this one: the counter of all, without those of later matches."""
        later = (records.c.tournament_id == tournament.number, records.c.match > last_match)
        of_later = select(func.count()).where(*later).scalar_subquery()
        query = select(tournaments.c.record_count - of_later).where(tournaments.c.id == tournament.number)
        return self._database.number(query)

    def last_encounter(self, tournament: StoredTournament | str) -> int:
        """Return the number of the last encounter that has a record; 0 before the first."""
        return self._highest(records.c.encounter, tournament)

    def fault_counts(self, within: Within = ALL_TOURNAMENTS, game: str | None = None) -> dict[str, dict[str, int]]:
        """Count faults by bot (``name@version``) and kind, of the matches that ``results`` would yield."""
        query = select(faults.c.bot, faults.c.kind, func.count()).group_by(faults.c.bot, faults.c.kind)
        query = query.where(faults.c.tournament_id.in_(self._numbers_within(within)))
        if game is not None:
            query = query.where(faults.c.game == game)
        counts: dict[str, dict[str, int]] = {}
        for bot, kind, count in self._database.rows(query):
            counts.setdefault(bot, {})[kind] = count
        return counts

    def matches_of(
        self, bots: Collection[str], rivals: Collection[str] | None = None, within: Within = ALL_TOURNAMENTS
    ) -> BotMatches:
        """Return the matches of bots (``name@version`` each), against some rivals or all, read when asked for."""
        return BotMatches(self._database, self._numbers_within(within), bots, rivals)

    def labels_of(self, bot: str) -> list[str]:
        """Return the recorded versions of a bot (``name@version`` each), or a bot with its version as it is."""
        return labels_of(self._database, bot)

    @property
    def match_lists(self) -> MatchLists:
        """Lists of recorded matches, page by page."""
        return MatchLists(self._database)

    def fault_counts_of(self, bots: Collection[str]) -> dict[FaultKind, int]:
        """Count the faults of some bots (``name@version`` each) together, by kind."""
        columns = (faults.c.kind, faults.c.tournament_id, func.count(type_=Integer))
        query = select(*columns).where(faults.c.bot.in_(bots)).group_by(*columns[:2])
        numbers, counts = set(self._numbers(ALL_TOURNAMENTS)), dict.fromkeys(FaultKind, 0)
        for kind, number, count in self._database.rows(query):
            counts[kind] += count if number in numbers else 0
        return {kind: count for kind, count in counts.items() if count}

    def faults_of(self, bot: str, count: int | None = None) -> list[StoredFault]:
        """Return the faults of a bot (``name@version``) in all tournaments, the latest first; without a count all."""
        query = (
            select(tournaments.c.name, faults.c.match, faults.c.seat, faults.c.game, faults.c.kind)
            .join(tournaments, tournaments.c.id == faults.c.tournament_id)
            .where(faults.c.bot == bot, tournaments.c.deleted_at.is_(None))
            .order_by(faults.c.tournament_id.desc(), faults.c.match.desc(), faults.c.seat)
            .limit(count)
        )
        return [StoredFault(*row) for row in self._database.rows(query)]

    def records(self, within: Within = ALL_TOURNAMENTS, game: str | None = None) -> Records:
        """Return whole records by tournament and match, chosen as for ``results``, which are read piece by piece.

        Raises:
            UnknownNameError: as ``results``.
            StoreError: while they are read, if a newer arena has stored one, or it is malformed.
        """
        return Records(self._database, self._numbers_within(within), game)

    def record_texts(self, within: Within = ALL_TOURNAMENTS, game: str | None = None) -> Iterator[tuple[int, str]]:
        """Yield the number of each match and its record as it is stored, as ``records`` does."""
        return record_texts(self._database, self._numbers_within(within), game)

    def record_rows(self, tournament: StoredTournament) -> Iterator[Any]:
        """Yield each record as it is stored, with the columns beside it that are read in its place."""
        beside = (records.c.encounter, records.c.game, records.c.bots, records.c.ranks, records.c.termination)
        chosen = select(records.c.match, records.c.record, *beside)
        return rows_by_match(self._database, chosen, [tournament.number], None, CHUNK_ROWS)

    def derived_counts(self, tournament: StoredTournament) -> Counter[tuple[str, ...]]:
        """Return how many rows say that a bot was ahead of a rival, level or behind, and that it committed a fault."""
        met = (seats.c.bot, seats.c.rival, seats.c.ahead)
        failed = (faults.c.bot, faults.c.kind)
        return Counter(
            {
                tuple(map(str, row[:-1])): row[-1]
                for key in (met, failed)
                for row in self._database.rows(
                    select(*key, func.count()).where(key[0].table.c.tournament_id == tournament.number).group_by(*key)
                )
            }
        )

    def record_of(self, tournament: StoredTournament | str, match: int) -> MatchRecord:
        """Return the record of one match.

        Raises:
            UnknownNameError: if there is no such tournament.
            StoreError: if it does not exist, a newer arena has stored it, or it is malformed.
        """
        tournament = self._stored(tournament)
        last = self.last_match(tournament)
        record = self.find_record(tournament, match) if 1 <= match <= last else None
        if record is None:
            raise StoreError(
                f"match {match} of tournament {tournament.name!r} has no record;"
                f" it has matches 1 to {last}, {tournament.recorded} of them recorded"
            )
        return record

    def find_record(self, tournament: StoredTournament | str, match: int) -> MatchRecord | None:
        """Return the record of one match, as ``record_of`` does; None if it has none."""
        number = self._number(tournament)
        rows = self._database.rows(_RECORD, {"number": number, "played": match})
        return next((record_from(match, text) for (text,) in rows), None)

    def count_adjudicated(self, tournament: StoredTournament) -> int:
        """Return how many matches of a tournament ended at the limit of plies."""
        query = select(func.count()).where(
            records.c.tournament_id == tournament.number, records.c.termination == Termination.ADJUDICATION
        )
        return self._database.number(query)

    def reasons_without_result(self, tournament: StoredTournament) -> dict[int, str]:
        """Return why each match that was tried and has no record was void, the last time."""
        query = select(voids.c.match, voids.c.reason).where(
            voids.c.tournament_id == tournament.number,
            ~exists().where(is_same_match(records, voids)),
        )
        return dict(self._database.rows(query.order_by(voids.c.id)))

    def void_tries(self, tournament: StoredTournament | str) -> list[tuple[int, str]]:
        """Return ``(match, reason)`` of every void try."""
        query = select(voids.c.match, voids.c.reason).where(voids.c.tournament_id == self._number(tournament))
        return [(match, reason) for match, reason in self._database.rows(query.order_by(voids.c.id))]
