"""What pages about tournaments show that a program of the site keeps going."""

from __future__ import annotations

from typing import Any

from arena.site.frame.model import Model
from arena.store.people.directing import DesiredState, DirectorState, RequestState, SittingOut


class SupervisedRunStatus(Model):
    """A supervised tournament.

    Attributes:
        is_silent: whether the program has not reported for so long that it does not run.
        since: since when it is in that state.
        seen_at: of the last report.
        sentence: what it is doing or waiting for; may be empty.
        wish: what a director wants.
        wish_reason: why; "" if no director ever changed it.
        recorded: matches with a record.
        scheduled: matches in the schedule so far.
        playing: matches that are being played or are assigned to workers.
        margin_95: the widest ± 95 % interval; None if it is not known.
        wanted_margin_95: at which it waits; None if that does not end it.
        seconds_left: until it is as precise as that, about; None if that is not known.
        void_in_row: matches that were void one after the other.
        sitting_out: entrants who are not paired for a while.
    """

    tournament: str
    state: DirectorState
    is_silent: bool
    since: str
    seen_at: str
    sentence: str
    wish: DesiredState
    wish_reason: str
    recorded: int
    scheduled: int
    playing: int
    margin_95: float | None
    wanted_margin_95: float | None
    seconds_left: float | None
    void_in_row: int
    sitting_out: tuple[SittingOut, ...]


class PartTrouble(Model):
    """A health problem of a service."""

    part: str
    sentence: str


class PartsPage(Model):
    """The health problems of the services, as operators see them."""

    troubles: tuple[PartTrouble, ...]


class LaddersPage(Model):
    """The ladders of the site, by name, and what each is doing."""

    ladders: tuple[SupervisedRunStatus, ...]
    may_direct: bool


class RequestLine(Model):
    """A request to the program of a supervised tournament; its outcome is "" before it is decided."""

    number: int
    kind: str
    arguments: dict[str, Any]
    reason: str
    by: str
    made_at: str
    state: RequestState
    outcome: str


class DirectingPage(Model):
    """A supervised tournament, for directors.

    Attributes:
        requests: the latest first.
        entrants: the bots that can be corrected, as ``name@version``; none before the tournament has begun.
        replacements: the submitted bots of the arena, the latest first, as ``name@version``; none for a ladder.
        may_annul: whether the matches of who is disqualified can count for nobody.
        is_finished: whether all of it is played; never so of a ladder.
        contest: of which contest it is; "" if of none.
        is_hidden: whether only directors see its results.
    """

    kept: SupervisedRunStatus
    program: str
    requests: tuple[RequestLine, ...]
    entrants: tuple[str, ...]
    replacements: tuple[str, ...]
    may_annul: bool
    is_finished: bool
    contest: str
    is_hidden: bool
