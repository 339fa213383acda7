"""Annotates the matches of a tournament, and keeps the annotations in the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from arena.base.errors import UsageError
from arena.base.records import MatchRecord
from arena.lab.matches.accuracy import accuracy_of, seats_to_json
from arena.lab.matches.annotating import MATCH_SECONDS, Annotated, Annotator
from arena.lab.solving.limits import Limits
from arena.match.replay import ReplayError
from arena.store.results.annotations import AnnotationRow
from arena.store.results.rows import as_json
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

BATCH_MATCHES = 50
BATCH_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAnnotated:
    """A match that could not be annotated.

    Attributes:
        match: its number.
        reason: as a sentence.
    """

    match: int
    reason: str


class TournamentAnnotator:
    """Annotates matches of a tournament, with one annotator for each of its games."""

    def __init__(
        self,
        store: Store,
        tournament: StoredTournament,
        limits: Limits,
        match_seconds: float = MATCH_SECONDS,
        clock: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare to annotate.

        Args:
            store: where the records are, and the annotations go.
            tournament: the tournament.
            limits: the deadline of all matches, and the memory for a search.
            match_seconds: how long a search may take for one match.
            clock: returns the seconds since any instant.
        """
        self._store = store
        self._tournament = tournament
        self._limits = limits
        self._match_seconds = match_seconds
        self._clock = clock
        self._annotators: dict[str, Annotator | UsageError] = {}

    def annotate(
        self, game: str | None = None, match: int | None = None, again: bool = False
    ) -> Iterator[Annotated | NotAnnotated]:
        """Yield the matches that have no annotation, annotated, or why one can't be.

        They are written in batches: an interruption loses nothing that was yielded before it.

        Args:
            game: only of this game; None for all.
            match: only this one; None for all.
            again: also those that have one.

        Raises:
            StoreError: if a record is malformed, or the store can't be written.
        """
        waiting: list[AnnotationRow] = []
        written = self._clock()
        found = self._store.annotations.to_annotate(self._tournament, game=game, match=match, again=again)
        try:
            for actions_hash, record in found:
                annotated = self._annotated(record)
                if isinstance(annotated, Annotated):
                    waiting.append(_row(actions_hash, annotated))
                if len(waiting) >= BATCH_MATCHES or self._clock() >= written + BATCH_SECONDS:
                    self._write(waiting)
                    written = self._clock()
                yield annotated
        finally:
            self._write(waiting)

    def _annotated(self, record: MatchRecord) -> Annotated | NotAnnotated:
        annotator = self._annotator(record)
        if isinstance(annotator, UsageError):
            return NotAnnotated(match=record.match, reason=str(annotator))
        try:
            return annotator.annotate(record)
        except (ReplayError, UsageError) as error:
            return NotAnnotated(match=record.match, reason=str(error))

    def _annotator(self, record: MatchRecord) -> Annotator | UsageError:
        key = as_json([record.game, record.options])
        if key not in self._annotators:
            try:
                made: Annotator | UsageError = Annotator(
                    record.game, dict(record.options), self._limits, self._match_seconds, self._clock
                )
            except UsageError as error:
                made = error
            self._annotators[key] = made
        return self._annotators[key]

    def _write(self, waiting: list[AnnotationRow]) -> None:
        self._store.annotations.write(self._tournament, waiting)
        waiting.clear()


def _row(actions_hash: str, annotated: Annotated) -> AnnotationRow:
    return AnnotationRow(
        match=annotated.record.match,
        actions_hash=actions_hash,
        accuracy=as_json(seats_to_json(accuracy_of(annotated))),
        body=as_json(annotated.annotation.to_json()),
    )
