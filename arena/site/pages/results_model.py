"""Lists of matches and results, a page at a time or as a feed, and the output of bots in matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from annotated_types import Ge, Le, Len
from pydantic import field_validator

from arena.analysis.measures.noted_numbers import noted_numbers
from arena.base.enums import FaultKind, Termination
from arena.base.records import MatchRecord
from arena.site.frame.model import AsWritten, Model, ModelOfTournament, Name, Parameters, Table
from arena.site.matches.match_model import ListedFault, MatchFault


class ListedResult(Model):
    """A match in a list of results.

    Attributes:
        scores: by the rules, per seat.
        plies: the number of actions, those of the opening included.
    """

    tournament: str
    match: int
    game: str
    bots: tuple[str, ...]
    names: tuple[str, ...]
    scores: tuple[int | float, ...]
    ranks: tuple[int, ...]
    plies: int
    termination: Termination
    faults: tuple[ListedFault, ...] = ()

    @property
    def winner(self) -> int | None:
        """The seat that alone was first; None without one."""
        return self.ranks.index(1) if self.ranks.count(1) == 1 else None

    @property
    def has_comparable_scores(self) -> bool:
        """Whether the scores say who won: not after a forfeit, which ends a match before its end."""
        return not self.faults


MATCHES = 50
"""On a page, unless the address says otherwise."""

MAX_MATCHES = 1000

MatchNumber = Annotated[int, Ge(0), Le(2**31 - 1), AsWritten]


class MatchesParameters(Parameters):
    """The address of a list of matches. An empty filter does not count.

    Attributes:
        bot: only those of this one: a name, or name@version.
        rival: only those against this one: a name, or name@version.
        fault: only those with a fault of this kind; of the bot, if there is one.
        before: only those with lower numbers, the highest of them.
        after: only those with higher numbers, the lowest of them.
    """

    tournament: Name
    bot: Annotated[str, Len(0, 200)] = ""
    rival: Annotated[str, Len(0, 200)] = ""
    game: Annotated[str, Len(0, 200)] = ""
    termination: Termination | None = None
    fault: FaultKind | None = None
    before: MatchNumber | None = None
    after: MatchNumber | None = None
    limit: Annotated[int, Ge(1), Le(MAX_MATCHES), AsWritten] = MATCHES

    @field_validator("termination", "fault", "before", "after", mode="before")
    @classmethod
    def _none_if_empty(cls, value: Any) -> Any:
        return None if value == "" else value

    @property
    def has_filter(self) -> bool:
        """Whether only some matches are wanted."""
        return any((self.bot, self.rival, self.game, self.termination, self.fault))


class ListedMatch(Model):
    """A recorded match in a list.

    Attributes:
        scores: per seat; None if the record is too long or malformed, as are the next two.
        plies: the number of actions, those of the opening included.
    """

    match: int
    encounter: int
    round: int
    game: str
    bots: tuple[str, ...]
    names: tuple[str, ...]
    scores: tuple[int | float | None, ...] | None
    ranks: tuple[int, ...]
    plies: int | None
    termination: Termination
    faults: tuple[ListedFault, ...]
    started_at: str | None

    @property
    def winner(self) -> int | None:
        """The seat that alone was first; None without one."""
        return self.ranks.index(1) if self.ranks.count(1) == 1 else None


class MatchesPage(ModelOfTournament):
    """The matches of a tournament, by bot, game, how they ended and fault; the highest number first.

    Attributes:
        older: the number below which the next page continues; None if there is nothing there.
        newer: the number above which the page before continues; None if this is the first.
        games: of the tournament, which can be chosen.
        names: of its bots, which can be chosen.
    """

    tournament: str
    recorded: int
    matches: tuple[ListedMatch, ...]
    older: int | None
    newer: int | None
    games: tuple[str, ...]
    names: tuple[str, ...]

    def tables(self) -> Mapping[str, Table]:
        """Return the matches of the page."""
        keys = [key for key in ListedMatch.model_fields if key != "names"]
        return {"matches": Table.of(keys, map(row_of, self.matches))}


def row_of(match: ListedResult | ListedMatch) -> dict[str, Any]:
    """Return what CSV has of a match, by the keys of columns."""
    scores = match.scores or ()
    faults = [f"{match.bots[fault.seat]}: {fault.kind} at ply {fault.ply}" for fault in match.faults]
    return match.model_dump() | {
        "bots": " ".join(match.bots),
        "scores": " ".join("-" if score is None else f"{score:.6g}" for score in scores),
        "ranks": " ".join(map(str, match.ranks)),
        "termination": str(match.termination),
        "faults": ", ".join(faults),
    }


# A feed of results.
#
# Identifiers are tag URIs of RFC 4151. They do not depend on where the site is, nor on names, which may be changed.

AUTHORITY = "grid-arena.invalid"
"""Who gives the identifiers: a name that nobody can have."""

MAX_ENTRIES = 50


class FeedEntry(Model):
    """A result.

    Attributes:
        at: when the match began, UTC, ISO 8601.
        authors: the owners of its submitted bots, by ``name@version``.
    """

    id: str
    result: ListedResult
    at: str
    authors: tuple[str, ...] = ()


class Feed(Model):
    """Results, the latest first.

    Attributes:
        at: when it changed last, UTC, ISO 8601.
    """

    id: str
    title: str
    at: str
    entries: tuple[FeedEntry, ...]


def tag_uri(created_at: str, *parts: str) -> str:
    """Return an identifier of something that began then (UTC, ISO 8601).

    ``parts`` distinguish it from others of that day; they have only characters that URIs may have.
    """
    return f"tag:{AUTHORITY},{created_at[:10]}:{'/'.join(parts)}"


class Noted(Model):
    """A note of a bot; ``ply`` counts the actions with its own."""

    ply: int
    text: str


class SeatLog(Model):
    """The output of a bot in a match.

    Attributes:
        exit: "running", "exit status N" or "signal NAME".
    """

    bot: str
    seat: int
    exit: str
    stderr: str
    faults: tuple[MatchFault, ...]
    notes: tuple[Noted, ...]


class MatchLogs(Model):
    """The output of bots in a match.

    Attributes:
        seats: those that the reader may read.
        is_hidden: whether an embargo of its contest hides results, from the authors too.
    """

    tournament: str
    match: int
    address: str
    seats: tuple[SeatLog, ...]
    is_hidden: bool = False


class ReportedNumber(Model):
    """What a bot has reported under a key of its notes, in its latest matches: means of all, and by phase."""

    bot: str
    number: str
    actions: int
    mean: float | None
    beginning: float | None
    middle: float | None
    end: float | None
    least: float
    most: float


def reported_numbers(records: Iterable[MatchRecord], bots: Iterable[str]) -> tuple[ReportedNumber, ...]:
    """Return what bots (``name@version``) have reported, whose notes whoever asks may read."""
    return tuple(ReportedNumber(**one.row()) for one in noted_numbers(records, bots))


class BotLogs(Model):
    """The output of a bot (as the address has it) in its latest matches with a fault, the latest first.

    Attributes:
        numbers: in its notes, in its latest matches with or without a fault.
    """

    bot: str
    numbers: tuple[ReportedNumber, ...]
    matches: tuple[MatchLogs, ...]
