"""The interface of a format: it decides who meets whom in the next round, from the field and the results so far.

A pairing is a group of entrants who meet; their meeting is one or more encounters, each of them one opening in all seat
rotations. A format has no clock, no store and no random number generator with a state. Given the same results it
returns the same rounds, so that the director can resume a tournament.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import UserDict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from arena.base.definition import Absence, Definition
from arena.base.errors import DefinitionError, UnknownNameError
from arena.base.results import EntrantRating, StoredResult, points_of
from arena.base.stored import from_stored
from arena.base.until import Until

ANY_NUMBER = range(2, sys.maxsize)
FOR_TWO = range(2, 3)
"""Values of a format's ``players``."""

Pairing = tuple[int, ...]
"""The numbers of the entrants who meet, counted from 0."""


class Round(NamedTuple):
    """Who meets whom in a round.

    Attributes:
        byes: entrants who are still in but meet nobody in this round.
        encounters: how many encounters each pairing plays, if fewer than the format's ``encounters_per_round``.
        further: how many more encounters each of the pairings plays, from the openings that follow those it has played.
    """

    pairings: tuple[Pairing, ...]
    byes: tuple[int, ...] = ()
    encounters: int | None = None
    further: tuple[int, ...] = ()


class Meeting(NamedTuple):
    """A pairing, in the seats of the first match, with the results of all its matches in the order of the schedule."""

    pairing: Pairing
    results: tuple[StoredResult, ...]

    def points(self, entrant: int) -> float:
        """Return the points of an entrant: in each match the share of rivals that it beat, a tie counting half."""
        bot = self.results[0].bots[self.pairing.index(entrant)]
        return sum(points_of(result.ranks, result.bots.index(bot)) for result in self.results)


class Placing(NamedTuple):
    """A line of the format's own table: 1 is the best rank, and equals share it.

    ``decided`` says by which rule a winner has won whom the planned encounters did not tell; "" where they did.
    """

    rank: int
    entrant: int
    values: dict[str, Any]
    decided: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLimits:
    """What ends a tournament without a fixed number of rounds, whichever comes first; None for what doesn't end it.

    Attributes:
        matches: this many matches.
        margin_95: the widest ± 95 % interval is at most this.
        hours: a run has lasted this long.
        widest_margin: the widest ± 95 % interval after the last round; None before every entrant has played.
    """

    matches: int | None = None
    margin_95: float | None = None
    hours: float | None = None
    widest_margin: float | None = None


@dataclass(frozen=True, slots=True)
class NoSettings:
    """The settings of a format that has none."""


SettingsT = TypeVar("SettingsT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Generic[SettingsT]):
    """The entrants of a tournament, and what a format needs to know of its definition.

    Attributes:
        bots: the entrants as ``name@version``, in the order of the file.
        names: what tables call them.
        encounters: for each pairing.
        active: the numbers of the entrants who may be paired; None for all.
    """

    bots: tuple[str, ...]
    names: tuple[str, ...]
    players: int
    settings: SettingsT
    rng_seed: int = 0
    encounters: int = 1
    active: frozenset[int] | None = None
    absences: tuple[Absence, ...] = ()
    games: int = 1
    until: Until | None = None

    @property
    def entrants(self) -> int:
        """The number of entrants."""
        return len(self.bots)

    @property
    def taking_part(self) -> tuple[int, ...]:
        """The numbers of the entrants who may be paired."""
        everybody = range(self.entrants)
        return tuple(everybody) if self.active is None else tuple(k for k in everybody if k in self.active)

    def is_absent(self, entrant: int, number: int) -> bool:
        """Return whether an entrant is absent from a round, counted from 1."""
        return any(absence.entrant == entrant and absence.covers(number) for absence in self.absences)

    def present(self, number: int) -> tuple[int, ...]:
        """Return the entrants who may be paired in a round, counted from 1."""
        return tuple(k for k in self.taking_part if not self.is_absent(k, number))


class Format(ABC, Generic[SettingsT]):
    """A tournament in this format: ``next_round`` and ``add_results`` are called in turn.

    Attributes:
        Settings: a frozen dataclass: the format's table in a tournament file. Its docstring and the types of its fields
            are the reference of the table. A setting that is None is not stored.
        needs_results: whether rounds depend on results; if not, ``add_results`` may be given an empty list.
        open_entry: whether entrants may come and go while it is played.
        has_ranking: whether it ranks entrants by itself, and not by ratings only.
        has_fixed_field: whether it makes no sense without one of its entrants.
        has_own_openings: whether each round has an opening of its own, and not each pass; only if no result is needed.
        has_later_stages: whether who meets whom is settled by earlier results, so that these can't be changed once the
            next stage has begun.
        encounters_per_round: how many encounters a pairing plays in one round, in each game.
        suspended: entrants who are not paired in the next round although they are in; only a ladder asks.
    """

    Settings: ClassVar[type[Any]] = NoSettings
    players: ClassVar[range] = ANY_NUMBER
    needs_results: ClassVar[bool] = True
    open_entry: ClassVar[bool] = False
    has_ranking: ClassVar[bool] = False
    has_fixed_field: ClassVar[bool] = False
    has_own_openings: ClassVar[bool] = False
    has_later_stages: ClassVar[bool] = False
    suspended: frozenset[int] = frozenset()

    def __init__(self, field: Field[SettingsT]) -> None:
        """Raise DefinitionError if the field does not fit the format."""
        self.field = field
        self.encounters_per_round = field.encounters
        self.check_field()

    def check_field(self) -> None:
        """Raise DefinitionError unless the number of entrants and of players fits the format."""
        field = self.field
        if len(field.taking_part) < field.players:
            raise DefinitionError(
                f"entrants: expected at least {field.players}, one for each player of a match; got"
                f" {len(field.taking_part)}"
            )
        if field.players not in self.players:
            fewest, most = self.players[0], self.players[-1]
            expected = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise DefinitionError(
                f"format: expected games for {expected} players in this format, got {field.players} players"
            )

    @abstractmethod
    def next_round(self) -> Round | None:
        """Return the next round, or None at the end; calling it changes nothing."""

    @abstractmethod
    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Add the results of the round that ``next_round`` returned."""

    def total_encounters(self) -> int | None:
        """Return how many encounters there are at most in each game of the whole tournament; None without a maximum."""
        return None

    def max_encounters(self) -> int | None:
        """Return how many encounters there are if every tied meeting is extended as far as it can be."""
        return self.total_encounters()

    def plan(self) -> str:
        """Return what is known of rounds that depend on results, before any is played, in a few words."""
        return ""

    def late_pairings(self, entrant: int) -> tuple[Pairing, ...]:
        """Return whom a late entrant meets; raise DefinitionError if this format takes no late entrants."""
        raise DefinitionError("this format takes no late entrants; expected a round robin or a gauntlet")

    def stop_limits(self) -> StopLimits | None:
        """Return what ends the tournament, if it has no fixed number of rounds; None otherwise."""
        return None

    def least_certain(self) -> tuple[EntrantRating, ...]:
        """Return the ratings of those who are rated least certainly, the newcomers; empty if it rates nobody."""
        return ()

    def ranking(self) -> list[Placing] | None:
        """Return the format's own table, the best entrant first; None if only ratings rank."""
        return None

    def status(self) -> str:
        """Return the state of the tournament in a few words, for the progress line."""
        return ""


class FixedFormat(Format[SettingsT]):
    """A format whose rounds are known before anything is played; they are one pass, repeated ``encounters`` times."""

    needs_results = False

    @abstractmethod
    def rounds(self) -> Iterator[Round]:
        """Yield the rounds of a pass, which has one encounter of each pairing."""

    @cached_property
    def _coming(self) -> deque[Round]:
        return deque(self.rounds())

    def next_round(self) -> Round | None:
        """Return the next round of the pass."""
        return self._coming[0] if self._coming else None

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Move on to the next round; the results make no difference."""
        if self._coming:
            self._coming.popleft()


# The table of formats, and the format of a definition.


class _Formats(UserDict[str, Any]):
    """Classes of formats by name, each imported when it is looked up: some take long."""

    def __getitem__(self, name: str) -> type[Format[Any]]:
        module, _, kind = self.data[name].partition(":")
        return cast(type[Format[Any]], getattr(import_module(f"arena.tournament.formats.{module}"), kind))


_FILE_FORMATS = {
    "round-robin": "round_robin:RoundRobin",
    "gauntlet": "round_robin:Gauntlet",
    "swiss": "swiss:Swiss",
    "knockout": "knockout:Knockout",
    "ladder": "ladder:Ladder",
}

FORMATS: Mapping[str, type[Format[Any]]] = _Formats(_FILE_FORMATS)
"""The formats of tournament files, by name; the first one is the default."""

DEFAULT_FORMAT = next(iter(FORMATS))

ALL_FORMATS: Mapping[str, type[Format[Any]]] = _Formats(
    _FILE_FORMATS | {"comparison": "comparison:Comparison", "trials": "round_robin:Trials"}
)
"""The formats of tournament files, of ``arena compare`` and of ``arena tune``."""


UNTIL: Mapping[str, type[Any]] = _Formats({"until-decided": "until_decided:UntilDecided"})
"""The format that plays a round robin or a gauntlet until it is decided."""


def table_key(name: str) -> str:
    """Return the key of a format's table in a tournament file."""
    return name.replace("-", "_")


def format_class(definition: Definition) -> type[Format[Any]]:
    """Return the class of a definition's format."""
    if definition.format not in ALL_FORMATS:
        raise UnknownNameError("format", definition.format, ALL_FORMATS)
    return ALL_FORMATS[definition.format] if definition.until is None else UNTIL["until-decided"]


def field_of(definition: Definition, game: int = 0) -> Field[Any]:
    """Return the field of a definition."""
    where = f"tournament {definition.name!r}: its table of format {definition.format!r}"
    shown = definition.shown_names
    return Field(
        bots=tuple(shown),
        names=tuple(shown.values()),
        players=definition.games[game].players,
        settings=from_stored(ALL_FORMATS[definition.format].Settings, definition.settings, where),
        rng_seed=definition.rng_seed,
        encounters=definition.encounters,
        active=definition.active,
        absences=definition.absences,
        games=len(definition.games),
        until=definition.until,
    )


def format_of(definition: Definition, game: int = 0) -> Format[Any]:
    """Return the format of a tournament at its beginning; raise DefinitionError if the entrants or games don't fit it.

    Which game makes no difference where rounds depend on results, for these have all games.
    """
    kind = format_class(definition)
    players = [choice.players for choice in definition.games]
    if kind.needs_results and len(set(players)) > 1:
        raise DefinitionError(
            f"games: format {definition.format!r} needs games of the same number of players, and these are for"
            f" {', '.join(map(str, players))}"
        )
    planned = ALL_FORMATS[definition.format](field_of(definition, game))
    return planned if definition.until is None else UNTIL["until-decided"](planned.field, planned)


def formats_of(definition: Definition) -> list[Format[Any]]:
    """Return the format of a tournament at its beginning, for each of its games."""
    return [format_of(definition, game) for game in range(len(definition.games))]
