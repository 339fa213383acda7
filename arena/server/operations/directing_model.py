"""What pages about tournaments show that a program of the site keeps going."""

from __future__ import annotations

from typing import Any

from arena.site.frame.model import Model
from arena.store.people.directing import DirectorState, RequestState, Wish


class SittingOutLine(Model):
    """An entrant who is not paired for a while.

    Attributes:
        bot: ``name@version``.
        reason: in a few words.
        seconds: about how long; None if that is not known.
    """

    bot: str
    reason: str
    seconds: float | None


class KeptTournament(Model):
    """A tournament that a program keeps going.

    Attributes:
        tournament: its name.
        state: what the program is doing.
        is_silent: whether the program has said nothing for so long that it does not run.
        since: since when it is doing that (UTC, ISO 8601).
        seen_at: when it last said anything.
        sentence: what it is doing or waiting for; may be empty.
        wish: what a director wants.
        wish_reason: why; "" if nobody ever wanted anything else than that it is played.
        recorded: matches with a record.
        scheduled: matches in the schedule so far.
        playing: matches that are being played or have been given out to be.
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
    wish: Wish
    wish_reason: str
    recorded: int
    scheduled: int
    playing: int
    margin_95: float | None
    wanted_margin_95: float | None
    seconds_left: float | None
    void_in_row: int
    sitting_out: tuple[SittingOutLine, ...]


class PartTrouble(Model):
    """What is wrong with a part of the site.

    Attributes:
        part: its name.
        sentence: what is wrong, and with what.
    """

    part: str
    sentence: str


class PartsPage(Model):
    """What is wrong with the parts of the site, as operators see it.

    Attributes:
        troubles: what is wrong.
    """

    troubles: tuple[PartTrouble, ...]


class LaddersPage(Model):
    """The ladders of the site, and what each is doing.

    Attributes:
        ladders: by name.
        may_direct: whether whoever looks may pause and correct them.
    """

    ladders: tuple[KeptTournament, ...]
    may_direct: bool


class RequestLine(Model):
    """A request to the program that keeps a tournament going.

    Attributes:
        number: in the order in which they came.
        kind: what is to be done.
        arguments: of that kind.
        reason: why.
        by: who asked.
        made_at: when.
        state: what has become of it.
        outcome: what was done, or why it was refused; "" before.
    """

    number: int
    kind: str
    arguments: dict[str, Any]
    reason: str
    by: str
    made_at: str
    state: RequestState
    outcome: str


class DirectingPage(Model):
    """A tournament that a program keeps going, for directors.

    Attributes:
        kept: the tournament.
        program: which program.
        requests: the latest, the latest first.
        entrants: the bots that can be corrected, as ``name@version``; none before the tournament has begun.
        replacements: the submitted bots of the arena, the latest first, as ``name@version``; none for a ladder.
        may_annul: whether the matches of who is disqualified can count for nobody.
        is_finished: whether all of it is played; never so of a ladder.
        contest: of which contest it is; "" if of none.
        is_hidden: whether only directors see its results.
    """

    kept: KeptTournament
    program: str
    requests: tuple[RequestLine, ...]
    entrants: tuple[str, ...]
    replacements: tuple[str, ...]
    may_annul: bool
    is_finished: bool
    contest: str
    is_hidden: bool
