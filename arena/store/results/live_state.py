"""Tournaments while they are played: the progress of the run, the matches that are watched, and their states.

The director writes progress and states, and removes both; a killed director leaves them behind until the next run:
``Store.directors`` says whether there is one. Visitors write the watches, each with an end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select

from arena.base.live_match import LiveMatch, LiveSummary
from arena.base.results import EntrantRating
from arena.base.stored import from_json_text, from_stored_text
from arena.store.results.connection import Database, Repository
from arena.store.results.events import advance, live_topic
from arena.store.results.rows import as_json
from arena.store.results.schema import live_matches, progress, watches, writes

MAX_WATCHED = 100
"""How many matches of a tournament can be watched at a time; those whose watches end last come first."""


MAX_SUMMARY_CHARACTERS = 10_000
"""The most characters of the first line of a stored state, its summary; the second line is the whole state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedNow:
    """A match that is being played since a time (UTC, ISO 8601)."""

    match: int
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """The progress of a run.

    Attributes:
        recorded: matches with a record, earlier runs included.
        scheduled: matches in the schedule so far.
        expected: matches in the whole tournament; None if their number is not known.
        matches_per_second: of late; None at the beginning.
        seconds_left: estimated; None if nothing can be said.
        playing: the matches that are being played and have lasted a moment.
        status: the state of the tournament in a few words, from its format.
        least_certain: the least certain ratings, those of newcomers; from its format.
        shows_matches: whether it is known which matches are being played, and they can be watched.
    """

    recorded: int
    scheduled: int
    expected: int | None = None
    matches_per_second: float | None = None
    seconds_left: float | None = None
    playing: tuple[PlayedNow, ...] = ()
    status: str = ""
    least_certain: tuple[EntrantRating, ...] = ()
    shows_matches: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProgress:
    """The progress of a run, as the director wrote it at a time (UTC, ISO 8601)."""

    at: str
    progress: RunProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLiveMatch:
    """The state of a watched match; ``seq`` is the number of the change in the topic of watched matches."""

    seq: int
    at: str
    state: LiveMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLiveSummary:
    """A ``StoredLiveMatch`` without its actions; reading it takes the same time whatever the match's length."""

    seq: int
    at: str
    summary: LiveSummary


class LiveState(Repository):
    """What is stored of one tournament while it is played."""

    def __init__(self, database: Database, tournament: int) -> None:
        super().__init__(database)
        self._tournament = tournament

    # by the director

    @writes
    def write_progress(self, connection: Connection, value: RunProgress) -> None:
        """Write the progress of the run."""
        row = {"tournament_id": self._tournament, "at": _utc_now(), "body": as_json(asdict(value))}
        connection.execute(delete(progress).where(progress.c.tournament_id == self._tournament))
        connection.execute(progress.insert(), row)

    def show(self, states: Sequence[LiveMatch]) -> int:
        """Write the states of watched matches, in place of their earlier ones; return the characters of all."""
        bodies = [f"{as_json(state.summary.to_json())}\n{as_json(state.to_json())}" for state in states]

        def write(connection: Connection) -> None:
            seq = advance(connection, live_topic(self._tournament))
            key = {"tournament_id": self._tournament, "seq": seq, "at": _utc_now()}
            rows = [{**key, "match": state.match, "body": body} for state, body in zip(states, bodies, strict=True)]
            self._remove(connection, [state.match for state in states])
            connection.execute(live_matches.insert(), rows)

        self._database.write(write)
        return sum(map(len, bodies))

    @writes
    def remove(self, connection: Connection, matches: Collection[int]) -> None:
        """Remove the states of matches that are no longer being played."""
        if self._remove(connection, matches):
            advance(connection, live_topic(self._tournament))

    @writes
    def clear(self, connection: Connection) -> None:
        """Remove the progress and all states."""
        connection.execute(delete(progress).where(progress.c.tournament_id == self._tournament))
        own = delete(live_matches).where(live_matches.c.tournament_id == self._tournament)
        if connection.execute(own).rowcount:
            advance(connection, live_topic(self._tournament))

    def _remove(self, connection: Connection, matches: Collection[int]) -> int:
        own = live_matches.c.tournament_id == self._tournament
        return connection.execute(delete(live_matches).where(own, live_matches.c.match.in_(matches))).rowcount

    def watched(self) -> frozenset[int]:
        """Return the matches that somebody watches now."""
        query = (
            select(watches.c.match)
            .where(watches.c.tournament_id == self._tournament, watches.c.until > _utc_now())
            .order_by(watches.c.until.desc())
            .limit(MAX_WATCHED)
        )
        return frozenset(self._database.scalars(query))

    # by visitors

    @writes
    def watch(self, connection: Connection, match: int, seconds: float) -> None:
        """Have a match shown while it is played, from now on for some seconds; expired watches are removed."""
        row = {"tournament_id": self._tournament, "match": match, "until": _utc_now(seconds)}
        own = watches.c.tournament_id == self._tournament
        connection.execute(delete(watches).where(watches.c.until <= _utc_now()))
        connection.execute(delete(watches).where(own, watches.c.match == match))
        connection.execute(watches.insert(), row)

    def progress(self) -> StoredProgress | None:
        """Return the progress of the run, which is stale if its director was killed; None between runs."""
        query = select(progress.c.at, progress.c.body).where(progress.c.tournament_id == self._tournament)
        row = self._database.row(query)
        if row is None:
            return None
        return StoredProgress(at=row.at, progress=from_stored_text(RunProgress, row.body, "the progress of a run"))

    def seqs(self) -> dict[int, int]:
        """Return the numbers of the latest states of all watched matches, by match."""
        query = select(live_matches.c.match, live_matches.c.seq).where(live_matches.c.tournament_id == self._tournament)
        return dict(self._database.rows(query))

    def live_match(self, match: int) -> StoredLiveMatch | None:
        """Return the latest state of a watched match; None if it is not being played, or was not watched yet."""
        row = self._row(match, live_matches.c.body)
        if row is None:
            return None
        state = LiveMatch.from_json(from_json_text(row.body.partition("\n")[2], "a live match"))
        return StoredLiveMatch(seq=row.seq, at=row.at, state=state)

    def live_summary(self, match: int) -> StoredLiveSummary | None:
        """Return the head of a watched match's state; None as in ``live_match``."""
        row = self._row(match, func.substr(live_matches.c.body, 1, MAX_SUMMARY_CHARACTERS).label("body"))
        if row is None:
            return None
        line = from_json_text(row.body.partition("\n")[0], "the summary of a live match")
        return StoredLiveSummary(seq=row.seq, at=row.at, summary=LiveSummary.from_json(line))

    def _row(self, match: int, body: ColumnElement[str]) -> Any:
        query = select(live_matches.c.seq, live_matches.c.at, body).where(
            live_matches.c.tournament_id == self._tournament, live_matches.c.match == match
        )
        return self._database.row(query)


def _utc_now(later_seconds: float = 0.0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=later_seconds)).isoformat(timespec="milliseconds")
