"""The store's operations. Values go in and come out as plain Python values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Integer, Select, and_, exists, func, select

from arena.definition import Definition
from arena.errors import StoreError, UnknownNameError
from arena.records import MatchRecord, ScheduledMatch
from arena.results import StoredResult
from arena.store.connection import Database
from arena.store.correction_log import CorrectionLog, corrections_of
from arena.store.lock import DirectorLock, FileLock, ServerLock
from arena.store.rows import RecordRow, as_json
from arena.store.schema import bots, faults, matches, records, skipped, tournaments, voids
from arena.store.statements import (
    CHUNK_ROWS,
    insert_lines,
    insert_records,
    is_to_be_played,
    narrowed,
    record_from,
    result_in_round,
    scheduled_match,
    stored_bots_and_ranks,
    stored_tournament,
)
from arena.store.values import StoredBot, StoredFault, StoredTournament, utc_now
from arena.store.version import bring_up_to_date

RESULTS_CHUNK_ROWS = 10_000
HASHES = (records.c.opening_hash, records.c.actions_hash)


class Store:
    """A database of tournaments."""

    def __init__(self, place: Path | str) -> None:
        """Open the database, creating its tables where there are none.

        Args:
            place: the path of an SQLite file, or the URL of a PostgreSQL database.

        Raises:
            StoreError: if it can't be opened or was made by a newer arena.
        """
        if isinstance(place, Path):
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"{place.parent}: can't be written: {error.strerror}") from error
        self._database = Database(place)
        try:
            bring_up_to_date(self._database)
        except BaseException:
            self.close()
            raise

    @property
    def corrections(self) -> CorrectionLog:
        """The log of corrections."""
        return CorrectionLog(self._database)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def retry_for(self, seconds: float) -> None:
        """Set how long every later call retries when the server can't be reached; initially 0."""
        self._database.patience_seconds = seconds

    def _rows(self, query: Select[Any]) -> list[Any]:
        return self._database.read(lambda connection: list(connection.execute(query)))

    # tournaments and schedules

    def lock(self, tournament: str) -> DirectorLock:
        """Return the lock that the tournament's director holds."""
        path = self._database.path
        return ServerLock(self._database, tournament) if path is None else FileLock(path.with_name("locks"), tournament)

    def create_tournament(self, definition: Definition, schedule: Iterable[ScheduledMatch]) -> StoredTournament:
        """Write a tournament with its schedule as far as it is known, or nothing."""

        def create(connection: Connection) -> None:
            values = {
                "name": definition.name,
                "definition": as_json(definition.to_json()),
                "created_at": utc_now(),
                "format": definition.format,
            }
            key = connection.execute(tournaments.insert(), values).inserted_primary_key
            insert_lines(connection, int(key[0]) if key is not None else 0, schedule)

        self._database.write(create)
        return self.tournament(definition.name)

    def extend_schedule(self, tournament: StoredTournament, lines: Sequence[ScheduledMatch]) -> None:
        """Add a round to the schedule, or nothing."""
        number = tournament.number

        def extend_once(connection: Connection) -> None:
            query = select(func.max(matches.c.round, type_=Integer)).where(matches.c.tournament_id == number)
            if (connection.execute(query).scalar() or 0) < lines[0].round:
                insert_lines(connection, number, lines)

        self._database.write(lambda connection: insert_lines(connection, number, lines), again=extend_once)

    def change_definition(self, tournament: StoredTournament, definition: Definition) -> None:
        """Replace the definition of a ladder whose entrants change."""
        values = {"definition": as_json(definition.to_json()), "finished_at": None}
        self._update(tournament, values)

    def set_finished(self, tournament: StoredTournament, is_finished: bool) -> None:
        """Store whether no round follows."""
        self._update(tournament, {"finished_at": utc_now() if is_finished else None})

    def _update(self, tournament: StoredTournament, values: dict[str, Any]) -> None:
        change = tournaments.update().where(tournaments.c.id == tournament.number).values(**values)
        self._database.write(lambda connection: connection.execute(change))

    def tournaments(self) -> list[StoredTournament]:
        """Return all tournaments, the oldest first."""
        return self._select_tournaments(select(tournaments).where(tournaments.c.deleted_at.is_(None)))

    def _select_tournaments(self, chosen: Select[Any]) -> list[StoredTournament]:
        lines = select(func.count()).where(matches.c.tournament_id == tournaments.c.id).scalar_subquery()
        of_this = skipped.c.tournament_id == tournaments.c.id
        has_record = exists().where(records.c.tournament_id == tournaments.c.id, records.c.match == skipped.c.match)
        left_out = select(func.count(skipped.c.match.distinct())).where(of_this, ~has_record)
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

    def recorded_matches(self, tournament: StoredTournament) -> frozenset[int]:
        """Return the numbers of the matches that have a record."""
        query = select(records.c.match).where(records.c.tournament_id == tournament.number)
        return frozenset(match for (match,) in self._rows(query))

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

    # records

    def record(self, tournament: StoredTournament, rows: Sequence[RecordRow]) -> None:
        """Record played matches, all or none; a match that has a record already is refused by its key."""
        number = tournament.number

        def record_the_rest(connection: Connection) -> None:
            wanted = [row.match for row in rows]
            query = select(records.c.match).where(records.c.tournament_id == number, records.c.match.in_(wanted))
            known = {match for (match,) in connection.execute(query)}
            insert_records(connection, number, [row for row in rows if row.match not in known])

        self._database.write(lambda connection: insert_records(connection, number, rows), again=record_the_rest)

    def note_void(self, tournament: StoredTournament, match: int, reason: str) -> None:
        """Record a void try, which ended because the arena failed."""
        shown = reason.replace("\0", "\\0")  # which PostgreSQL does not take
        values = {"tournament_id": tournament.number, "match": match, "reason": shown, "at": utc_now()}
        self._database.write(lambda connection: connection.execute(voids.insert(), values))

    def void_tries(self, tournament: StoredTournament) -> list[tuple[int, str]]:
        """Return ``(match, reason)`` of every void try."""
        query = select(voids.c.match, voids.c.reason).where(voids.c.tournament_id == tournament.number)
        return [(match, reason) for match, reason in self._rows(query.order_by(voids.c.id))]

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

    # submitted bots

    def add_bot(self, bot: StoredBot) -> None:
        """Add a submitted bot."""
        self._database.write(lambda connection: connection.execute(bots.insert(), bot._asdict()))

    def submitted_bots(self) -> list[StoredBot]:
        """Return the submitted bots, the oldest first."""
        columns = (bots.c.name, bots.c.version, bots.c.digest, bots.c.entry, bots.c.submitted_at)
        return [StoredBot(*row) for row in self._rows(select(*columns).order_by(bots.c.id))]
