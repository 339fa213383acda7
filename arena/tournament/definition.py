"""Tournament definitions: a TOML file, checked whole before anything is played.

The keys, with their defaults, are documented on ``TournamentFile``; ``arena run --help`` and README.md show an example.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.checked import check_model, read_toml
from arena.errors import BotDefinitionError, DefinitionError, OptionError, UnknownNameError, UsageError
from arena.games import make_game
from arena.isolation.levels import choose_isolation
from arena.players.manifest import check_name, load_bot
from arena.records import Bot, Limits, TimeControl
from arena.shipped import bot_path, tournament_path
from arena.tournament.formats import FORMATS, KINDS, AdaptiveFormat, Field, Format
from arena.tournament.tournament_file import EntrantTable, GameTable, TournamentFile

FindBot = Callable[[str, Sequence[str]], Bot]
"""Finds a submitted bot by ``name`` or ``name@version``; raises UsageError if there is none."""


STOPS = ("matches", "margin_95", "hours")
"""Settings that only say when to stop: they may differ from run to run."""


@dataclass(frozen=True, slots=True)
class GameChoice:
    """A game of a tournament, with all its options."""

    game: str
    options: dict[str, Any]
    players: int


@dataclass(frozen=True, slots=True)
class Definition:
    """A checked tournament definition.

    Attributes:
        name: of the tournament.
        games: the games, each with its options.
        entrants: the bots, in the file's order.
        format: the name of the format.
        encounters: for each pairing.
        opening_plies: random actions before the bots take over.
        time_control: the time rules.
        limits: what a bot may use.
        rng_seed: everything random follows from it.
        isolation: the level asked for.
        fresh_bots: launch every bot anew for every match.
        workers: matches at a time; None for one for each core.
        settings: of the format.
        active: the numbers of the entrants that may be paired; None for all.
    """

    name: str
    games: tuple[GameChoice, ...]
    entrants: tuple[Bot, ...]
    format: str
    encounters: int
    opening_plies: int
    time_control: TimeControl
    limits: Limits
    rng_seed: int
    isolation: str
    fresh_bots: bool
    workers: int | None
    settings: dict[str, Any] = field(default_factory=dict)
    active: frozenset[int] | None = None

    @property
    def shown_names(self) -> dict[str, str]:
        """What tables call each entrant, by ``name@version``: its name, if no other version takes part."""
        return shown_names([(bot.name, bot.label) for bot in self.entrants])

    def field(self, players: int) -> Field:
        """Return what a format is told."""
        names = tuple(self.shown_names.values())
        return Field(names, players, self.rng_seed, self.encounters, self.settings, self.active)

    def formats(self) -> list[Format]:
        """Return the formats of the tournament: one for each game; a single one for all if rounds depend on results.

        Raises:
            DefinitionError: if entrants or games don't fit the format.
        """
        kind = KINDS[self.format]
        players = [choice.players for choice in self.games]
        if not issubclass(kind, AdaptiveFormat):
            return [kind(self.field(number)) for number in players]
        if len(set(players)) > 1:
            raise DefinitionError(
                f"games: format {self.format!r} needs games of the same number of players, and these are for"
                f" {', '.join(map(str, players))}"
            )
        return [kind(self.field(players[0]))]

    def what_decides(self) -> dict[str, Any]:
        """Return everything that results depend on, as JSON types: two definitions that agree are one tournament."""
        values = asdict(self)
        for name in ("name", "workers", "active"):
            del values[name]
        values["settings"] = {key: value for key, value in self.settings.items() if key not in STOPS}
        for entrant in values["entrants"]:
            entrant["args"] = list(entrant.pop("command"))[1:]
            del entrant["directory"], entrant["games"], entrant["own_files"]
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain

    def places(self) -> dict[str, Any]:
        """Return where the bots are and how they are launched, as JSON types: kept for launching them again."""
        return {
            bot.label: {
                "command": [*bot.command],
                "directory": bot.directory,
                "own_files": [*bot.own_files],
                "build": [*bot.build],
            }
            for bot in self.entrants
        }

    def renamed(self, name: str) -> Definition:
        """Return the same tournament under another name."""
        check_tournament_name(name, "name")
        return replace(self, name=name)


def load_definition(path: str | os.PathLike[str], find_bot: FindBot | None = None) -> Definition:
    """Read and check a tournament file.

    Args:
        path: the TOML file, or ``arena:NAME``, an example tournament.
        find_bot: finds submitted bots; without it, entrants are paths and example bots.

    Raises:
        DefinitionError: with every fault, each with its place, value and what is accepted.
    """
    path = tournament_path(path)
    file = check_model(TournamentFile, read_toml(path, DefinitionError), path, DefinitionError)
    faults: list[str] = []
    definition = _Builder(file, path, find_bot, faults).build()
    if not faults:
        with _collecting(faults):
            definition.formats()
    if faults:
        raise DefinitionError(f"{path}: " + "; ".join(faults))
    return definition


def shown_names(entrants: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return what tables call each entrant, by its label, from its name and label."""
    often = Counter(name for name, _ in entrants)
    return {label: name if often[name] == 1 else label for name, label in entrants}


def check_tournament_name(name: str, where: str) -> None:
    """Raise DefinitionError unless ``name`` may be a tournament's name."""
    allowed = all(letter.isalnum() or letter in "._- " for letter in name)
    if not (1 <= len(name) <= 64 and allowed and name == name.strip() and not name.startswith(("-", "."))):
        raise DefinitionError(
            f"{where} = {name!r}: accepted are 1 to 64 letters, digits, '.', '_', '-' and spaces inside"
        )


class _Builder:
    """Turns a file whose shape is right into a definition, collecting what is wrong with its contents."""

    def __init__(self, file: TournamentFile, path: Path, find_bot: FindBot | None, faults: list[str]) -> None:
        self._file = file
        self._path = path
        self._find_bot = find_bot
        self._faults = faults

    def build(self) -> Definition:
        file = self._file
        name = file.name if file.name is not None else self._path.stem
        with _collecting(self._faults):
            check_tournament_name(name, "name")
        with _collecting(self._faults):
            choose_isolation(file.isolation)
        if file.format not in FORMATS:
            known = ", ".join(repr(known) for known in FORMATS)
            self._faults.append(f"format = {file.format!r}: accepted is {known}")
        for key in file.needless_tables():
            self._faults.append(f"{key}: these settings are for another format, and format = {file.format!r}")
        games = self._games()
        entrants = self._entrants()
        self._check_fit(games, entrants)
        return Definition(
            name,
            games,
            entrants,
            file.format,
            file.encounters,
            file.opening_plies,
            TimeControl(**file.time_control.model_dump()),
            Limits(**file.limits.model_dump()),
            file.rng_seed,
            file.isolation,
            file.fresh_bots,
            file.workers,
            file.format_settings(),
        )

    def _games(self) -> tuple[GameChoice, ...]:
        file = self._file
        if (file.game is None) == (not file.games):
            self._faults.append('either game = "NAME" or one or more [[games]] tables are needed, not both')
            return ()
        if file.game is not None:
            tables = [("", GameTable(game=file.game, options=file.options))]
        else:
            tables = [(f"games[{k}].", table) for k, table in enumerate(file.games)]
            if file.options:
                self._faults.append("options: with [[games]], options belong inside each of them")
        choices = []
        for prefix, table in tables:
            place = f"{prefix}game"
            try:
                game = make_game(table.game, **table.options)
                choices.append(GameChoice(table.game, game.options, game.players))
            except OptionError as error:
                self._faults.append(f"{prefix}options.{error}")
            except UsageError as error:
                self._faults.append(f"{place}: {error}")
        return tuple(choices)

    def _entrants(self) -> tuple[Bot, ...]:
        bots: list[Bot] = []
        for number, table in enumerate(self._file.entrants):
            try:
                bot = self._bot(table)
            except UsageError as error:
                self._faults.append(f"entrants[{number}]: {error}")
                continue
            if any(bot.label == other.label for other in bots):
                self._faults.append(
                    f"entrants[{number}].name = {bot.name!r}: another entrant has this name and version;"
                    " give one of them a name of its own"
                )
            bots.append(bot)
        return tuple(bots)

    def _bot(self, table: EntrantTable) -> Bot:
        bot = find_entrant(table.bot, table.args, self._path.parent, self._find_bot)
        if table.name is None:
            return bot
        check_name("name", table.name)
        return replace(bot, name=table.name)

    def _check_fit(self, games: Sequence[GameChoice], entrants: Sequence[Bot]) -> None:
        if len(entrants) < len(self._file.entrants):
            return
        for choice in games:
            if choice.players > len(entrants):
                self._faults.append(
                    f"entrants: {len(entrants)} of them, but {choice.game} is for {choice.players} players"
                )
            for bot in entrants:
                if bot.games and choice.game not in bot.games:
                    claimed = ", ".join(bot.games)
                    self._faults.append(f"entrant {bot.name!r} does not play {choice.game}; it claims {claimed}")


def find_entrant(text: str, args: Sequence[str], base: Path, find_bot: FindBot | None) -> Bot:
    """Return the bot that ``text`` names: a path from ``base``, ``arena:NAME``, or a submitted ``name`` or
    ``name@version``.

    Raises:
        UsageError: if there is no such bot.
    """
    try:
        path = base / bot_path(text)
    except UnknownNameError:
        with suppress(UnknownNameError):  # a bot may have been submitted as "arena:…" before that meant anything
            if find_bot is not None:
                return find_bot(text, args)
        raise
    if "/" in text or text.endswith(".py") or path.exists() or find_bot is None:
        return load_bot(path, args)
    try:
        return find_bot(text, args)
    except UsageError as error:
        raise BotDefinitionError(f"{error}; nor is there a file or directory {str(path)!r}") from error


class _collecting:  # noqa: N801 - reads as a phrase
    """Collects the text of a UsageError instead of raising it."""

    def __init__(self, faults: list[str]) -> None:
        self._faults = faults

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, at: object) -> bool:
        if isinstance(error, UsageError):
            self._faults.append(str(error))
            return True
        return False
