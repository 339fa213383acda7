"""What directors ask of supervisors, what these report, and the tables of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, Index, Table

from arena.store.people.schema import metadata, numbered
from arena.store.results.schema import Member, OptionalInteger, OptionalString, String, Text

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
        seen_at: the time of its last report.
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
