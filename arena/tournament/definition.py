"""Tournament definitions: a TOML file, checked whole before anything is played.

The keys, with their defaults, are documented on ``TournamentFile``; ``arena run --help`` and README.md show an example.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from arena.checked import check_model, read_toml, without_nul
from arena.errors import BotDefinitionError, DefinitionError, OptionError, UsageError
from arena.games import make_game
from arena.isolation.levels import choose_isolation
from arena.players.manifest import check_name, load_bot
from arena.records import MEBIBYTE, Bot, Limits, TimeControl
from arena.tournament.formats import FORMATS

FindBot = Callable[[str, Sequence[str]], Bot]
"""Finds a submitted bot by ``name`` or ``name@version``; raises UsageError if there is none."""

Seconds = Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False, strict=False)]
SecondsOrZero = Annotated[float, Field(ge=0, le=86400, allow_inf_nan=False, strict=False)]


_SIZE = re.compile(r"\s*(\d+)\s*(bytes|KiB|MiB|GiB)\s*")
_UNITS = {"bytes": 1, "KiB": 1024, "MiB": MEBIBYTE, "GiB": 1024 * MEBIBYTE}
_DEFAULTS = Limits()


def _size(value: Any) -> Any:
    """Turn "512 MiB" into a number; leave the rest for the checks that follow."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ValueError('accepted is a number of bytes, or a text such as "64 KiB", "512 MiB", "2 GiB"')
    return int(match[1]) * _UNITS[match[2]]


Argument = Annotated[str, AfterValidator(without_nul)]
Size = Annotated[int, Field(le=2**50), BeforeValidator(_size)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TimeControlTable(_Strict):
    """``[time_control]``: at least one of the first two; see ``arena.records.TimeControl``."""

    per_action_seconds: Seconds | None = None
    bank_seconds: Seconds | None = None
    increment_seconds: SecondsOrZero = 0.0
    startup_seconds: Seconds = 10.0
    margin_seconds: SecondsOrZero = 0.1
    clock: Literal["wall", "cpu"] = "wall"
    off_turn: Literal["auto", "run", "freeze"] = "auto"

    @model_validator(mode="after")
    def _has_a_limit(self) -> TimeControlTable:
        if self.per_action_seconds is None and self.bank_seconds is None:
            raise ValueError("needs per_action_seconds or bank_seconds")
        return self


class LimitsTable(_Strict):
    """``[limits]``: see ``arena.records.Limits``. Sizes are numbers of bytes, or texts such as "512 MiB"."""

    memory_bytes: Annotated[Size, Field(ge=16 * MEBIBYTE)] = _DEFAULTS.memory_bytes
    cpu_seconds: Seconds | None = None
    processes: Annotated[int, Field(ge=1, le=100_000)] = _DEFAULTS.processes
    open_files: Annotated[int, Field(ge=16, le=100_000)] = _DEFAULTS.open_files
    file_bytes: Annotated[Size, Field(ge=4096)] = _DEFAULTS.file_bytes
    scratch_bytes: Annotated[Size, Field(ge=64 * 1024)] = _DEFAULTS.scratch_bytes
    stderr_bytes: Annotated[Size, Field(ge=1)] = _DEFAULTS.stderr_bytes
    note_bytes: Annotated[Size, Field(ge=1, le=64 * 1024)] = _DEFAULTS.note_bytes
    message_bytes: Annotated[Size, Field(ge=256, le=16 * MEBIBYTE)] = _DEFAULTS.message_bytes
    message_depth: Annotated[int, Field(ge=3, le=64)] = _DEFAULTS.message_depth
    message_nodes: Annotated[int, Field(ge=16, le=1_000_000)] = _DEFAULTS.message_nodes


class GameTable(_Strict):
    """``[[games]]``: a game and its options."""

    game: str
    options: dict[str, Any] = {}


class EntrantTable(_Strict):
    """``[[entrants]]``: a path (from the file's directory), or a submitted ``name`` or ``name@version``."""

    bot: Argument
    name: str | None = None
    args: list[Argument] = []


class TournamentFile(_Strict):
    """The whole file.

    Attributes:
        name: of the tournament, in the store; by default the file's name.
        game: the game; or several under ``games``.
        options: of ``game``.
        games: several games, each with its options.
        entrants: at least as many as each game has players.
        format: "round-robin".
        encounters: for each pairing: one opening each, played in all seat rotations.
        opening_plies: random actions before the bots take over.
        time_control: the time rules.
        limits: what a bot may use.
        workers: matches at a time; by default one for each core.
        rng_seed: everything random follows from it.
        isolation: "auto", or a level that is demanded.
        fresh_bots: launch every bot anew for every match.
    """

    name: str | None = None
    game: str | None = None
    options: dict[str, Any] = {}
    games: list[GameTable] = []
    entrants: Annotated[list[EntrantTable], Field(min_length=2)]
    format: str = "round-robin"
    encounters: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    opening_plies: Annotated[int, Field(ge=0, le=1000)] = 2
    time_control: TimeControlTable = TimeControlTable(per_action_seconds=1.0)
    limits: LimitsTable = LimitsTable()
    workers: Annotated[int, Field(ge=1, le=1024)] | None = None
    rng_seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    isolation: str = "auto"
    fresh_bots: bool = False


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

    def what_decides(self) -> dict[str, Any]:
        """Return everything that results depend on, as JSON types: two definitions that agree are one tournament."""
        values = asdict(self)
        for name in ("name", "workers"):
            del values[name]
        for entrant in values["entrants"]:
            entrant["args"] = list(entrant.pop("command"))[1:]
            del entrant["directory"], entrant["games"], entrant["own_files"]
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain

    def places(self) -> dict[str, Any]:
        """Return where the bots are and how they are launched, as JSON types: kept for launching them again."""
        return {
            bot.name: {"command": [*bot.command], "directory": bot.directory, "own_files": [*bot.own_files]}
            for bot in self.entrants
        }

    def renamed(self, name: str) -> Definition:
        """Return the same tournament under another name."""
        check_tournament_name(name, "name")
        return replace(self, name=name)


def load_definition(path: str | os.PathLike[str], find_bot: FindBot | None = None) -> Definition:
    """Read and check a tournament file.

    Args:
        path: the TOML file.
        find_bot: finds submitted bots; without it, entrants are paths.

    Raises:
        DefinitionError: with every fault, each with its place, value and what is accepted.
    """
    path = Path(path)
    file = check_model(TournamentFile, read_toml(path, DefinitionError), path, DefinitionError)
    faults: list[str] = []
    definition = _Builder(file, path, find_bot, faults).build()
    if faults:
        raise DefinitionError(f"{path}: " + "; ".join(faults))
    return definition


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
            known = " or ".join(repr(known) for known in FORMATS)
            self._faults.append(f"format = {file.format!r}: accepted is {known}")
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
            if any(bot.name == other.name for other in bots):
                self._faults.append(
                    f"entrants[{number}].name = {bot.name!r}: another entrant has this name;"
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
    """Return the bot that ``text`` names: a path from ``base``, or a submitted ``name`` or ``name@version``.

    Raises:
        UsageError: if there is no such bot.
    """
    path = base / text
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
