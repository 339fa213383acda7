"""What directors ask of supervisors, and what these report; requests, each done once and in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, Connection, Index, Row, Table, Update, case, select

from arena.base.errors import UsageError, suggestion
from arena.base.names import check_reason
from arena.base.stored import from_json_text, from_stored_text
from arena.base.text import shortened_text
from arena.store.people.schema import TimedRepository, add_line, count_rows, metadata, numbered
from arena.store.results.connection import insert_into
from arena.store.results.rows import as_json
from arena.store.results.schema import Member, OptionalInteger, OptionalString, String, Text, value_of, writes

# Times are UTC, as ISO 8601 to the second.

LADDER = "ladder"
"""The kind of programs that supervise ladders."""


class DesiredState(StrEnum):
    """What a director wants of a supervised run."""

    PLAY = "play"
    PAUSE = "pause"
    """No match begins; those that are being played end and are recorded."""
    DRAIN = "drain"
    """The matches that are scheduled are played, and no further round."""


class RequestState(StrEnum):
    """What has become of a request."""

    WAITING = "waiting"
    BEGUN = "begun"
    DONE = "done"
    REFUSED = "refused"


UNDECIDED = (RequestState.WAITING, RequestState.BEGUN)


class DirectorState(StrEnum):
    """What a program that supervises a tournament is doing."""

    PLAYING = "playing"
    IDLE = "idle"
    """There is nothing to play now."""
    SHORT = "short"
    """Fewer bots can be paired than a match has players."""
    PAUSED = "paused"
    DRAINED = "drained"
    RESTING = "resting"
    """Matches were void again and again; it tries again later."""
    CORRECTING = "correcting"
    UNABLE = "unable"
    """Something is wrong, such as the tournament's file; it tries again later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDesiredState:
    """The desired state of a tournament."""

    state: DesiredState
    since: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRequest:
    """Something that the program of a supervised run is to do, between matches and under its lock.

    Attributes:
        kind: what is to be done, such as "disqualify".
        corrections_before: the number of the tournament's last correction before it was begun; None while it waits.
        outcome: what was done, or why it was rejected, in a sentence.
    """

    number: int
    tournament: str
    kind: str
    arguments: Mapping[str, Any]
    reason: str
    by: str
    made_at: str
    state: RequestState
    corrections_before: int | None
    finished_at: str | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspension:
    """An entrant (``name@version``) that is suspended, and for about how many seconds; None if that is not known."""

    bot: str
    reason: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """The progress of a supervised run.

    Attributes:
        playing: matches that are being played, or have been given out to be.
        status: the state of the format in a few words.
        margin_95: the widest ± 95 % interval; None if it is not known.
        wanted_margin_95: at which it stops; None if that does not end it.
        void_in_row: void matches since the last one that was recorded.
        sitting_out: suspended entrants.
    """

    recorded: int = 0
    scheduled: int = 0
    playing: int = 0
    status: str = ""
    margin_95: float | None = None
    wanted_margin_95: float | None = None
    seconds_left: float | None = None
    void_in_row: int = 0
    sitting_out: tuple[Suspension, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorReport:
    """The status of the program of a supervised run.

    Attributes:
        program: "ladder" or "contest".
        since: since when it is in this state.
        sentence: what it is doing or waiting for, in a sentence; may be empty.
    """

    tournament: str
    program: str
    state: DirectorState
    since: str
    seen_at: str
    sentence: str
    figures: RunFigures


requests = numbered(
    "tournament_requests",
    Column("tournament", String(64), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("arguments", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("by", String(64), nullable=False),
    Column("made_at", String(40), nullable=False),
    Column("state", Member(RequestState, "state", 16), nullable=False),
    Column("corrections_before", OptionalInteger),
    Column("finished_at", OptionalString(40)),
    Column("outcome", Text, nullable=False),
    Index("tournament_requests_by_state", "tournament", "state", "id"),
)

desired_states = Table(
    "director_wishes",
    metadata,
    Column("tournament", String(64), primary_key=True),
    Column("wish", Member(DesiredState, "wish", 16), nullable=False),
    Column("since", String(40), nullable=False),
    Column("by", String(64), nullable=False),
    Column("reason", Text, nullable=False),
)

reports = Table(
    "director_reports",
    metadata,
    Column("tournament", String(64), primary_key=True),
    Column("program", String(16), nullable=False),
    Column("state", Member(DirectorState, "state", 16), nullable=False),
    Column("since", String(40), nullable=False),
    Column("seen_at", String(40), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("figures", Text, nullable=False),
)


# Requests to the programs of supervised runs, each done once and in the order in which they came.
#
# Requests are in the database of people, because the line of the public log is written in the same transaction, and a
# request is not a result yet. The program carries a request out in the database of results. If it is killed between the
# two, it finds the request begun, with the number of the last correction before it, and so knows whether the request
# was carried out.

MAX_WAITING = 20
"""Of a tournament, at once."""
MAX_ARGUMENT_CHARACTERS = 10_000
MAX_SUBJECT_CHARACTERS = 200
THE_ARENA = "the arena"
"""Who rejects a request that can't be carried out, in the public log."""
LISTED = 50


class Requests(TimedRepository):
    """The requests in a database."""

    @writes
    def add(
        self,
        connection: Connection,
        tournament: str,
        kind: str,
        arguments: Mapping[str, Any],
        *,
        subject: str,
        reason: str,
        by: str,
    ) -> TournamentRequest:
        """Ask for something of a kind, such as "disqualify"; the public log has it at once.

        The log says "asked to" and the kind, about the ``subject``; ``arguments`` are as JSON can have them.
        """
        check_reason(reason)
        body = as_json(dict(arguments))
        if len(body) > MAX_ARGUMENT_CHARACTERS:
            raise UsageError(f"{kind}: expected at most {MAX_ARGUMENT_CHARACTERS:,} characters of arguments")
        lock_supervised_run(connection, tournament)
        if count_rows(connection, requests.c.tournament == tournament, requests.c.state.in_(UNDECIDED)) >= MAX_WAITING:
            raise UsageError(f"{MAX_WAITING} requests about tournament {tournament!r} wait already")
        now, about = self._clock.text(), (f"{subject} in {tournament}" if subject else tournament)
        add_line(connection, now, by, f"asked to {kind}", about[:MAX_SUBJECT_CHARACTERS], reason, tournament)
        row = {
            "tournament": tournament,
            "kind": kind,
            "arguments": body,
            "reason": reason,
            "by": by,
            "made_at": now,
            "state": RequestState.WAITING,
            "outcome": "",
        }
        return _request_of(connection.execute(requests.insert().returning(requests), row).one())

    def next(self, tournament: str) -> TournamentRequest | None:
        """Return the oldest request that is not decided; None without one."""
        own = (requests.c.tournament == tournament) & requests.c.state.in_(UNDECIDED)
        return self._database.one(select(requests).where(own).order_by(requests.c.id).limit(1), _request_of)

    def of(self, tournament: str) -> list[TournamentRequest]:
        """Return the latest requests about a tournament, the latest first."""
        query = select(requests).where(requests.c.tournament == tournament).order_by(requests.c.id.desc()).limit(LISTED)
        return [_request_of(row) for row in self._database.rows(query)]

    def begin(self, number: int, corrections_before: int) -> None:
        """Note that a request is being done, and the number of the tournament's last correction, 0 without one."""
        values = {"state": RequestState.BEGUN, "corrections_before": corrections_before}
        self._database.execute(_changed(number, values))

    @writes
    def finish(self, connection: Connection, number: int, outcome: str, *, is_done: bool) -> None:
        """Store the outcome of a request; the public log has it if it was rejected."""
        now = self._clock.text()
        state = RequestState.DONE if is_done else RequestState.REFUSED
        change = _changed(number, {"state": state, "outcome": outcome, "finished_at": now})
        row = connection.execute(change.returning(requests)).one_or_none()
        if row is None or is_done:
            return
        request = _request_of(row)
        bot = request.arguments.get("bot")
        about = (f"{bot} in {request.tournament}" if bot else request.tournament)[:MAX_SUBJECT_CHARACTERS]
        action = f"could not {request.kind}"
        add_line(connection, now, THE_ARENA, action, about, request.reason, request.tournament, outcome)


def _changed(number: int, values: dict[str, Any]) -> Update:
    """Return what changes a request that is not decided yet."""
    return requests.update().where(requests.c.id == number, requests.c.state.in_(UNDECIDED)).values(values)


def lock_supervised_run(connection: Connection, tournament: str) -> None:
    """Let one transaction at a time change the desired state of a tournament; UsageError if it is no supervised run."""
    own = reports.c.tournament == tournament
    lock = reports.update().where(own).values(tournament=tournament).returning(reports.c.tournament)
    if connection.execute(lock).one_or_none() is None:
        known = connection.execute(select(reports.c.tournament).order_by(reports.c.tournament)).scalars()
        no_program = f"tournament {shortened_text(tournament)!r}: no program of this site supervises it"
        raise UsageError(f"{no_program}; {suggestion(tournament, known)}")


def _request_of(row: Row[Any]) -> TournamentRequest:
    return value_of(TournamentRequest, row, arguments=from_json_text(row.arguments, "a request"))


# The programs of supervised runs: the desired state of each, and its status.
#
# The desired state survives restarts. A program reads it every half second, and reports its status when that changes
# and every few seconds. A program without a recent report was killed, or never started.

SILENT_SECONDS = 30.0
"""A program that has not reported for this long is not running."""

NO_FIGURES = RunFigures()

_LOGGED = {DesiredState.PLAY: "resumed", DesiredState.PAUSE: "paused", DesiredState.DRAIN: "asked to drain"}
_STATES = {
    DesiredState.PLAY: "is not paused",
    DesiredState.PAUSE: "is paused already",
    DesiredState.DRAIN: "is drained already",
}


class Directors(TimedRepository):
    """What is known of the programs, in a database."""

    @writes
    def set_desired_state(
        self, connection: Connection, tournament: str, state: DesiredState, *, reason: str, by: str
    ) -> None:
        """Set the desired state; the public log has it at once."""
        check_reason(reason)
        own = desired_states.c.tournament == tournament
        values = {"wish": state, "since": self._clock.text(), "by": by, "reason": reason}
        lock_supervised_run(connection, tournament)
        before = connection.execute(select(desired_states.c.wish).where(own)).scalar()
        if (before or DesiredState.PLAY) == state:
            raise UsageError(f"tournament {tournament!r} {_STATES[state]}; nothing was changed")
        if before is None:
            connection.execute(desired_states.insert(), {"tournament": tournament, **values})
        else:
            connection.execute(desired_states.update().where(own).values(values))
        add_line(connection, self._clock.text(), by, _LOGGED[state], tournament, reason, tournament)

    def desired_state(self, tournament: str) -> StoredDesiredState | None:
        """Return the desired state of a tournament; None if nobody ever changed it from play."""
        query = select(desired_states).where(desired_states.c.tournament == tournament)
        return self._database.one(query, lambda row: value_of(StoredDesiredState, row, state=row.wish))

    @writes
    def report_state(
        self,
        connection: Connection,
        tournament: str,
        program: str,
        state: DirectorState,
        sentence: str = "",
        figures: RunFigures = NO_FIGURES,
    ) -> None:
        """Replace the status of a program ("ladder" or "contest") of a supervised run; the sentence may be empty."""
        now = self._clock.text()
        text = as_json(asdict(figures))
        values = {"program": program, "state": state, "seen_at": now, "sentence": sentence, "figures": text}
        changed = {**values, "since": case((reports.c.state == state, reports.c.since), else_=now)}
        new = insert_into(connection, reports).values(tournament=tournament, since=now, **values)
        connection.execute(new.on_conflict_do_update(index_elements=[reports.c.tournament], set_=changed))

    def stay(self, tournament: str) -> None:
        """Note that an idle program is alive, and that its last report still holds."""
        update = reports.update().where(reports.c.tournament == tournament).values(seen_at=self._clock.text())
        self._database.execute(update)

    def report(self, tournament: str) -> DirectorReport | None:
        """Return the last status of the program of a tournament; None if it never was a supervised run."""
        return self._database.one(select(reports).where(reports.c.tournament == tournament), _report_of)

    def reports(self, program: str) -> list[DirectorReport]:
        """Return the last report of every program of a kind, by tournament."""
        rows = self._database.rows(select(reports).where(reports.c.program == program))
        return sorted(map(_report_of, rows), key=lambda report: report.tournament)

    def is_silent(self, report: DirectorReport) -> bool:
        """Return whether a program has not reported for so long that it can't be running."""
        return report.seen_at <= self._clock.text(-SILENT_SECONDS)


def _report_of(row: Row[Any]) -> DirectorReport:
    figures = from_stored_text(RunFigures, row.figures, "the figures of a run")
    return value_of(DirectorReport, row, figures=figures)
