"""Which tournaments there are, who entered them, and their schedules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Integer, Select, bindparam, exists, func, select

from arena.base.errors import ChangedMeanwhileError, StoreError, UnknownNameError
from arena.base.records import ScheduledMatch, Seating
from arena.base.stored import from_json_text, list_of, mapping_of
from arena.base.text import any_of
from arena.store.results.connection import NO_VALUES, Repository
from arena.store.results.correction_log import logs_from, logs_query
from arena.store.results.events import EventLog
from arena.store.results.schema import (
    OptionalInteger,
    corrections,
    is_same_match,
    matches,
    records,
    skipped,
    total_of,
    tournaments,
)
from arena.store.results.scope import ALL_TOURNAMENTS, EXPERIMENTS, Scope, Seasons
from arena.store.results.statements import (
    CHUNK_ROWS,
    Counters,
    counted,
    is_to_be_played,
    read_owners,
    scheduled_match,
    seats_in_line,
    stored_tournament,
)
from arena.store.results.values import Owners, StoredTournament


class Roster(NamedTuple):
    """The bots (``name@version`` each) and games of a tournament."""

    bots: frozenset[str] = frozenset()
    games: frozenset[str] = frozenset()


class RoundEnd(NamedTuple):
    """A round of a tournament, its last encounter and match with a record, and how many have one until then."""

    round: int
    encounter: int
    match: int
    recorded: int


def roster_of(definition: str) -> Roster:
    """Return who and what is in a stored definition; a definition that can't be read has nobody."""
    with suppress(StoreError):
        stored = mapping_of(from_json_text(definition, "a definition"), "a definition")
        bots = ((bot.get("name"), bot.get("version")) for bot in _mappings(stored.get("entrants")))
        games = (choice.get("game") for choice in _mappings(stored.get("games")))
        return Roster(
            frozenset(f"{name}@{version}" for name, version in bots),
            frozenset(game for game in games if isinstance(game, str)),
        )
    return Roster()


def _mappings(value: object) -> Iterable[Mapping[str, Any]]:
    return (mapping_of(entry, "an entrant or a game") for entry in list_of(value, "entrants or games"))


SEATINGS_CHUNK_ROWS = 10_000


class _Selection(NamedTuple):
    """The queries for some tournaments, and for the logs of their corrections."""

    tournaments: Select[Any]
    logs: Select[Any]


def _selection(chosen: Select[Any]) -> _Selection:
    of_this = skipped.c.tournament_id == tournaments.c.id
    has_record = exists().where(is_same_match(records, skipped))
    left_out = select(func.count(skipped.c.match.distinct())).where(of_this, ~has_record).scalar_subquery()
    return _Selection(
        chosen.add_columns(left_out.label("left_out")).order_by(tournaments.c.id),
        logs_query(corrections.c.tournament_id.in_(chosen.with_only_columns(tournaments.c.id))),
    )


_NAMED = (tournaments.c.name == bindparam("name"), tournaments.c.deleted_at.is_(None))
_SELECTION_BY_NAME = _selection(select(tournaments).where(*_NAMED))
_NUMBER_BY_NAME = select(tournaments.c.id).where(*_NAMED)


@cache
def _highest_query(column: Column[int]) -> Select[Any]:
    highest = select(func.max(column, type_=OptionalInteger))
    return highest.where(column.table.c.tournament_id == bindparam("number"))


class TournamentReader(Repository):
    """The tournaments in a database. A method that takes one also takes its name, or raises ``UnknownNameError``."""

    def tournaments(self, scope: Scope = ALL_TOURNAMENTS) -> list[StoredTournament]:
        """Return the tournaments in a scope, by default all that are not deleted, the oldest first.

        Raises:
            UnknownNameError: if the scope names a tournament or a season that does not exist.
            StoreError: if the season has no tournament any more.
        """
        return self._selected(_selection(select(tournaments).where(tournaments.c.id.in_(self._numbers(scope)))))

    def newest_tournaments(self, limit: int, before: int | None = None) -> list[StoredTournament]:
        """Return at most ``limit`` tournaments with numbers below ``before``, those that were stored last first."""
        query = select(tournaments.c.id).where(tournaments.c.deleted_at.is_(None))
        query = query.where(tournaments.c.id < before) if before is not None else query
        numbers = self._database.scalars(query.order_by(tournaments.c.id.desc()).limit(limit))
        return self._selected(_selection(select(tournaments).where(tournaments.c.id.in_(numbers))))[::-1]

    def totals(self) -> tuple[int, int]:
        """Return the number of tournaments and of their records, without deleted ones."""
        query = select(func.count(), total_of(tournaments.c.record_count))
        ((count, recorded),) = self._database.rows(query.where(tournaments.c.deleted_at.is_(None)))
        return int(count), int(recorded)

    def deleted_tournaments(self) -> list[StoredTournament]:
        """Return the tournaments in the trash, under the names they had, the oldest first."""
        return self._selected(_selection(select(tournaments).where(tournaments.c.deleted_at.is_not(None))))

    def deleted_tournament(self, name: str) -> StoredTournament:
        """Return a tournament in the trash, by the name it had or the one it has there.

        Raises:
            UnknownNameError: if it does not exist.
            StoreError: if it is not deleted, or several had this name.
        """
        deleted = self.deleted_tournaments()
        matching = [tournament for tournament in deleted if name in (tournament.name, tournament.trash_name)]
        if not matching and self.find_tournament(name) is not None:
            raise StoreError(f"tournament {name!r} is not in the trash")
        if not matching:
            raise UnknownNameError("deleted tournament", name, [tournament.name for tournament in deleted])
        if len(matching) > 1:
            choice = any_of([tournament.trash_name for tournament in matching])
            raise StoreError(f"{len(matching)} deleted tournaments had the name {name!r}; expected {choice}")
        return matching[0]

    def _numbers(self, scope: Scope) -> list[int]:
        columns = (tournaments.c.id, tournaments.c.name, tournaments.c.format, tournaments.c.created_at)
        query = select(*columns).where(tournaments.c.deleted_at.is_(None)).order_by(tournaments.c.id)
        rows = self._database.rows(query)
        named = self._named(scope, [row.name for row in rows]) if scope.is_named else {row.name for row in rows}
        return [row.id for row in rows if row.name in named and scope.includes(row.format, row.created_at)]

    def _named(self, scope: Scope, names: Sequence[str]) -> set[str]:
        """Return the names of the tournaments that a scope names, or its season has."""
        for name in scope.tournaments:
            if name not in names:
                raise UnknownNameError("tournament", name, names)
        if scope.season is None:
            return set(scope.tournaments)
        season = self.seasons.get(scope.season)
        if not season.tournaments:
            raise StoreError(
                f"season {season.name!r}: all its tournaments are deleted; arena tournament restore brings one back"
            )
        return {*scope.tournaments, *season.tournaments}

    @property
    def events(self) -> EventLog:
        """The log of events."""
        return EventLog(self._database)

    @property
    def seasons(self) -> Seasons:
        """The seasons."""
        return Seasons(self._database)

    def one_transaction(self) -> AbstractContextManager[None]:
        """Have what this thread reads within share a transaction; see ``Database.one_transaction``."""
        return self._database.one_transaction()

    def _selected(self, selection: _Selection, values: Mapping[str, Any] = NO_VALUES) -> list[StoredTournament]:
        def read(connection: Connection) -> list[StoredTournament]:
            logs = logs_from(connection, selection.logs, values)
            owners = read_owners(connection)
            rows = connection.execute(selection.tournaments, values)
            return [stored_tournament(row, tuple(logs[row.id]), owners) for row in rows]

        return self._database.read(read)

    def owners(self) -> Owners:
        """Return the owners of bots."""
        return self._database.read(read_owners)

    def find_tournament(self, name: str) -> StoredTournament | None:
        """Return a tournament by its name; None if it does not exist."""
        return next(iter(self._selected(_SELECTION_BY_NAME, {"name": name})), None)

    def tournament(self, name: str) -> StoredTournament:
        """Return a tournament by its name, or raise UnknownNameError."""
        found = self.find_tournament(name)
        if found is None:
            raise UnknownNameError("tournament", name, self.names())
        return found

    def require_tournament(self, name: str) -> None:
        """Raise UnknownNameError unless there is a tournament of this name, without reading it."""
        if self._database.scalar(_NUMBER_BY_NAME, {"name": name}) is None:
            raise UnknownNameError("tournament", name, self.names())

    def _stored(self, tournament: StoredTournament | str) -> StoredTournament:
        return self.tournament(tournament) if isinstance(tournament, str) else tournament

    def _number(self, tournament: StoredTournament | str) -> int:
        return self._stored(tournament).number

    def names(self) -> list[str]:
        """Return the names of all tournaments that are not deleted, the oldest first."""
        query = select(tournaments.c.name).where(tournaments.c.deleted_at.is_(None)).order_by(tournaments.c.id)
        return self._database.scalars(query)

    def tournament_numbers(self) -> dict[str, int]:
        """Return the number of each tournament that is not deleted, by name."""
        query = select(tournaments.c.name, tournaments.c.id).where(tournaments.c.deleted_at.is_(None))
        return dict(self._database.rows(query))

    def rosters(self, numbers: Collection[int] | None = None) -> dict[int, Roster]:
        """Return the bots and games of tournaments, by default all, deleted ones too, by their numbers."""
        query = select(tournaments.c.id, tournaments.c.definition)
        query = query if numbers is None else query.where(tournaments.c.id.in_(numbers))
        return {number: roster_of(definition) for number, definition in self._database.rows(query)}

    def is_to_be_played(self, tournament: int, match: int) -> bool | None:
        """Return whether a match of the tournament with this number is to be played; None if it does not exist."""
        query = select(is_to_be_played()).where(matches.c.tournament_id == tournament, matches.c.match == match)
        answer = self._database.scalar(query)
        return None if answer is None else bool(answer)

    def counter_problems(self, tournament: StoredTournament, *names: str) -> list[str]:
        """Return a sentence for each counter, of these or all, that differs from what is counted."""
        names = names or Counters._fields
        query = select(*(tournaments.c[name] for name in names)).where(tournaments.c.id == tournament.number)
        actual, rows = self._database.read_snapshot(lambda c: (counted(c, tournament.number), c.execute(query).all()))
        return [
            f"the counter {name} is {value}, but should be {getattr(actual, name)}"
            for row in rows
            for name, value in zip(names, row, strict=True)
            if value != getattr(actual, name)
        ]

    def latest_tournament(self) -> StoredTournament:
        """Return the tournament that was begun last, comparisons apart; StoreError without one."""
        live = select(tournaments.c.name).where(tournaments.c.deleted_at.is_(None))
        latest_first = live.order_by(tournaments.c.created_at.desc(), tournaments.c.id.desc()).limit(1)
        for (name,) in self._database.rows(latest_first.where(tournaments.c.format.not_in(EXPERIMENTS))):
            return self.tournament(name)
        for (name,) in self._database.rows(latest_first):
            raise StoreError(f"{self._database.shown}: there are only comparisons; name one, such as {name!r}")
        raise StoreError(f"{self._database.shown}: there is no tournament yet; begin one with: arena run FILE")

    def recorded_matches(self, tournament: StoredTournament | str, within: range | None = None) -> frozenset[int]:
        """Return the numbers of the matches that have a record, by default of all."""
        limits = () if within is None else (records.c.match >= within.start, records.c.match < within.stop)
        query = select(records.c.match).where(records.c.tournament_id == self._number(tournament), *limits)
        return frozenset(self._database.scalars(query))

    def last_match(self, tournament: StoredTournament | str) -> int:
        """Return the number of the last match in the schedule; 0 if it is empty."""
        return self._highest(matches.c.match, tournament)

    def scheduled_match(self, tournament: StoredTournament | str, match: int) -> ScheduledMatch:
        """Return one line of the schedule; StoreError if it does not exist, or does not fit the definition."""
        tournament = self._stored(tournament)
        query = select(matches).where(matches.c.tournament_id == tournament.number, matches.c.match == match)
        for line in self._database.rows(query):
            return scheduled_match(line, tournament.definition)
        raise StoreError(f"match {match} of tournament {tournament.name!r} is not in its schedule")

    def last_round(self, tournament: StoredTournament | str) -> int:
        """Return the number of the last round in the schedule; 0 if it is empty."""
        return self._highest(matches.c.round, tournament)

    def round_ends(self, tournament: StoredTournament | str) -> list[RoundEnd]:
        """Return each round with a record, in order."""
        last = (func.max(column, type_=Integer) for column in (records.c.encounter, records.c.match))
        query = (
            select(matches.c.round, *last, func.count())
            .join(records, is_same_match(matches, records))
            .group_by(matches.c.round)
        )
        query = query.where(matches.c.tournament_id == self._number(tournament)).order_by(matches.c.round)
        rows: list[tuple[int, int, int, int]] = [tuple(row) for row in self._database.rows(query)]
        totals = accumulate(count for *_, count in rows)
        return [RoundEnd(*row[:3], total) for row, total in zip(rows, totals, strict=True)]

    def _highest(self, column: Column[int], tournament: StoredTournament | str) -> int:
        return self._database.scalar(_highest_query(column), {"number": self._number(tournament)}) or 0

    def unplayed(self, tournament: StoredTournament | str, after_round: int = 0) -> Iterator[ScheduledMatch]:
        """Yield the matches of later rounds that are still to be played, in order, reading them piece by piece."""
        return self._lines(tournament, after_round, is_to_be_played())

    def schedule(self, tournament: StoredTournament | str, after_round: int = 0) -> Iterator[ScheduledMatch]:
        """Yield all matches of the rounds later than ``after_round``, in order, reading them piece by piece."""
        return self._lines(tournament, after_round)

    def seatings(
        self, tournament: StoredTournament | str, within: range | None = None, entrant: int | None = None
    ) -> Iterator[Seating]:
        """Yield the seats of matches of the schedule, in order: many times faster than whole lines.

        By default of all; of an entrant, also matches of others whose numbers have its digits.

        Raises:
            StoreError: if a line does not fit the tournament's definition.
        """
        tournament = self._stored(tournament)
        columns = (matches.c.match, matches.c.encounter, matches.c.round, matches.c.game, matches.c.seats)
        chosen = select(*columns).where(matches.c.tournament_id == tournament.number).order_by(matches.c.match)
        definition, seats_of, last = tournament.definition, dict[tuple[str, int], tuple[int, ...]](), 0
        if within is not None:
            chosen, last = chosen.where(matches.c.match < within.stop), within.start - 1
        if entrant is not None:
            chosen = chosen.where(matches.c.seats.contains(str(entrant)))
        while rows := self._database.rows(chosen.where(matches.c.match > last).limit(SEATINGS_CHUNK_ROWS)):
            for last, encounter, number, game, text in rows:
                if (text, game) not in seats_of:
                    with self._unless_changed(tournament):
                        seats_of[text, game] = seats_in_line(text, game, last, definition)
                yield Seating(last, encounter, number, seats_of[text, game])

    def seatings_counted(self, tournament: StoredTournament | str) -> dict[tuple[int, tuple[int, ...]], int]:
        """Count the matches of the schedule by the number of their game and their seats."""
        tournament = self._stored(tournament)
        columns = (matches.c.game, matches.c.seats)
        query = select(*columns, func.count(), func.min(matches.c.match, type_=Integer)).group_by(*columns)
        definition, counts = tournament.definition, dict[tuple[int, tuple[int, ...]], int]()
        for game, text, count, first in self._database.rows(query.where(matches.c.tournament_id == tournament.number)):
            with self._unless_changed(tournament):
                key = game, seats_in_line(text, game, first, definition)
            counts[key] = counts.get(key, 0) + count
        return counts

    def _lines(
        self, tournament: StoredTournament | str, after_round: int, *conditions: ColumnElement[bool]
    ) -> Iterator[ScheduledMatch]:
        tournament = self._stored(tournament)
        chosen = (
            select(matches).where(matches.c.tournament_id == tournament.number, *conditions).order_by(matches.c.match)
        )
        chosen = chosen.where(matches.c.round > after_round) if after_round else chosen
        definition, last = tournament.definition, 0
        while lines := self._database.rows(chosen.where(matches.c.match > last).limit(CHUNK_ROWS)):
            with self._unless_changed(tournament):
                scheduled = [scheduled_match(line, definition) for line in lines]
            last = scheduled[-1].match
            yield from scheduled

    @contextmanager
    def _unless_changed(self, tournament: StoredTournament) -> Iterator[None]:
        """Check rows by a tournament's definition; a row that does not fit may have an entrant that came since."""
        try:
            yield
        except StoreError as error:
            query = select(tournaments.c.definition).where(tournaments.c.id == tournament.number)
            if self._database.scalars(query) == [tournament.definition_text]:
                raise
            raise ChangedMeanwhileError(
                f"tournament {tournament.name!r} was changed while it was read; try again"
            ) from error
