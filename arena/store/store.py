"""The store's operations. Values go in and come out as plain Python; what they mean is the callers' business."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, case, func, inspect, select

from arena.errors import StoreError, UnknownNameError
from arena.records import ScheduledMatch
from arena.store.connection import open_engine, reading, use_write_ahead_log, writing
from arena.store.lock import DirectorLock
from arena.store.rows import RecordRow, as_json
from arena.store.schema import SCHEMA_VERSION, bots, faults, matches, meta, metadata, records, tournaments, voids

CHUNK_ROWS = 500


@dataclass(frozen=True, slots=True)
class StoredTournament:
    """A tournament in the store.

    Attributes:
        number: its key.
        name: its name.
        definition: what results depend on, as JSON types.
        created_at: UTC, ISO 8601.
        scheduled: matches in the schedule.
        recorded: matches with a record.
    """

    number: int
    name: str
    definition: dict[str, Any]
    created_at: str
    scheduled: int
    recorded: int

    @property
    def labels(self) -> dict[str, str]:
        """``name@version`` of each entrant, by its name."""
        return {entrant["name"]: f"{entrant['name']}@{entrant['version']}" for entrant in self.definition["entrants"]}


class ResultCount(NamedTuple):
    """How often bots in these seats finished with these ranks.

    Attributes:
        game: the game's name.
        bots: ``name@version`` per seat.
        ranks: per seat.
        matches: how many.
        rated: how many of them count for ratings: where all matches of the same bots, in the same seats and from the
            same opening, are the same to the last action, they count once.
    """

    game: str
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    matches: int
    rated: int


class StoredBot(NamedTuple):
    """A submitted bot."""

    name: str
    version: str
    content: str
    entry: str
    submitted_at: str

    @property
    def label(self) -> str:
        """``name@version``."""
        return f"{self.name}@{self.version}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """A database of tournaments."""

    def __init__(self, path: Path) -> None:
        """Open the database, creating it where there is none.

        Raises:
            StoreError: if it can't be opened or was made by a newer arena.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{path.parent}: can't be written: {error.strerror}") from error
        self._engine = open_engine(path)
        try:
            self._check_or_create()
        except BaseException:
            self.close()
            raise

    def _check_or_create(self) -> None:
        with reading(self._engine, self.path) as connection:
            version = self._version(connection)
        if version is None:
            use_write_ahead_log(self._engine, self.path)
            with writing(self._engine, self.path) as connection:
                metadata.create_all(connection)
                if self._version(connection) is None:
                    connection.execute(meta.insert(), {"key": "schema_version", "value": str(SCHEMA_VERSION)})
        elif version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: the database has version {version}, and this arena knows {SCHEMA_VERSION};"
                " a newer arena is needed"
            )

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def _version(self, connection: Connection) -> int | None:
        names = inspect(connection).get_table_names()
        if meta.name not in names:
            if names:
                raise StoreError(f"{self.path}: this file is a database of another program; nothing was changed")
            return None
        text = connection.execute(select(meta.c.value).where(meta.c.key == "schema_version")).scalar()
        return int(text) if text is not None else None

    # tournaments and schedules

    def lock(self, tournament: str) -> DirectorLock:
        """Return the lock that the tournament's director holds."""
        return DirectorLock(self.path.with_name("locks"), tournament)

    def create_tournament(
        self, name: str, definition: dict[str, Any], schedule: Iterable[ScheduledMatch]
    ) -> StoredTournament:
        """Write a tournament with its whole schedule, or nothing."""
        with writing(self._engine, self.path) as connection:
            values = {"name": name, "definition": as_json(definition), "created_at": _now()}
            key = connection.execute(tournaments.insert(), values).inserted_primary_key
            number = int(key[0]) if key is not None else 0
            for chunk in _chunks(schedule):
                connection.execute(matches.insert(), [_schedule_row(number, line) for line in chunk])
        return self.tournament(name)

    def tournaments(self) -> list[StoredTournament]:
        """Return all tournaments, the oldest first."""
        return self._select_tournaments(select(tournaments))

    def _select_tournaments(self, chosen: Select[Any]) -> list[StoredTournament]:
        scheduled = select(func.count()).where(matches.c.tournament_id == tournaments.c.id).scalar_subquery()
        recorded = select(func.count()).where(records.c.tournament_id == tournaments.c.id).scalar_subquery()
        query = chosen.add_columns(scheduled, recorded).order_by(tournaments.c.id)
        with reading(self._engine, self.path) as connection:
            return [
                StoredTournament(number, name, json.loads(definition), created_at, lines, played)
                for number, name, definition, created_at, lines, played in connection.execute(query)
            ]

    def find_tournament(self, name: str) -> StoredTournament | None:
        """Return a tournament by its name; None if there is none."""
        return next(iter(self._select_tournaments(select(tournaments).where(tournaments.c.name == name))), None)

    def tournament(self, name: str) -> StoredTournament:
        """Return a tournament by its name.

        Raises:
            UnknownNameError: if there is none.
        """
        found = self.find_tournament(name)
        if found is None:
            raise UnknownNameError("tournament", name, [known.name for known in self.tournaments()])
        return found

    def latest_tournament(self) -> StoredTournament:
        """Return the tournament that was begun last.

        Raises:
            StoreError: if there is none yet.
        """
        known = self.tournaments()
        if not known:
            raise StoreError(f"{self.path}: there is no tournament yet; begin one with: arena run FILE")
        return known[-1]

    def unplayed(self, tournament: StoredTournament) -> Iterator[ScheduledMatch]:
        """Yield the matches that have no record, in order, reading the schedule piece by piece."""
        same = and_(records.c.tournament_id == matches.c.tournament_id, records.c.match == matches.c.match)
        open_lines = (
            select(matches)
            .outerjoin(records, same)
            .where(matches.c.tournament_id == tournament.number, records.c.match.is_(None))
        )
        last = 0
        while True:
            query = open_lines.where(matches.c.match > last).order_by(matches.c.match).limit(CHUNK_ROWS)
            with reading(self._engine, self.path) as connection:
                lines = connection.execute(query).all()
            if not lines:
                return
            for line in lines:
                last = line.match
                yield ScheduledMatch(
                    line.match,
                    line.encounter,
                    line.game,
                    tuple(json.loads(line.seats)),
                    line.opening,
                    tuple(_tuples(json.loads(line.opening_actions))),
                    line.rng_seed,
                )

    # records

    def record(self, tournament: StoredTournament, rows: Sequence[RecordRow]) -> None:
        """Record played matches, all or none; a match that has a record already is refused by its key."""
        key = {"tournament_id": tournament.number}
        found = [
            {**key, "match": row.match, "seat": seat, "game": row.game, "bot": bot, "kind": kind}
            for row in rows
            for seat, bot, kind in row.faults
        ]
        with writing(self._engine, self.path) as connection:
            connection.execute(records.insert(), [{**key, **_without_faults(row)} for row in rows])
            if found:
                connection.execute(faults.insert(), found)

    def note_void(self, tournament: StoredTournament, match: int, reason: str) -> None:
        """Keep a try that ended through our own failure."""
        values = {"tournament_id": tournament.number, "match": match, "reason": reason, "at": _now()}
        with writing(self._engine, self.path) as connection:
            connection.execute(voids.insert(), values)

    def void_tries(self, tournament: StoredTournament) -> list[tuple[int, str]]:
        """Return ``(match, reason)`` of every void try."""
        query = select(voids.c.match, voids.c.reason).where(voids.c.tournament_id == tournament.number)
        with reading(self._engine, self.path) as connection:
            return [(match, reason) for match, reason in connection.execute(query.order_by(voids.c.id))]

    def results(self, tournament: StoredTournament | None = None, game: str | None = None) -> list[ResultCount]:
        """Count the results of a tournament, or of all, and of one game, or of all."""
        same_start = (records.c.bots, records.c.start)
        courses = _narrowed(
            select(*same_start, func.count(records.c.digest.distinct()).label("number")), tournament, game
        )
        group = courses.group_by(*same_start).subquery()
        vary = group.c.number > 1
        rated = func.count(case((vary, 1))) + func.count(case((~vary, records.c.digest)).distinct())
        columns = (records.c.game, records.c.bots, records.c.ranks)
        query = (
            _narrowed(select(*columns, func.count(), rated), tournament, game)
            .join(group, and_(group.c.bots == records.c.bots, group.c.start == records.c.start))
            .group_by(*columns)
            .order_by(*columns)
        )
        with reading(self._engine, self.path) as connection:
            return [
                ResultCount(name, tuple(json.loads(seats)), tuple(json.loads(ranks)), count, times)
                for name, seats, ranks, count, times in connection.execute(query)
            ]

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
        with reading(self._engine, self.path) as connection:
            for bot, kind, count in connection.execute(query):
                counts.setdefault(bot, {})[kind] = count
        return counts

    def records(self, tournament: StoredTournament | None = None, game: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield whole records by tournament and match, reading them piece by piece."""
        last = (0, 0)
        key = (records.c.tournament_id, records.c.match)
        while True:
            beyond = (key[0] > last[0]) | ((key[0] == last[0]) & (key[1] > last[1]))
            query = _narrowed(select(*key, records.c.record).where(beyond), tournament, game)
            with reading(self._engine, self.path) as connection:
                rows = connection.execute(query.order_by(*key).limit(CHUNK_ROWS)).all()
            if not rows:
                return
            for number, match, text in rows:
                last = (number, match)
                yield json.loads(text)

    def record_of(self, tournament: StoredTournament, match: int) -> dict[str, Any]:
        """Return the record of one match.

        Raises:
            StoreError: if there is none.
        """
        query = select(records.c.record).where(records.c.tournament_id == tournament.number, records.c.match == match)
        with reading(self._engine, self.path) as connection:
            text = connection.execute(query).scalar()
        if text is None:
            raise StoreError(
                f"match {match} of tournament {tournament.name!r} has no record;"
                f" it has matches 1 to {tournament.scheduled}, {tournament.recorded} of them recorded"
            )
        found: dict[str, Any] = json.loads(text)
        return found

    # submitted bots

    def add_bot(self, bot: StoredBot) -> None:
        """Add a submitted bot."""
        with writing(self._engine, self.path) as connection:
            connection.execute(bots.insert(), bot._asdict())

    def submitted_bots(self) -> list[StoredBot]:
        """Return the submitted bots, the oldest first."""
        columns = (bots.c.name, bots.c.version, bots.c.content, bots.c.entry, bots.c.submitted_at)
        with reading(self._engine, self.path) as connection:
            return [StoredBot(*row) for row in connection.execute(select(*columns).order_by(bots.c.id))]


def _narrowed(query: Select[Any], tournament: StoredTournament | None, game: str | None) -> Select[Any]:
    if tournament is not None:
        query = query.where(records.c.tournament_id == tournament.number)
    if game is not None:
        query = query.where(records.c.game == game)
    return query


def _schedule_row(number: int, line: ScheduledMatch) -> dict[str, Any]:
    return {
        "tournament_id": number,
        "match": line.match,
        "encounter": line.encounter,
        "game": line.game,
        "seats": as_json(line.seats),
        "opening": line.opening,
        "opening_actions": as_json(line.opening_actions),
        "rng_seed": line.rng_seed,
    }


def _without_faults(row: RecordRow) -> dict[str, Any]:
    values = row._asdict()
    del values["faults"]
    return values


def _tuples(actions: Sequence[Any]) -> Iterator[Any]:
    """Yield actions in the form the games give them: JSON knows no tuples."""
    return (tuple(action) if isinstance(action, list) else action for action in actions)


def _chunks(lines: Iterable[ScheduledMatch]) -> Iterator[list[ScheduledMatch]]:
    coming = iter(lines)
    while chunk := list(islice(coming, CHUNK_ROWS)):
        yield chunk
