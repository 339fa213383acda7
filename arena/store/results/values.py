"""The plain values that the store returns: tournaments, corrections, owners of bots; and reading them consistently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from arena.base.definition import Absence, Definition, gone
from arena.base.enums import CorrectionKind, DisqualifiedMatches, FaultKind
from arena.base.errors import ChangedMeanwhileError, StoreError, UnknownNameError
from arena.base.records import Bot
from arena.base.stored import from_json_text


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionDetails:
    """What a correction is about; which fields are set depends on its kind.

    Attributes:
        entrant: the number of the entrant, from 0; None for a void match.
        bot: the entrant's ``name@version`` when the correction was made.
        matches: the matches of ``void``.
        disqualified_matches: what becomes of the matches of a disqualified bot.
        absent_from: the first round in which the entrant is not paired any more.
        replaced: the entrant before it was replaced, in its stored form.
        settings: those of the format before the correction; None if they stay the same.
        missed: of absent entrants, the earlier rounds in which a match stays unplayed.
        undoes: the number of the correction that is undone.
        last_round: the last round in the schedule when the correction was made.
    """

    entrant: int | None = None
    bot: str = ""
    matches: tuple[int, ...] = ()
    disqualified_matches: DisqualifiedMatches | None = None
    absent_from: int | None = None
    replaced: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] | None = None
    missed: tuple[Absence, ...] = ()
    undoes: int | None = None
    last_round: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A line in a tournament's log of corrections, numbered from 1; its reason is for everybody to read."""

    number: int
    kind: CorrectionKind
    reason: str
    made_at: str
    details: CorrectionDetails


def undone_by(corrections: Iterable[Correction]) -> dict[int, Correction]:
    """Return by which correction each of those that are undone was undone, by its number."""
    return {c.details.undoes: c for c in corrections if c.details.undoes is not None}


def in_force(corrections: Sequence[Correction]) -> list[Correction]:
    """Return the corrections that have an effect: neither undone, nor an undoing themselves."""
    undone = undone_by(corrections)
    return [c for c in corrections if c.number not in undone and c.kind is not CorrectionKind.UNDO]


def explaining(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the numbers of the corrections that may set records aside: those in force, and every undoing."""
    undoings = (c for c in corrections if c.kind is CorrectionKind.UNDO)
    return frozenset(c.number for c in (*in_force(corrections), *undoings))


def entered(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the late entrants whose entry stands; one that was taken out may have entered again."""
    return _entrants_of(c for c in in_force(corrections) if c.kind is CorrectionKind.ENTER)


def taken_out(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the late entrants whose entry is undone."""
    return _entrants_of(c for c in corrections if c.kind is CorrectionKind.ENTER) - entered(corrections)


def _entrants_of(corrections: Iterable[Correction]) -> frozenset[int]:
    return frozenset(c.details.entrant for c in corrections if c.details.entrant is not None)


def absences(corrections: Sequence[Correction]) -> tuple[Absence, ...]:
    """Return which entrants are absent from which rounds.

    An entrant whose withdrawal is undone stays absent from the rounds that were paired without it.
    """
    undone = undone_by(corrections)
    late = entered(corrections)
    by_correction: list[Absence] = []
    for c in corrections:
        entrant, first = c.details.entrant, c.details.absent_from
        if entrant is None or first is None or (c.kind is CorrectionKind.UNDO and entrant in late):
            continue
        if c.number not in undone:
            by_correction.append(Absence(entrant=entrant, first_round=first))
        elif c.details.last_round < undone[c.number].details.last_round:
            last = undone[c.number].details.last_round
            by_correction.append(Absence(entrant=entrant, first_round=c.details.last_round + 1, last_round=last))
    absent = gone(by_correction)
    missed = (absence for c in corrections if c.number not in undone for absence in c.details.missed)
    return (*by_correction, *(absence for absence in missed if absence.entrant in absent))


def out_of_table(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the entrants without a line in tables: those disqualified, and late entrants whose entry is undone."""
    return disqualified(corrections) | taken_out(corrections)


def disqualified(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the entrants that are disqualified."""
    return _entrants_of(c for c in in_force(corrections) if c.kind is CorrectionKind.DISQUALIFY)


# Whose bots are: of a bot that was submitted, the person; of any other, what its ``bot.toml`` says, as its words.
#
# Tables name a bot by ``name@version``, which anybody may enter, so the digest of its files decides.


class OwnedBot(NamedTuple):
    """A submitted bot (``name@version``), the digest of its files, and its owner; "" for somebody who has left."""

    bot: str
    digest: str
    person: str


class Authorship(NamedTuple):
    """The author of a bot.

    Attributes:
        author: its owner; without one, what its ``bot.toml`` says.
        words: what its ``bot.toml`` says, unless its owner has left.
        is_owned: whether a person has submitted it.
    """

    author: str = ""
    words: str = ""
    is_owned: bool = False

    @property
    def is_claimed(self) -> bool:
        """Whether the author is known by the words of the bot alone."""
        return bool(self.author) and not self.is_owned


@dataclass(frozen=True, slots=True)
class Owners:
    """The owners of bots, by ``name@version``."""

    by_bot: Mapping[str, OwnedBot] = field(default_factory=dict)

    def owner(self, label: str, digest: str) -> str | None:
        """Return the owner of a bot: "" for somebody who has left, None if nobody submitted these files."""
        owned_bot = self.by_bot.get(label)
        return owned_bot.person if owned_bot is not None and owned_bot.digest == digest else None

    def authorship(self, bot: Bot) -> Authorship:
        """Return who wrote a bot."""
        owner = self.owner(bot.label, bot.digest)
        if owner is None and bot.submitted:  # under another name, which a tournament file gives it
            same = {owned_bot.person for owned_bot in self.by_bot.values() if owned_bot.digest == bot.digest}
            owner = next(iter(same)) if len(same) == 1 else None
        if owner is None:
            return Authorship(author=bot.author, words=bot.author)
        return Authorship(author=owner, words=bot.author if owner else "", is_owned=True)


def utc_now() -> str:
    """Return the time, UTC, as ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@lru_cache(maxsize=256)
def _definition(name: str, text: str) -> Definition:
    return Definition.from_json(name, from_json_text(text, f"tournament {name!r}: its stored definition"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTournament:
    """A tournament in the store.

    Attributes:
        scheduled: matches in the schedule, without those that a correction has taken out of it.
        record_bytes: the size of its records, with those that were set aside.
        finished_at: when the last match was recorded and no round followed; None before that.
        corrections: the log of its corrections, the oldest first.
    """

    number: int
    name: str
    definition_text: str
    created_at: str
    format: str
    scheduled: int
    recorded: int
    record_bytes: int = 0
    finished_at: str | None = None
    deleted_at: str | None = None
    corrections: tuple[Correction, ...] = ()
    owners: Owners = field(default=Owners(), compare=False, repr=False)

    @property
    def definition(self) -> Definition:
        """Its definition, with the absences that follow from its corrections.

        Raises:
            StoreError: if a newer arena has stored it, or it is malformed.
        """
        stored = _definition(self.name, self.definition_text)
        if not self.corrections:
            return stored
        derived = absences(self.corrections)
        entrants = {c.details.entrant for c in self.corrections} | {absence.entrant for absence in derived}
        if not all(k is None or 0 <= k < len(stored.entrants) for k in entrants):
            raise StoreError(f"tournament {self.name!r}: its log of corrections names an entrant that it does not have")
        return replace(stored, absences=derived)

    @property
    def left_out(self) -> frozenset[str]:
        """The entrants without a line in tables (``name@version``): disqualified, or entered by mistake."""
        entrants = self.definition.entrants
        return frozenset(entrants[k].label for k in out_of_table(self.corrections))

    @property
    def listed_names(self) -> dict[str, str]:
        """What tables call each entrant that has a line in them, by ``name@version``."""
        left_out = self.left_out
        return {label: name for label, name in self.definition.shown_names.items() if label not in left_out}

    @property
    def trash_name(self) -> str:
        """What it is called in the trash; no other tournament has this name, nor can be given it."""
        return f"deleted/{self.number}"

    @property
    def games(self) -> list[str]:
        """The names of its games, in order."""
        return [choice.game for choice in self.definition.games]

    def require_game(self, game: str | None) -> None:
        """Raise UnknownNameError unless the tournament has this game; None stands for all of its games."""
        if game is not None and game not in self.games:
            raise UnknownNameError("game", game, self.games)


class StoredFault(NamedTuple):
    """A fault of a bot, and where it happened."""

    tournament: str
    match: int
    seat: int
    game: str
    kind: FaultKind


class StoredBot(NamedTuple):
    """A submitted bot."""

    name: str
    version: str
    digest: str
    entry: str
    submitted_at: str

    @property
    def label(self) -> str:
        """``name@version``."""
        return f"{self.name}@{self.version}"


MAX_READINGS = 3
"""The most attempts: a bot may enter a ladder during each of them."""

Value = TypeVar("Value")


def read_whole(read: Callable[[], Value]) -> Value:
    """Return what ``read`` reads of tournaments, again if one changed meanwhile; ChangedMeanwhileError in the end."""
    for _ in range(MAX_READINGS - 1):
        try:
            return read()
        except ChangedMeanwhileError:
            continue
    return read()
