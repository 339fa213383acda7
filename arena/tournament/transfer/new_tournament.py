"""Taking a tournament that does not exist here, from elsewhere or into a new home."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from arena.base.bot_text import OPERATOR, Audience
from arena.base.errors import StoreError, UnwritableError, failing_as
from arena.base.records import ScheduledMatch
from arena.base.results import StoredResult
from arena.store.home import DATABASE_FILE, ArenaHome
from arena.store.results.addition import Addition, Source, VoidTry
from arena.store.results.correction_log import SetAside
from arena.store.results.rows import RecordRow
from arena.store.results.statements import result_of
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, explaining
from arena.tournament.consistency import (
    correction_problems,
    log_problems,
    replaced_entrants,
    schedule_problems,
    time_problems,
)
from arena.tournament.formats.format import format_class
from arena.tournament.transfer.checks import (
    MergedTournament,
    RejectedRecordError,
    absent_bots,
    check_definition,
    checked_row,
    checked_voids,
    corrections_without_locations,
    finished_at,
    raise_first,
    with_records,
    without_locations,
)

ARENA_FAILED = "the arena failed"


class NewTournament:
    """A tournament that does not exist here: it is read once to be checked, and again to be taken."""

    def __init__(self, source: Source, there: StoredTournament) -> None:
        self._source, self._there = source, there
        self._audience, self._key = OPERATOR, b""
        self._definition = without_locations(there.definition)
        self._explaining = explaining(there.corrections)

    def take(self, store: Store, external_games: Collection[str]) -> MergedTournament:
        """Check the tournament and take it."""
        there, definition = self._there, self._definition
        check_definition(definition, external_games)
        raise_first(time_problems(there.created_at, "created_at"))
        raise_first(log_problems(there.corrections, definition))
        raise_first(schedule_problems(self._source.lines(there), there))
        needs_results = format_class(definition).needs_results
        scheduled = sum(1 for _ in self._source.lines(there))
        round_of = {line.match: line.round for line in self._source.lines(there) if needs_results}
        rounds: dict[int, list[StoredResult]] = {number: [] for number in round_of.values()}
        left_out = self._left_out(scheduled)
        recorded = set()
        for row in self._records(replays=True):
            recorded.add(row.match)
            if needs_results:
                rounds[round_of[row.match]].append(result_of(row))
        for _ in self._set_aside(replays=True):
            pass
        raise_first(correction_problems(self._source, replace(there, finished_at=None), recorded))
        left = scheduled - len(left_out | recorded)  # of one, the record was set aside, and came back
        if needs_results:
            played = replace(there, finished_at=there.finished_at if left == 0 else None)
            raise_first(schedule_problems(self._source.lines(there), played, list(rounds.values())))
        finished = finished_at(definition, left, there.finished_at)
        self._add(store, there.created_at, finished)
        return MergedTournament(
            name=there.name,
            is_new=True,
            taken=len(recorded),
            lines_taken=scheduled,
            left=left,
            is_finished=finished is not None,
            absent_bots=absent_bots(store, definition),
        )

    def copy(
        self,
        store: Store,
        audience: Audience = OPERATOR,
        in_place_of: StoredTournament | None = None,
        key: bytes = b"",
    ) -> None:
        """Take the tournament as it is: the source is ours, and nothing is replayed.

        What the tournament ``in_place_of`` has here is removed in the same transaction. With the ``key`` of the home,
        records have digests of what the audience may not read.
        """
        self._audience, self._key = audience, key
        self._add(store, self._there.created_at, self._there.finished_at, in_place_of)

    def _add(
        self, store: Store, created_at: str, finished: str | None, replaced: StoredTournament | None = None
    ) -> None:
        there = self._there
        store.add(
            Addition(
                tournament=None if replaced is None else replaced.number,
                replaces=replaced is not None,
                definition=self._definition,
                created_at=created_at,
                finished_at=finished,
                lines=self._source.lines(there),
                records=self._records(replays=False),
                voids=self._voids(),
                corrections=corrections_without_locations(there.corrections),
                set_aside=self._set_aside(replays=False),
                skipped=self._source.skipped(there),
            )
        )

    def _records(self, *, replays: bool) -> Iterator[RecordRow]:
        for line, text in with_records(self._source.lines(self._there), self._source.record_texts(self._there)):
            if text is not None:
                yield checked_row(text, line, self._definition, replays=replays, audience=self._audience, key=self._key)

    def _voids(self) -> Iterator[VoidTry]:
        """Yield the void tries; why the arena failed names paths and bots, and is not for everybody."""
        tries = checked_voids(self._source, self._there)
        return tries if self._audience.reads_all else (void._replace(reason=ARENA_FAILED) for void in tries)

    def _set_aside(self, *, replays: bool) -> Iterator[tuple[int, RecordRow]]:
        coming = self._source.set_aside(self._there)
        following: SetAside | None = next(coming, None)
        for line in self._source.lines(self._there):
            while following is not None and following.match == line.match:
                self._require_correction(following.correction, following.match)
                yield following.correction, self._row_aside(following, line, replays)
                following = next(coming, None)
        if following is not None:
            raise StoreError(f"match {following.match} has a record that was set aside, but is not in its schedule")

    def _left_out(self, scheduled: int) -> set[int]:
        matches = set()
        for match, correction in self._source.skipped(self._there):
            self._require_correction(correction, match)
            if not 1 <= match <= scheduled:
                raise StoreError(f"match {match} is left out by correction {correction}, but is not in its schedule")
            matches.add(match)
        return matches

    def _require_correction(self, number: int, match: int) -> None:
        if number not in self._explaining:
            raise StoreError(f"match {match} names correction {number}, but no such correction stands")

    def _row_aside(self, aside: SetAside, line: ScheduledMatch, replays: bool) -> RecordRow:
        try:
            return checked_row(
                aside.text,
                line,
                self._definition,
                replays=replays,
                replaced=replaced_entrants(self._there.corrections),
                audience=self._audience,
                key=self._key,
            )
        except RejectedRecordError as error:
            where = f"the record of match {aside.match} that correction {aside.correction} has set aside"
            raise StoreError(f"{where}: {error.reason}") from error


# Copying tournaments of this home into a home that has nothing else, and is removed in the end.


@contextmanager
def temporary_home() -> Iterator[ArenaHome]:
    """Open an empty home, which is removed in the end; $ARENA_STORE has no influence on it."""
    with (
        temporary_directory("arena-home-") as path,
        ArenaHome(path, store=path / DATABASE_FILE, audience=OPERATOR) as home,
    ):
        yield home


@contextmanager
def temporary_directory(prefix: str) -> Iterator[Path]:
    """Make a directory that is removed in the end; StoreError, naming $TMPDIR, if there is no room in its place."""
    with failing_as(StoreError, "no temporary directory can be made"):
        made = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    with made as directory:
        try:
            yield Path(directory)
        except UnwritableError as error:
            place = Path(directory).parent
            raise StoreError(
                f"{place}: there is no room for a temporary database; set $TMPDIR to another directory"
            ) from error


def copy_tournaments(
    source: Store, chosen: Sequence[StoredTournament], target: Store, audience: Audience, key: bytes = b""
) -> None:
    """Copy tournaments with all that belongs to them, but not where their bots are on this machine."""
    for tournament in chosen:
        NewTournament(source.as_source(), tournament).copy(target, audience, key=key)
