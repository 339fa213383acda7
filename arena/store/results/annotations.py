"""Annotations of recorded matches: what the lab has found out, as text that the lab reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, select

from arena.base.enums import EventKind
from arena.base.records import MatchRecord
from arena.store.results.connection import FEW_ROWS, Repository
from arena.store.results.events import about_matches, add_event
from arena.store.results.match_records import rows_by_match
from arena.store.results.schema import match_annotations, records
from arena.store.results.statements import CHUNK_ROWS, insert_many, record_from, stored_bots_and_ranks
from arena.store.results.values import StoredTournament

_COLUMNS = ("match", "actions_hash", "accuracy", "body")


class AnnotationRow(NamedTuple):
    """An annotation in the form it is stored.

    Attributes:
        actions_hash: of its record, as ``RecordRow`` has it.
        accuracy: how well its seats played, as JSON.
        body: the annotation, as JSON.
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


class Annotations(Repository):
    """The annotations in a database. Those of records that do not count any more are not seen."""

    def write(self, tournament: StoredTournament, rows: Sequence[AnnotationRow]) -> None:
        """Write annotations in place of earlier ones, all or none."""
        number, matches = tournament.number, [row.match for row in rows]

        def write(connection: Connection) -> None:
            old = match_annotations.c.tournament_id == number
            connection.execute(match_annotations.delete().where(old, match_annotations.c.match.in_(matches)))
            insert_many(connection, match_annotations, ("tournament_id", *_COLUMNS), [(number, *row) for row in rows])
            add_event(connection, number, EventKind.ANNOTATED, about_matches(matches))

        if rows:
            self._database.write(write)

    def announce(self, tournament: StoredTournament) -> None:
        """Tell readers that something else was found out about matches, such as puzzles in them."""
        self._database.write(
            lambda connection: add_event(connection, tournament.number, EventKind.ANNOTATED, about_matches(()))
        )

    def find(self, tournament: StoredTournament, match: int) -> str | None:
        """Return the annotation of a match, as JSON; None if it has none."""
        query = select(match_annotations.c.body).join(records, _is_of_record())
        query = query.where(records.c.tournament_id == tournament.number, records.c.match == match)
        return self._database.scalar(query)

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

    def accuracy(self, tournament: StoredTournament, game: str | None = None) -> Iterator[StoredAccuracy]:
        """Yield how well the seats of each annotated match played, by match; StoreError if bots are malformed."""
        columns = (records.c.match, records.c.encounter, records.c.game, records.c.bots, records.c.ranks)
        query = select(*columns, match_annotations.c.accuracy).join(match_annotations, _is_of_record())
        rows = rows_by_match(self._database, query, [tournament.number], game, CHUNK_ROWS)
        for match, encounter, played, bots, ranks, accuracy in rows:
            yield StoredAccuracy(match, encounter, played, stored_bots_and_ranks(bots, ranks)[0], accuracy)


def _is_of_record() -> ColumnElement[bool]:
    return and_(
        match_annotations.c.tournament_id == records.c.tournament_id,
        match_annotations.c.match == records.c.match,
        match_annotations.c.actions_hash == records.c.actions_hash,
    )
