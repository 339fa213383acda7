"""A tournament's definition: what is played, by whom and by which rules. Plain values, and their stored form.

Every later version reads what an earlier one has stored: a new field of ``Definition``, ``Bot``, ``Limits`` or
``TimeControl`` has a default that means what was done before.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from arena.base.enums import OpeningChoice
from arena.base.errors import StoreError
from arena.base.records import DEFAULT_LIMITS, DEFAULT_PLY_LIMIT, Bot, Limits, TimeControl
from arena.base.stored import from_stored, list_of, mapping_of
from arena.base.until import BUDGETS, Until

SETTLED = "settled"
"""The value of ``adjudicate`` if matches end once they are settled."""

STOPS = ("matches", "margin_95", "hours")
"""Settings for when to stop: they may differ from run to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameChoice:
    """A game of a tournament, with all its options."""

    game: str
    options: Mapping[str, Any]
    players: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOpenings:
    """The chosen openings of a game.

    Attributes:
        lines: the openings, each with the texts of its actions between spaces; empty before the tournament begins.
    """

    choose: OpeningChoice
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Rounds in which an entrant is not paired, because it has withdrawn or is disqualified.

    Attributes:
        last_round: None if it stays away.
    """

    entrant: int
    first_round: int
    last_round: int | None = None

    def covers(self, number: int) -> bool:
        """Return whether the entrant is absent from this round."""
        return self.first_round <= number and (self.last_round is None or number <= self.last_round)


def gone(absences: Iterable[Absence]) -> frozenset[int]:
    """Return the entrants who stay away."""
    return frozenset(absence.entrant for absence in absences if absence.last_round is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A bot that could not enter: the name it would have had, and the reason in one sentence."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A checked tournament definition.

    Attributes:
        entrants: the bots, in the file's order.
        encounters: for each pairing.
        opening_plies: actions before the bots take over, at random if ``openings`` is empty; the most, if it is not.
        openings: of each game, where they are not drawn at random.
        ply_limit: a match ends after this many actions, the opening included.
        rng_seed: the source of all randomness.
        isolation: the level asked for.
        fresh_bots: launch every bot again for every match.
        workers: matches at a time; None for one for each core.
        settings: of the format.
        active: the numbers of the entrants that may be paired; None for all.
        absences: of entrants that have withdrawn or are disqualified; they follow from the tournament's corrections.
        until: what has to be decided before it ends; None if it ends after ``encounters``.
        adjudicate: "settled" if matches end as soon as no legal play can change their ranks; else "".
        rejected: the bots that were left out because they are broken.
    """

    name: str
    games: tuple[GameChoice, ...]
    entrants: tuple[Bot, ...]
    format: str = "round-robin"
    encounters: int = 1
    opening_plies: int = 2
    openings: tuple[GameOpenings, ...] = ()
    ply_limit: int = DEFAULT_PLY_LIMIT
    time_control: TimeControl = field(default_factory=TimeControl)
    limits: Limits = field(default_factory=Limits)
    rng_seed: int = 0
    isolation: str = "auto"
    fresh_bots: bool = False
    workers: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    active: frozenset[int] | None = None
    absences: tuple[Absence, ...] = ()
    until: Until | None = None
    adjudicate: str = ""
    rejected: tuple[Rejected, ...] = ()

    @property
    def gone(self) -> frozenset[int]:
        """The entrants who are not paired any more, because they have withdrawn or are disqualified."""
        return gone(self.absences)

    @property
    def odds(self) -> dict[str, TimeControl]:
        """The time of each entrant that has one of its own, by ``name@version``."""
        return {bot.label: bot.time_control for bot in self.entrants if bot.time_control is not None}

    @property
    def longest_time(self) -> TimeControl:
        """A time control that allows every entrant at least as much as its own."""
        own = {bot.time_control or self.time_control for bot in self.entrants}
        actions = [time_control.per_action_seconds for time_control in own]
        banks = [time_control.bank_seconds for time_control in own]
        return replace(
            self.time_control,
            per_action_seconds=None if None in actions else max(filter(None, actions)),
            bank_seconds=None if None in banks else max(filter(None, banks)),
            increment_seconds=max(time_control.increment_seconds for time_control in own),
        )

    @cached_property
    def shown_names(self) -> Mapping[str, str]:
        """What tables call each entrant, by ``name@version``: its name, if no other version takes part."""
        names = Counter(bot.name for bot in self.entrants)
        return {bot.label: bot.name if names[bot.name] == 1 else bot.label for bot in self.entrants}

    def identity(self) -> dict[str, Any]:
        """Return everything that results depend on, as JSON types: two definitions that agree are one tournament.

        It excludes where the bots are on disk, and when a ladder stops.
        """
        values = self._deciding()
        values.pop("rejected", None)
        if self.until is not None:
            values["until"] = {key: value for key, value in values["until"].items() if key not in BUDGETS}
            del values["encounters"]  # a fixed schedule that was extended may have had any number
        return _plain(values | {"entrants": [bot_identity(bot) for bot in self.entrants]})

    def to_json(self) -> dict[str, Any]:
        """Return the stored form, as JSON types: without the name, which is the key, and what is set for a run."""
        entrants = {"entrants": [_entrant(bot) for bot in self.entrants]}
        locations = {"places": {bot.label: _location(bot) for bot in self.entrants}}
        return _plain(self._deciding() | entrants | locations)

    def _deciding(self) -> dict[str, Any]:
        values = asdict(replace(self, entrants=()))
        for name in ("name", "workers", "active", "absences"):
            del values[name]
        if self.ply_limit == DEFAULT_PLY_LIMIT:
            del values["ply_limit"]  # so that a tournament of an earlier version has the identity it had
        if self.limits.cores == DEFAULT_LIMITS.cores:
            del values["limits"]["cores"]
        if not self.openings:
            del values["openings"]
        for name in ("until", "adjudicate", "rejected"):
            if not getattr(self, name):
                del values[name]
        values["settings"] = {key: value for key, value in self.settings.items() if key not in STOPS}
        return values

    @classmethod
    def from_json(cls, name: str, stored: object) -> Definition:
        """Return a stored definition; what an earlier version did not store has its default.

        Raises:
            StoreError: if it has a field that this version does not know, or is malformed.
        """
        where = f"tournament {name!r}: its stored definition"
        values = {"name": name, **mapping_of(stored, where)}
        locations = mapping_of(values.pop("places", {}), f"{where}: places")
        if "entrants" in values:
            entrants = list_of(values["entrants"], f"{where}: entrants")
            values["entrants"] = [_bot(entrant, locations, f"{where}: entrants") for entrant in entrants]
        definition = from_stored(cls, values, where)
        if definition.openings and len(definition.openings) != len(definition.games):
            raise StoreError(f"{where} is malformed: expected openings for each of its games, or none")
        if not definition.games:
            raise StoreError(f"{where} is malformed: it has no game")
        if len({bot.label for bot in definition.entrants}) < len(definition.entrants):
            raise StoreError(f"{where} is malformed: two entrants have the same name and version")
        return definition


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entrant:
    """What is stored of an entrant. Its path on disk is stored separately, by its label."""

    name: str
    version: str
    content: str = ""
    build: Sequence[str] = ()
    outside_game: Sequence[str] | None = None
    args: Sequence[str] = ()
    author: str = ""
    time_control: TimeControl | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Location:
    """Where an entrant is on disk, and how it is launched there; empty where an early version did not store it."""

    command: Sequence[str] = ()
    directory: str = ""
    own_files: Sequence[str] = ()
    build: Sequence[str] = ()
    warm: bool = False
    submitted: bool = False


def _entrant(bot: Bot) -> dict[str, Any]:
    """Return what is stored, without a time control of its own as earlier versions stored most."""
    whole = bot_identity(bot) | {"args": bot.command[1:], "outside_game": bot.external_game, "author": bot.author}
    return {name: whole[name] for name in _Entrant.__slots__ if name in whole}


def _location(bot: Bot) -> dict[str, Any]:
    return {part.name: getattr(bot, part.name) for part in fields(_Location)}


def bot_to_json(bot: Bot) -> dict[str, Any]:
    """Return the stored form of a single bot: an entrant, and its location."""
    return _plain({"entrant": _entrant(bot), "place": _location(bot)})


def bot_from_json(stored: object, where: str) -> Bot:
    """Return a bot from ``bot_to_json``, or raise StoreError."""
    values = mapping_of(stored, where)
    bot = _bot(values.get("entrant"), {}, where)
    return _bot(values.get("entrant"), {bot.label: values.get("place", {})}, where)


def _bot(stored: object, locations: Mapping[str, Any], where: str) -> Bot:
    entrant = from_stored(_Entrant, stored, where)
    label = f"{entrant.name}@{entrant.version}"
    location = from_stored(_Location, locations.get(label, {}), f"{where}: {label!r}")
    game = entrant.outside_game
    return Bot(
        name=entrant.name,
        version=entrant.version,
        command=tuple(location.command) or ("", *entrant.args),
        directory=location.directory,
        digest=entrant.content,
        own_files=tuple(location.own_files),
        build=tuple(entrant.build) or tuple(location.build),
        external_game=(game[0], game[1]) if game is not None and len(game) == 2 else None,
        author=entrant.author,
        warm=location.warm,
        submitted=location.submitted,
        time_control=entrant.time_control,
    )


def bot_identity(bot: Bot) -> dict[str, Any]:
    """Return what makes a bot the same wherever it is: its own files among its arguments are relative paths."""
    own = {path: os.path.relpath(path, bot.directory) for path in bot.own_files}
    odds = {} if bot.time_control is None else {"time_control": asdict(bot.time_control)}
    return odds | {
        "name": bot.name,
        "version": bot.version,
        "content": bot.digest,
        "args": [own.get(arg, arg) for arg in bot.command[1:]],
        "build": bot.build,
        "outside_game": bot.external_game and bot.external_game[0],
    }
