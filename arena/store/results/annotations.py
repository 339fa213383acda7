"""What the lab has found out about recorded matches, as text that the lab reads, and requests for longer analyses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, select

from arena.base.enums import AnalysisState, EventKind
from arena.base.errors import StoreError, UsageError
from arena.base.records import MatchRecord
from arena.base.version import __version__
from arena.store.results.connection import FEW_ROWS, Repository
from arena.store.results.events import about_matches, add_event
from arena.store.results.match_line import MatchKey
from arena.store.results.match_records import rows_by_match
from arena.store.results.schema import analysis_requests as requests
from arena.store.results.schema import is_same_match, match_annotations, records, tournaments, writes
from arena.store.results.statements import CHUNK_ROWS, chunks, insert_many, record_from, stored_bots_and_ranks
from arena.store.results.values import StoredTournament

_COLUMNS = ("match", "actions_hash", "accuracy", "body")


class AnnotationRow(NamedTuple):
    """An annotation in the form it is stored.

    Attributes:
        actions_hash: of its record, as ``RecordRow`` has it.
        accuracy: how well its seats played, as JSON.
    """

    match: int
    actions_hash: str
    accuracy: str
    body: str


class StoredAccuracy(NamedTuple):
    """How well the seats of an annotated match played: ``accuracy``, per seat, is JSON; bots are ``name@version``."""

    match: int
    encounter: int
    game: str
    bots: tuple[str, ...]
    accuracy: str


def _is_of_record() -> ColumnElement[bool]:
    same_actions = match_annotations.c.actions_hash == records.c.actions_hash
    return is_same_match(match_annotations, records) & same_actions


_BODY = (
    select(match_annotations.c.body)
    .join(records, _is_of_record())
    .where(records.c.tournament_id == bindparam("number"), records.c.match == bindparam("played"))
)


class Annotations(Repository):
    """The annotations in a database. Those of records that do not count any more are not seen."""

    @writes
    def write(self, connection: Connection, tournament: StoredTournament, rows: Sequence[AnnotationRow]) -> None:
        """Write annotations in place of earlier ones, all or none."""
        number, matches = tournament.number, [row.match for row in rows]
        old = match_annotations.c.tournament_id == number
        connection.execute(match_annotations.delete().where(old, match_annotations.c.match.in_(matches)))
        insert_many(connection, match_annotations, ("tournament_id", *_COLUMNS), [(number, *row) for row in rows])
        if rows:
            add_event(connection, number, EventKind.ANNOTATED, about_matches(matches))

    @writes
    def announce(self, connection: Connection, tournament: StoredTournament) -> None:
        """Add an event about matches for which the lab has found something else, such as puzzles."""
        add_event(connection, tournament.number, EventKind.ANNOTATED, about_matches(()))

    def find(self, tournament: StoredTournament, match: int) -> str | None:
        """Return the annotation of a match, as JSON; None if it has none."""
        return self._database.scalar(_BODY, {"number": tournament.number, "played": match})

    def find_all(self, tournament: StoredTournament, matches: Sequence[int]) -> dict[int, str]:
        """Return the annotations of those of some matches that have one, as JSON, by match."""
        query = select(records.c.match, match_annotations.c.body).join(match_annotations, _is_of_record())
        query = query.where(records.c.tournament_id == tournament.number)
        pieces = (self._database.rows(query.where(records.c.match.in_(chunk))) for chunk in chunks(matches))
        return {match: body for piece in pieces for match, body in piece}

    def count(self, tournament: StoredTournament) -> int:
        """Return how many matches of a tournament are annotated."""
        query = select(func.count()).select_from(match_annotations).join(records, _is_of_record())
        query = query.where(records.c.tournament_id == tournament.number)
        return self._database.number(query)

    def to_annotate(
        self, tournament: StoredTournament, *, game: str | None = None, match: int | None = None, again: bool = False
    ) -> Iterator[tuple[str, MatchRecord]]:
        """Yield the records that have no annotation, ``again`` also those with one, each with the hash of its actions.

        Raises:
            StoreError: if a newer arena has stored a record, or it is malformed.
        """
        query = select(records.c.match, records.c.actions_hash, records.c.record)
        query = query.outerjoin(match_annotations, _is_of_record())
        query = query if again else query.where(match_annotations.c.match.is_(None))
        query = query if match is None else query.where(records.c.match == match)
        for number, actions_hash, text in rows_by_match(self._database, query, [tournament.number], game, FEW_ROWS):
            yield actions_hash, record_from(number, text)

    def accuracy_of_matches(self, tournament: StoredTournament, matches: Sequence[int]) -> dict[int, str]:
        """Return how well the seats of those of some matches played that are annotated, as JSON, by match."""
        query = select(records.c.match, match_annotations.c.accuracy).join(match_annotations, _is_of_record())
        query = query.where(records.c.tournament_id == tournament.number, records.c.match.in_(matches))
        return dict(self._database.rows(query))

    def accuracy(self, tournament: StoredTournament, game: str | None = None) -> Iterator[StoredAccuracy]:
        """Yield how well the seats of each annotated match played, by match; StoreError if bots are malformed."""
        columns = (records.c.match, records.c.encounter, records.c.game, records.c.bots, records.c.ranks)
        query = select(*columns, match_annotations.c.accuracy).join(match_annotations, _is_of_record())
        rows = rows_by_match(self._database, query, [tournament.number], game, CHUNK_ROWS)
        for match, encounter, played, bots, ranks, accuracy in rows:
            yield StoredAccuracy(match, encounter, played, stored_bots_and_ranks(bots, ranks)[0], accuracy)


MAX_WAITING = 100


AskedMatch = MatchKey
"""A match that is to be analysed."""


class AnalysisRequest(NamedTuple):
    """What became of a request: its place in the queue, from 1 (0 if it does not wait), and how many wait."""

    state: AnalysisState
    place: int
    waiting: int
    searched_seconds: int


_REQUEST = (
    select(requests)
    .join(records, is_same_match(requests, records) & (requests.c.actions_hash == records.c.actions_hash))
    .where(requests.c.tournament_id == bindparam("number"), requests.c.match == bindparam("played"))
)


class AnalysisRequests(Repository):
    """The requests in a database. One is about a record, and is not seen once another took its place."""

    @writes
    def add(self, connection: Connection, tournament: StoredTournament, match: int) -> None:
        """Put a recorded match at the end of the queue, unless it waits there; UsageError if too many do."""
        asked = AskedMatch(tournament.number, match)
        waiting = _waiting(connection)
        if asked in waiting:
            return
        _check_room(waiting)
        content = connection.execute(_actions_hash(asked)).scalar()
        if content is None:
            raise StoreError(f"match {match} of tournament {tournament.name!r} has no record")
        connection.execute(requests.delete().where(_is_about(asked)))
        last = connection.execute(select(func.coalesce(func.max(requests.c.number), 0))).scalar_one()
        row = {"tournament_id": asked.tournament, "match": match, "actions_hash": content, "number": last + 1}
        values = {"state": AnalysisState.WAITING, "searched_seconds": 0, "arena": __version__}
        connection.execute(requests.insert(), row | values)
        _announce(connection)

    def check_room(self) -> None:
        """Raise UsageError if too many wait."""
        _check_room(self.waiting())

    def find(self, tournament: StoredTournament, match: int) -> AnalysisRequest | None:
        """Return what became of the request for a match; None without one, or if another version searched it."""
        asked = AskedMatch(tournament.number, match)
        row = self._database.row(_REQUEST, {"number": tournament.number, "played": match})
        if row is None or (row.state is AnalysisState.DONE and row.arena != __version__):
            return None
        waiting = self.waiting()
        place = waiting.index(asked) + 1 if asked in waiting else 0
        return AnalysisRequest(row.state, place, len(waiting), row.searched_seconds)

    def waiting(self) -> list[AskedMatch]:
        """Return the waiting matches, the latest last."""
        return self._database.read(_waiting)

    def claim(self) -> AskedMatch | None:
        """Take the first waiting match for analysis; None if none waits."""

        def claim(connection: Connection) -> AskedMatch | None:
            first = next(iter(_waiting(connection)), None)
            if first is not None:
                connection.execute(requests.update().where(_is_about(first)).values(state=AnalysisState.RUNNING))
                _announce(connection, first)
            return first

        return self._database.write(claim) if self.waiting() else None

    @writes
    def finish(self, connection: Connection, asked: AskedMatch, searched_seconds: int) -> None:
        """Note that a match was searched."""
        values = {"state": AnalysisState.DONE, "searched_seconds": searched_seconds, "arena": __version__}
        connection.execute(requests.update().where(_is_about(asked)).values(values))
        _announce(connection, asked)

    @writes
    def forget_claimed(self, connection: Connection) -> None:
        """Forget the match whose analysis may have killed the program; people may ask for it again."""
        for asked in _requested_matches(connection, requests.c.state == AnalysisState.RUNNING):
            connection.execute(requests.delete().where(_is_about(asked)))
            _announce(connection, asked)


def _check_room(waiting: Sequence[AskedMatch]) -> None:
    if len(waiting) >= MAX_WAITING:
        raise UsageError(f"{len(waiting)} matches wait for their analysis; ask again when some are done")


def _is_about(match: AskedMatch) -> ColumnElement[bool]:
    return and_(requests.c.tournament_id == match.tournament, requests.c.match == match.match)


def _actions_hash(match: AskedMatch) -> Any:
    own = (records.c.tournament_id == match.tournament, records.c.match == match.match)
    return select(records.c.actions_hash).where(*own)


def _waiting(connection: Connection) -> list[AskedMatch]:
    return _requested_matches(connection, requests.c.state == AnalysisState.WAITING)


def _requested_matches(connection: Connection, condition: ColumnElement[bool]) -> list[AskedMatch]:
    """Return the matches of requests, without those of tournaments in the trash, the latest last."""
    query = select(requests.c.tournament_id, requests.c.match).join(tournaments).where(condition)
    rows = connection.execute(query.where(tournaments.c.deleted_at.is_(None)).order_by(requests.c.number))
    return [AskedMatch(*row) for row in rows]


def _announce(connection: Connection, *changed: AskedMatch) -> None:
    """Add an event about these matches, and about the waiting ones, whose places in the queue change."""
    concerned = sorted({*changed, *_waiting(connection)})
    for tournament, matches in groupby(concerned, key=lambda match: match.tournament):
        add_event(connection, tournament, EventKind.ANNOTATED, about_matches([match.match for match in matches]))
