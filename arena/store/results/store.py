"""The store: the methods that write, besides the inherited ones that read. Values are plain Python values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Executable, Integer, func, select

from arena.base.definition import Definition
from arena.base.enums import EventKind
from arena.base.errors import StoreError, failing_as
from arena.base.records import ScheduledMatch
from arena.store.results.addition import Addition, Source, insert_addition, remove_contents
from arena.store.results.annotations import AnalysisRequests, Annotations
from arena.store.results.connection import Database
from arena.store.results.correction_log import CorrectionLog
from arena.store.results.events import BOTS, OWNERS, EventDetails, about_matches, add_event, advance, remove_topics
from arena.store.results.live_state import LiveState
from arena.store.results.lock import (
    DirectorLock,
    ServerLock,
    director_file_lock,
    file_lock_holders,
    server_lock_holders,
)
from arena.store.results.record_reader import RecordReader
from arena.store.results.rows import RecordRow, as_json
from arena.store.results.schema import bots, matches, owners, progress, records, tournaments, voids, writes
from arena.store.results.statements import insert_lines, insert_records, owner_row, read_owners
from arena.store.results.values import OwnedBot, StoredBot, StoredTournament, utc_now
from arena.store.results.whole_database import WholeDatabase


class Store(RecordReader, WholeDatabase):
    """A database of tournaments. Methods that read one take a ``StoredTournament`` or its name.

    Attributes:
        annotations: what the lab has found out about recorded matches.
        analysis_requests: the longer analyses that people have asked for.
    """

    def __init__(self, place: Path | str) -> None:
        """Open the database at a path or a PostgreSQL URL, creating its tables where there are none.

        Raises:
            StoreError: if it can't be opened or was made by a newer arena.
        """
        if isinstance(place, Path):
            with failing_as(StoreError, f"{place.parent}: can't be written"):
                place.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(Database(place))
        self.corrections = CorrectionLog(self._database)
        self.annotations = Annotations(self._database)
        self.analysis_requests = AnalysisRequests(self._database)
        self.bring_up_to_date()

    def retry_for(self, seconds: float) -> None:
        """Set how long every later call retries when the server can't be reached; initially 0."""
        self._database.patience_seconds = seconds

    @contextmanager
    def without_patience(self) -> Iterator[None]:
        """Have the calls within fail at once when the server can't be reached."""
        before, self._database.patience_seconds = self._database.patience_seconds, 0.0
        try:
            yield
        finally:
            self._database.patience_seconds = before

    def live_state(self, tournament: StoredTournament | int) -> LiveState:
        """Return what is stored of a tournament, which may be named by its number, while it is played."""
        return LiveState(self._database, tournament if isinstance(tournament, int) else tournament.number)

    def progress_times(self) -> dict[int, str]:
        """Return when the progress of each run was written, by the number of the tournament."""
        return dict(self._database.rows(select(progress.c.tournament_id, progress.c.at)))

    # tournaments and schedules

    def lock(self, tournament: str) -> DirectorLock:
        """Return the lock that the tournament's director holds."""
        path = self._database.path
        if path is None:
            return ServerLock(self._database, tournament)
        return director_file_lock(path.with_name("locks"), tournament)

    def directors(self) -> dict[str, str]:
        """Return which tournaments are being run now, and by which process."""
        path = self._database.path
        if path is None:
            return server_lock_holders(self._database, self.names())
        return file_lock_holders(path.with_name("locks"), self.names())

    def create_tournament(self, definition: Definition, schedule: Iterable[ScheduledMatch]) -> StoredTournament:
        """Write a tournament with the known part of its schedule, or nothing."""

        def create(connection: Connection) -> None:
            values = {
                "name": definition.name,
                "definition": as_json(definition.to_json()),
                "created_at": utc_now(),
                "format": definition.format,
            }
            key = connection.execute(tournaments.insert(), values).inserted_primary_key
            number = int(key[0]) if key is not None else 0
            insert_lines(connection, number, schedule)
            add_event(connection, number, EventKind.CREATED)

        self._database.write(create)
        return self.tournament(definition.name)

    def extend_schedule(self, tournament: StoredTournament, lines: Sequence[ScheduledMatch]) -> None:
        """Add a round to the schedule, or nothing; afterwards the tournament is not finished."""
        number = tournament.number

        def extend(connection: Connection) -> None:
            insert_lines(connection, number, lines)
            details = EventDetails(round=lines[0].round, match_count=len(lines))
            add_event(connection, number, EventKind.SCHEDULE, details)
            _reopen(connection, number)

        def extend_once(connection: Connection) -> None:
            query = select(func.max(matches.c.round, type_=Integer)).where(matches.c.tournament_id == number)
            if (connection.execute(query).scalar() or 0) < lines[0].round:
                extend(connection)

        self._database.write(extend, again=extend_once)

    @writes
    def change_definition(
        self,
        connection: Connection,
        tournament: StoredTournament,
        definition: Definition,
        *,
        lines: Sequence[ScheduledMatch] = (),
        may_be_finished: bool = False,
    ) -> None:
        """Replace the definition of a tournament, with more matches in its schedule: all of it, or nothing.

        Afterwards it is not finished, except where it may be, as its bots have only moved.
        """
        number = tournament.number
        values = {"definition": as_json(definition.to_json())} | ({} if may_be_finished else {"finished_at": None})
        connection.execute(tournaments.update().where(tournaments.c.id == number).values(**values))
        last = select(func.max(matches.c.match, type_=Integer)).where(matches.c.tournament_id == number)
        if lines and (connection.execute(last).scalar() or 0) < lines[0].match:
            insert_lines(connection, number, lines)
        add_event(connection, number, EventKind.DEFINITION)

    def set_finished(self, tournament: StoredTournament, is_finished: bool) -> None:
        """Store whether no round follows."""
        if is_finished:
            self._update(tournament, {"finished_at": utc_now()}, EventKind.FINISHED)
        else:
            self._database.write(lambda connection: _reopen(connection, tournament.number))

    @writes
    def _update(
        self,
        connection: Connection,
        tournament: StoredTournament,
        values: dict[str, Any],
        kind: EventKind,
        name: str | None = None,
    ) -> None:
        """Change a tournament's row and add to its log."""
        change = tournaments.update().where(tournaments.c.id == tournament.number).values(**values)
        if connection.execute(change).rowcount:
            add_event(connection, tournament.number, kind, EventDetails(name=name))

    # names, and the trash; the caller holds the locks of the names that change

    def rename(self, tournament: StoredTournament, name: str) -> StoredTournament:
        """Give a tournament another name; its records keep the name they were recorded under.

        Raises:
            StoreError: if another tournament has this name.
        """
        self._require_unused(name)
        self._update(tournament, {"name": name}, EventKind.RENAMED, name=name)
        return self.tournament(name)

    def delete(self, tournament: StoredTournament) -> None:
        """Put a tournament into the trash; it counts nowhere any more, and its name can be used again."""
        values = {"name": tournament.trash_name, "deleted_name": tournament.name, "deleted_at": utc_now()}
        self._update(tournament, values, EventKind.DELETED)

    def restore(self, tournament: StoredTournament, name: str) -> StoredTournament:
        """Take a tournament out of the trash, under this name; StoreError if another tournament has it."""
        self._require_unused(name)
        values = {"name": name, "deleted_name": None, "deleted_at": None}
        self._update(tournament, values, EventKind.RESTORED, name=name)
        return self.tournament(name)

    @writes
    def erase(self, connection: Connection, tournament: StoredTournament) -> None:
        """Remove a tournament in the trash, with all that belongs to it, forever; StoreError if it is not there."""
        if tournament.deleted_at is None:
            raise StoreError(f"tournament {tournament.name!r} is not in the trash; delete it first")
        remove_contents(connection, tournament.number)
        connection.execute(tournaments.delete().where(tournaments.c.id == tournament.number))
        remove_topics(connection, tournament.number)

    def _require_unused(self, name: str) -> None:
        if self.find_tournament(name) is not None:
            raise StoreError(f"there is a tournament {name!r} already; nothing was changed")

    # other databases

    def as_source(self) -> Source:
        """Return what reads whole tournaments from this database."""
        return Source(self._database)

    def add(self, addition: Addition) -> None:
        """Add a tournament of another database, or what is missing from one here: all of it, or nothing."""
        self._database.write(lambda connection: insert_addition(connection, addition))

    # records

    def record(self, tournament: StoredTournament, rows: Sequence[RecordRow]) -> None:
        """Record played matches, all or none; its key rejects a match that has a record already."""
        number = tournament.number

        def record(connection: Connection, new: Sequence[RecordRow] = rows) -> None:
            if new:
                insert_records(connection, number, new)
                add_event(connection, number, EventKind.RESULTS, about_matches([row.match for row in new]))

        def record_the_rest(connection: Connection) -> None:
            numbers = [row.match for row in rows]
            query = select(records.c.match).where(records.c.tournament_id == number, records.c.match.in_(numbers))
            recorded = {match for (match,) in connection.execute(query)}
            record(connection, [row for row in rows if row.match not in recorded])

        self._database.write(record, again=record_the_rest)

    def note_void(self, tournament: StoredTournament, match: int, reason: str) -> None:
        """Record a void try, which ended because the arena failed."""
        shown = reason.replace("\0", "\\0")  # PostgreSQL stores no NUL
        values = {"tournament_id": tournament.number, "match": match, "reason": shown, "at": utc_now()}
        self._database.execute(voids.insert(), values)

    # submitted bots

    def add_bot(self, bot: StoredBot) -> None:
        """Add a submitted bot."""
        self._change_bots(bots.insert().values(**bot._asdict()))

    def remove_bot(self, bot: StoredBot) -> None:
        """Remove a submitted bot."""
        self._change_bots(bots.delete().where(bots.c.name == bot.name, bots.c.version == bot.version))

    @writes
    def _change_bots(self, connection: Connection, change: Executable) -> None:
        connection.execute(change)
        advance(connection, BOTS)

    @writes
    def set_owner(self, connection: Connection, bot: OwnedBot) -> None:
        """Store the owner of a bot that no page shows yet."""
        connection.execute(owner_row(connection, bot))

    def set_owners(self, owned: Iterable[OwnedBot]) -> None:
        """Replace the owners of all bots; pages that were built before are not shown again."""
        new = {owned_bot.bot: owned_bot for owned_bot in owned}

        def write(connection: Connection) -> None:
            stored = read_owners(connection).by_bot
            if stored == new:
                return
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA secure_delete = ON")
            for bot in stored.keys() - new.keys():
                connection.execute(owners.delete().where(owners.c.bot == bot))
            for bot, owned_bot in new.items():
                if stored.get(bot) != owned_bot:
                    connection.execute(owner_row(connection, owned_bot))
            advance(connection, OWNERS)

        self._database.write(write)

    def submitted_bots(self) -> list[StoredBot]:
        """Return the submitted bots, the oldest first."""
        columns = (bots.c.name, bots.c.version, bots.c.digest, bots.c.entry, bots.c.submitted_at)
        return [StoredBot(*row) for row in self._database.rows(select(*columns).order_by(bots.c.id))]


def _reopen(connection: Connection, tournament: int) -> None:
    was_finished = (tournaments.c.id == tournament, tournaments.c.finished_at.is_not(None))
    if connection.execute(tournaments.update().where(*was_finished).values(finished_at=None)).rowcount:
        add_event(connection, tournament, EventKind.REOPENED)
