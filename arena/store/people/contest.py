"""A contest: what its director has written, read and checked, how far it is, and what of it can still be changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from arena.base.enums import OpeningChoice
from arena.base.errors import ContestError, Mistake
from arena.base.records import DEFAULT_PLY_LIMIT, Limits, TimeControl
from arena.base.seeds import derived_seed
from arena.base.text import counted, shortened_text
from arena.base.until import Until

# A contest: what its director has written, and how far it is. Times are UTC, as ISO 8601 to the second, so that they
# compare as texts.

QUALIFICATION_SUFFIX = "-qualification"


class ContestEntrants(StrEnum):
    """Whose bots enter."""

    EVERYBODY = "everybody"
    INVITED = "invited"


class ContestResults(StrEnum):
    """When results can be seen."""

    OPEN = "open"
    FROZEN = "frozen"
    """Those of the last hours before the deadline, and all that follow, only when they are revealed."""
    SEALED = "sealed"
    """None before they are revealed."""


class ContestStage(StrEnum):
    """What the director program is at."""

    ENTRIES = "entries"
    QUALIFICATION = "qualification"
    FINAL = "final"
    PLAYED = "played"


class ContestPhase(StrEnum):
    """How far a contest is, for people."""

    ANNOUNCED = "announced"
    ENTERING = "entering"
    CLOSED = "closed"
    """The deadline has passed; what was submitted before is still being checked."""
    PLAYING = "playing"
    PLAYED = "played"
    """Everything is played; the results are not revealed yet."""
    FINISHED = "finished"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRules:
    """The rules of the qualification or the final; ``places``, how many bots go on, is None in the final."""

    format: str
    places: int | None = None
    encounters: int = 1
    opening_plies: int = 2
    opening_choice: OpeningChoice | None = None
    ply_limit: int = DEFAULT_PLY_LIMIT
    settings: Mapping[str, Any] = field(default_factory=dict)
    until: Until | None = None

    @property
    def has_house_bots(self) -> bool:
        """Whether bots of the house play along: not in a knockout, out of which they would throw people's bots."""
        return self.format != "knockout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What a director has written.

    Attributes:
        name: of the contest, and of the tournament of its final.
        deadline_at: submissions count up to the end of this second.
        house_bots: example bots that play along, as ``arena:NAME``.
        frozen_hours: before the deadline, for frozen results.
        reveal_at: when results are revealed by themselves; None if a director does it.
        ladders: whether bots that may be in it play in public while its results are embargoed.
        stages: the qualification, if there is one, and the final.
    """

    name: str
    title: str
    description: str
    game: str
    options: Mapping[str, Any]
    players: int
    opens_at: str
    deadline_at: str
    time_zone: str
    entrants: ContestEntrants
    invited: tuple[str, ...]
    bots_per_author: int
    house_bots: tuple[str, ...]
    results: ContestResults
    frozen_hours: float
    reveal_at: str | None
    ladders: bool = False
    time_control: TimeControl
    limits: Limits
    stages: tuple[StageRules, ...]

    def uses(self, key: str) -> bool:
        """Return whether one of ``KEYS`` says something, as the others are."""
        used = {
            "invited": self.entrants is ContestEntrants.INVITED,
            "frozen_hours": self.results is ContestResults.FROZEN,
            "reveal_at": self.reveal_at is not None,
            "ladders": self.ladders,
        }
        return used.get(key, True)

    @property
    def final(self) -> StageRules:
        """How the final is played."""
        return self.stages[-1]

    @property
    def qualification(self) -> StageRules | None:
        """How the qualification is played; None without one."""
        return self.stages[0] if len(self.stages) > 1 else None

    @property
    def qualification_name(self) -> str:
        """The name of the tournament of the qualification."""
        return f"{self.name}{QUALIFICATION_SUFFIX}"

    @property
    def tournaments(self) -> tuple[str, ...]:
        """The names of its tournaments, in the order in which they are played."""
        return (self.name,) if self.qualification is None else (self.qualification_name, self.name)

    @property
    def freeze_at(self) -> str | None:
        """From when on results are hidden; None unless they are frozen before the deadline."""
        if self.results is not ContestResults.FROZEN:
            return None
        return utc_text(datetime.fromisoformat(self.deadline_at) - timedelta(hours=self.frozen_hours))

    def local(self, at: str) -> datetime:
        """Return a stored time in the contest's time zone."""
        return datetime.fromisoformat(at).astimezone(ZoneInfo(self.time_zone))


TIMES = ("opens_at", "deadline_at", "reveal_at")
KEYS = tuple(part.name for part in fields(Contest) if part.name not in ("players", "time_control", "limits", "stages"))
"""Of the text of a contest, above its tables, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContest:
    """A contest and its state.

    Attributes:
        rng_seed: the source of all randomness of its tournaments; nobody is shown it before they are played.
        freeze_at: when its results freeze; None unless they do so before the deadline. A later deadline does not change
            it once it has come.
        closed_at: when the last submission that counts could come; None before.
        stage_note: why it does not go on, in a sentence; "" while it does.
    """

    number: int
    contest: Contest
    rng_seed: int
    created_by: str
    created_at: str
    freeze_at: str | None
    closed_at: str | None
    stage: ContestStage
    stage_note: str
    played_at: str | None
    reveal_asked_at: str | None
    revealed_at: str | None
    cancelled_at: str | None
    cancel_reason: str

    @property
    def name(self) -> str:
        """The name of the contest."""
        return self.contest.name

    def rng_seed_of(self, tournament: str) -> int:
        """Return the source of all randomness of one of its tournaments, which no other tournament has."""
        return derived_seed(self.rng_seed, tournament)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestEntry:
    """A bot that enters a contest."""

    author: str
    person: int
    bot: str
    submission: int
    submitted_at: str


def utc_text(at: datetime) -> str:
    """Return a time with a zone as it is stored."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


def phase_of(stored: StoredContest, now: str) -> ContestPhase:
    """Return the phase of a contest at a time, as it is stored."""
    contest = stored.contest
    if stored.cancelled_at is not None:
        return ContestPhase.CANCELLED
    if stored.played_at is not None:
        is_shown = contest.results is ContestResults.OPEN or stored.revealed_at is not None
        return ContestPhase.FINISHED if is_shown else ContestPhase.PLAYED
    if now < contest.opens_at:
        return ContestPhase.ANNOUNCED
    if now <= contest.deadline_at:
        return ContestPhase.ENTERING
    return ContestPhase.CLOSED if stored.stage is ContestStage.ENTRIES else ContestPhase.PLAYING


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestReading:
    """A contest with everything that is wrong in it, so that one message can name all of it.

    Attributes:
        contest: what was written, with other values in place of those that are wrong.
        where: its source, which begins messages.
        mistakes: all that is wrong with it by itself.
        wrong: the attributes of the contest whose values were replaced; no message mentions them.
    """

    contest: Contest
    where: str
    mistakes: tuple[Mistake, ...] = ()
    wrong: tuple[str, ...] = ()

    def has_right(self, *attributes: str) -> bool:
        """Return whether these attributes of the contest are what was written."""
        return not any(attribute in self.wrong for attribute in attributes)

    def check(self, *others: Mistake) -> Contest:
        """Return the contest, or raise ContestError with every mistake, ``others`` included."""
        if self.mistakes or others:
            raise ContestError(self.where, (*self.mistakes, *others))
        return self.contest


def read_of(written: Contest | ContestReading) -> ContestReading:
    """Return a contest as one that was read."""
    if isinstance(written, ContestReading):
        return written
    return ContestReading(contest=written, where=f"contest {written.name!r}")


_TIME = "%Y-%m-%d %H:%M:%S"
_ATTRIBUTES = frozenset(part.name for part in fields(Contest))
_WORDS_ALWAYS = frozenset({"title", "description"})
_UNTIL_REVEALED = _WORDS_ALWAYS | {"reveal_at"}
_UNTIL_DEADLINE = _UNTIL_REVEALED | {"deadline_at", "invited"}


def change_mistakes(stored: StoredContest, new: ContestReading, now: str) -> Iterator[Mistake]:
    """Yield why a contest can't become another one: what else is changed than can be, or a deadline that has passed."""
    old, phase = stored.contest, phase_of(stored, now)
    if phase is ContestPhase.CANCELLED:
        yield Mistake("", "it is cancelled")
        return
    yield from _refused(stored, new, phase)
    if phase is ContestPhase.ANNOUNCED:
        yield from deadline_mistakes(new, now)
    if phase is ContestPhase.ENTERING:
        if new.has_right("deadline_at") and new.contest.deadline_at < old.deadline_at:
            sentence = (
                "after the opening, the deadline can only become later than it is,"
                f" {old.local(old.deadline_at):{_TIME}} ({old.time_zone})"
            )
            yield Mistake("deadline_at", sentence, f"{old.local(new.contest.deadline_at):{_TIME}}")
        if new.has_right("invited") and not set(old.invited) <= set(new.contest.invited):
            yield Mistake("invited", "after the opening, you can only add people to those who are invited")


def _refused(stored: StoredContest, new: ContestReading, phase: ContestPhase) -> Iterator[Mistake]:
    def differ(names: Iterable[str]) -> list[str]:
        return [name for name in names if getattr(stored.contest, name) != getattr(new.contest, name)]

    keys_of = {"players": ["options"], "stages": differ(("qualification", "final"))}  # of the text, for an attribute
    refused = [name for name in differ(_ATTRIBUTES - _changeable(stored, phase)) if new.has_right(name)]
    for key in sorted({key for name in refused for key in keys_of.get(name, [name])}):
        yield Mistake(key, "this can't be changed any more")
    if refused:
        until = {
            ContestPhase.ANNOUNCED: "the name of a contest stays",
            ContestPhase.ENTERING: "after the opening, only {title}, {description}, {reveal_at}, a later {deadline_at}"
            " and more who are {invited} can be changed",
        }
        after = (
            "after the deadline, only {title} and {description} can be changed, and {reveal_at} before it is revealed"
        )
        yield Mistake("", until.get(phase, after))


def differences(old: Contest, new: Contest) -> tuple[str, ...]:
    """Return what is different in a contest, for everybody to read: each key with its old value and the new one.

    It tells how many are invited, not who, and that the description has changed, not how.
    """
    before, after = dict(_shown_values(old)), dict(_shown_values(new))
    shown = [
        f"{key}: {shortened_text(before.get(key, 'none'))} → {shortened_text(after.get(key, 'none'))}"
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    ]
    if old.description != new.description:
        shown.insert(0, "description: other words")
    if old.invited != new.invited and len(old.invited) == len(new.invited):
        shown.append("invited: other people")
    return tuple(shown)


def _shown_values(contest: Contest) -> Iterator[tuple[str, str]]:
    for key in KEYS:
        value = getattr(contest, key)
        if key == "options":
            yield from _inner(key, value)
        elif key == "invited":
            yield key, counted(len(value), "person")
        elif key == "ladders":
            yield key, "true" if value else "false"
        elif contest.uses(key) and key != "description":
            yield key, _shown_value(contest, key, value)
    yield from _inner("time_control", asdict(contest.time_control))
    yield from _inner("limits", asdict(contest.limits))
    for name, stage in (("qualification", contest.qualification), ("final", contest.final)):
        if stage is not None:
            values = asdict(stage)
            yield from _inner(name, values.pop("settings"))
            yield from _inner(name, values)


def _shown_value(contest: Contest, key: str, value: object) -> str:
    if key in TIMES:
        return f"{contest.local(str(value)):{_TIME}}"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _inner(name: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    return ((f"{name}.{key}", str(value)) for key, value in values.items() if value is not None)


def deadline_mistakes(new: ContestReading, now: str) -> Iterator[Mistake]:
    """Yield that nothing can be submitted for a contest any more, if its deadline has passed."""
    contest = new.contest
    if new.has_right("deadline_at") and contest.deadline_at <= now:
        local = contest.local(contest.deadline_at)
        yield Mistake("deadline_at", f"it has passed already ({contest.time_zone})", f"{local:{_TIME}}")


def _changeable(stored: StoredContest, phase: ContestPhase) -> frozenset[str]:
    if phase is ContestPhase.ANNOUNCED:
        return _ATTRIBUTES - {"name"}
    if phase is ContestPhase.ENTERING and stored.closed_at is None and stored.revealed_at is None:
        return _UNTIL_DEADLINE
    return _UNTIL_REVEALED if stored.revealed_at is None else _WORDS_ALWAYS
