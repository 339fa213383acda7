"""The input and the output of a match: plain frozen values without behaviour.

A ``MatchSpec`` holds everything a worker needs; a ``MatchRecord`` is everything that happened. Both travel between
processes, and a record is exactly what ``arena tournament export`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from arena.base.bot_text import Audience, BotText, LeftOut, author_of, digest_of, is_digest, left_out
from arena.base.display import Displayed
from arena.base.enums import ClockKind, OffTurn, Termination
from arena.base.limits import DEFAULT_LIMITS as DEFAULT_LIMITS
from arena.base.limits import LIMITS as LIMITS
from arena.base.limits import MEBIBYTE as MEBIBYTE
from arena.base.limits import Limits as Limits
from arena.base.seat_report import Fault as Fault
from arena.base.seat_report import SeatReport as SeatReport
from arena.base.seat_report import checks_of_play, fields_of, require
from arena.base.stored import from_stored, is_whole
from arena.base.text import json_value

FUNCTION_PROGRAM = "python-function"
"""Stands in place of the program in the command of a bot that is a Python function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeControl:
    """Time rules of a match.

    Attributes:
        per_action_seconds: the most one action may take; None for no such limit.
        bank_seconds: the most all actions of a seat together may take; None for no such limit.
        increment_seconds: added to the bank after each action.
        startup_seconds: from launching a bot to its ``ready``.
        margin_seconds: the tolerance beyond each limit, for transmission.
        clock: "wall", or "cpu" for seconds of CPU time of a bot and all it starts; start-up is always wall time.
        off_turn: "run" lets bots work while others are to act, "freeze" stops them, and "auto" stops those that are
            seen at work.
    """

    per_action_seconds: float | None = 1.0
    bank_seconds: float | None = None
    increment_seconds: float = 0.0
    startup_seconds: float = 10.0
    margin_seconds: float = 0.1
    clock: ClockKind = ClockKind.WALL
    off_turn: OffTurn = OffTurn.AUTO

    @property
    def shown(self) -> str:
        """What it allows, in a few words."""
        parts = []
        if self.per_action_seconds is not None:
            parts.append(f"{self.per_action_seconds:g} s an action")
        if self.bank_seconds is not None:
            increment = f" + {self.increment_seconds:g} s an action" if self.increment_seconds else ""
            parts.append(f"{self.bank_seconds:g} s a match{increment}")
        return f"{', '.join(parts) or 'no time limit'} ({self.clock} time)"


DEFAULT_PLY_LIMIT = 10_000
"""Five times the longest match that the options of the games here prescribe, of 1,998 lines in plaid. Coprimality has
no such bound, but some hundred plies even at its largest options. A record of 10,000 plies has about a megabyte."""

MAX_PLY_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A program and how to launch it.

    Attributes:
        name: its name in tables.
        command: the program and its arguments.
        directory: the working directory it is launched in.
        games: the games it claims to play; empty for all.
        digest: the hash of its files; empty when unknown.
        own_files: what of its directory belongs to it and may be read: a single program; empty for all.
        build: the command that makes ``build/`` in its directory before it is launched; empty for none.
        external_game: the module of a game from outside the package, and its file or directory, which the bot may read.
        author: by its ``bot.toml``; empty when unknown.
        warm: it is a Python file that is run by a process that has imported ``arena.botkit`` already.
        submitted: its command is a stranger's; ``arena.sandbox.isolation.interpreters`` knows more.
        time_control: its own, for odds; None for that of its match.
    """

    name: str
    version: str
    command: tuple[str, ...]
    directory: str
    games: tuple[str, ...] = ()
    digest: str = ""
    own_files: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    external_game: tuple[str, str] | None = None
    author: str = ""
    warm: bool = False
    submitted: bool = False
    time_control: TimeControl | None = None

    @property
    def label(self) -> str:
        """``name@version``, as records and leaderboards show it."""
        return f"{self.name}@{self.version}"

    @property
    def is_function(self) -> bool:
        """Whether it is a Python function: it plays only in the process that has the function."""
        return self.command[:1] == (FUNCTION_PROGRAM,)


def time_controls_of(bots: Sequence[Bot], common: TimeControl) -> tuple[TimeControl, ...]:
    """Return the time control of each bot; empty if all have the common one."""
    time_controls = tuple(bot.time_control or common for bot in bots)
    return time_controls if any(own != common for own in time_controls) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSpec:
    """Everything needed to play one match.

    Attributes:
        match: its number in the tournament, from 1.
        tournament: the tournament's name; empty for a single match.
        game: the game's name or dotted path.
        rng_seed: given to every bot; the same for every try of this match.
        opening: the number of the opening, from 0; None where the match starts from the beginning.
        encounter: the number of the encounter it belongs to, from 1.
        ply_limit: the match ends after this many actions, the opening included.
        ends_settled: whether it ends as soon as no legal play can change its ranks.
        void_tries: for each earlier try that was void because it was unclear whether a bot kept its time, the seat
            that was to act; None if others had disturbed it.
    """

    match: int
    tournament: str
    game: str
    options: Mapping[str, Any]
    bots: tuple[Bot, ...]
    rng_seed: int
    opening: int | None = None
    opening_actions: tuple[Any, ...] = ()
    encounter: int = 1
    time_control: TimeControl = TimeControl()
    ply_limit: int = DEFAULT_PLY_LIMIT
    ends_settled: bool = False
    void_tries: tuple[int | None, ...] = ()

    @property
    def time_controls(self) -> tuple[TimeControl, ...]:
        """The time control of each seat; empty if all have that of the match."""
        return time_controls_of(self.bots, self.time_control)

    def time_control_of(self, seat: int) -> TimeControl:
        """Return the time control of a seat."""
        return self.bots[seat].time_control or self.time_control

    def after_void(self, seat: int | None) -> MatchSpec:
        """Return the match for its next try, after one in which it was unclear whether a bot kept its time."""
        return replace(self, void_tries=(*self.void_tries, seat))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledMatch:
    """One line of a schedule, small enough for a million of them.

    Attributes:
        match: its number, from 1, as those of its encounter and round.
        game: which of the definition's games, from 0.
        seats: the number of the entrant in each seat.
        opening: the number of the opening, from 0.
        rng_seed: given to every bot.
    """

    match: int
    encounter: int
    round: int
    game: int
    seats: tuple[int, ...]
    opening: int
    opening_actions: tuple[Any, ...]
    rng_seed: int


class Seating(NamedTuple):
    """Who sits in a match of a schedule; see ``ScheduledMatch``."""

    match: int
    encounter: int
    round: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRecord(Displayed):
    """Everything that happened in a match. Field order is the order of ``arena tournament export``.

    Attributes:
        actions: ``[seat, action]`` each, the opening included; the action is None where a seat that had forfeited was
            taken out of the match by the rules (only coprimality with three or more).
        scores: by the rules, as the match stood at its end.
        ranks: the final ranks: 1 is best, ties share; forfeits are last.
        wall_seconds: parallel to ``actions``: from the last byte asked to the last byte answered; None in the opening.
        cpu_seconds: parallel to ``actions``: the bot's CPU time; None where it can't be measured.
        notes: ``[ply, note]`` each, as the bots sent them.
        ply_limit: the most actions it could have; None in records of versions without such a limit.
        versions: of the arena, the protocol and Python.
        started_at: UTC, ISO 8601.
        left_out_digest: where text of bots was left out: its digest (``digest_of``); else empty.
        left_out_bytes: how much was left out, rounded up.
        settled_ply: the number of actions after which no legal play could change its ranks, so that it ended.
        shares_cores: another arena on the machine played on the same cores, so its bots may have taken time from these.
        time_controls: of each seat, where one had another than ``time_control``; else empty.
    """

    match: int
    tournament: str
    game: str
    options: Mapping[str, Any]
    bots: tuple[str, ...]
    rng_seed: int
    encounter: int
    opening: int | None
    opening_plies: int
    actions: tuple[Sequence[Any], ...]
    scores: tuple[int | float, ...]
    ranks: tuple[int, ...]
    termination: Termination
    faults: tuple[Fault, ...]
    wall_seconds: tuple[float | None, ...]
    cpu_seconds: tuple[float | None, ...]
    seats: tuple[SeatReport, ...]
    notes: BotText[tuple[Sequence[Any], ...]]
    time_control: TimeControl
    isolation: str
    ply_limit: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    started_at: str = ""
    left_out_digest: str = ""
    left_out_bytes: int = 0
    settled_ply: int | None = None
    shares_cores: bool = False
    time_controls: tuple[TimeControl, ...] = ()

    def __post_init__(self) -> None:
        notes = self.notes.for_operator() if isinstance(self.notes, BotText) else self.notes
        object.__setattr__(self, "notes", BotText(tuple(notes)))

    def time_control_of(self, seat: int) -> TimeControl:
        """Return the time control of a seat."""
        return self.time_controls[seat] if self.time_controls else self.time_control

    def notes_for(self, audience: Audience) -> tuple[Sequence[Any], ...]:
        """Return the notes of those bots that an audience may read."""
        return tuple(
            note for note in self.notes.for_operator() if audience.may_read(self.bots[self.actions[note[0]][0]])
        )

    def shown_to(self, audience: Audience) -> MatchRecord:
        """Return the record with what an audience may read."""
        if all(map(audience.may_read, self.bots)):
            return self
        return replace(
            self,
            faults=tuple(fault.shown_to(audience, self.bots[fault.seat]) for fault in self.faults),
            seats=tuple(seat.shown_to(audience, bot) for bot, seat in zip(self.bots, self.seats, strict=True)),
            notes=BotText(self.notes_for(audience)),
        )

    def left_out(self, key: bytes) -> list[LeftOut]:
        """Return what bots wrote: the detail of each fault; ``exit``, ``stderr`` and the notes of each seat."""
        texts: list[Any] = [fault.detail.for_operator() for fault in self.faults]
        for bot, seat in zip(self.bots, self.seats, strict=True):
            texts += seat.exit.for_operator(), seat.stderr.for_operator(), self.notes_for(author_of([bot]))
        return left_out(texts, key, (self.match, self.rng_seed, self.bots, self.started_at, self.wall_seconds))

    def to_json(self, audience: Audience, key: bytes = b"") -> dict[str, Any]:
        """Return what an audience may read of the record, as JSON types; with a key, also a digest of the rest."""
        shown = self.shown_to(audience)
        if key and shown is not self and not self.left_out_digest:  # or it was left out before
            digest, size_bytes = digest_of(self.left_out(key))
            shown = replace(shown, left_out_digest=digest, left_out_bytes=size_bytes)
        values = {name: getattr(shown, name) for name in self.__slots__}  # asdict would copy every action
        values["faults"] = [fields_of(fault) for fault in shown.faults]
        values["seats"] = [fields_of(seat) for seat in shown.seats]
        values["notes"] = shown.notes.for_operator()
        values["time_control"] = fields_of(self.time_control)
        if not shown.left_out_digest:
            del values["left_out_digest"], values["left_out_bytes"]
        values["time_controls"] = [fields_of(own) for own in self.time_controls]
        for name in ("settled_ply", "shares_cores", "time_controls"):
            if values[name] is None or values[name] is False or values[name] == []:  # as in earlier versions
                del values[name]
        return values

    @classmethod
    def from_json(cls, stored: object) -> MatchRecord:
        """Return a record from its JSON; what an earlier version did not record has its default.

        Raises:
            StoreError: if it has a field that this version does not know, or is malformed.
        """
        number = json_value(stored.get("match")) if isinstance(stored, dict) else ""
        where = f"the record of match {number}" if number else "a record"
        record = from_stored(cls, stored, where)
        require(record._checks(), where)
        return record

    def _checks(self) -> Iterator[tuple[str, bool]]:
        seats, plies = len(self.bots), len(self.actions)
        parts = (self.scores, self.ranks, self.seats)
        yield "bots, scores, ranks and seats differ in number", seats > 0 and all(len(part) == seats for part in parts)
        yield "time_controls and bots differ in number", len(self.time_controls) in (0, seats)
        yield "a rank is out of range", all(1 <= rank <= seats for rank in self.ranks)
        yield from checks_of_play(self, seats)
        yield (
            "a note is not of one of the actions",
            all(len(note) == 2 and is_whole(note[0], 0, plies - 1) for note in self.notes.for_operator()),
        )
        yield "left_out_digest is no digest", not self.left_out_digest or is_digest(self.left_out_digest)
        yield "left_out_bytes is out of range", self.left_out_bytes >= 0
        yield "ply_limit is out of range", self.ply_limit is None or 1 <= self.ply_limit <= MAX_PLY_LIMIT
        yield "settled_ply is no number of its actions", self.settled_ply in (None, plies)
        yield "opening_plies is more than there are actions", 0 <= self.opening_plies <= plies
