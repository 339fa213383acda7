"""What a tournament file may contain: its tables, keys and defaults, and the type of each value.

``definition.py`` checks what the values mean together.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from arena.checked import without_nul
from arena.enums import ClockKind, OffTurn
from arena.limit import Limit, Unit
from arena.records import LIMITS, MEBIBYTE

Seconds = Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)]
SecondsOrZero = Annotated[float, Field(ge=0, le=86400, allow_inf_nan=False)]


_SIZE = re.compile(r"\s*(\d+)\s*(bytes|KiB|MiB|GiB)\s*")
_UNITS = {"bytes": 1, "KiB": 1024, "MiB": MEBIBYTE, "GiB": 1024 * MEBIBYTE}


def _size(value: Any) -> Any:
    """Turn "512 MiB" into a number; leave the rest for the checks that follow."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ValueError('expected a number of bytes, or a text such as "64 KiB", "512 MiB", "2 GiB"')
    return int(match[1]) * _UNITS[match[2]]


Argument = Annotated[str, AfterValidator(without_nul)]
_IN_WORDS: dict[str, Any] = {"unit": "bytes", "or": 'or a text such as "512 MiB"'}
_READS_SIZES = BeforeValidator(_size)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TimeControlTable(_Strict):
    """``[time_control]``: at least one of the first two; see ``arena.records.TimeControl``."""

    per_action_seconds: Seconds | None = None
    bank_seconds: Seconds | None = None
    increment_seconds: SecondsOrZero = 0.0
    startup_seconds: Seconds = 10.0
    margin_seconds: SecondsOrZero = 0.1
    clock: Annotated[ClockKind, Field(strict=False)] = ClockKind.WALL
    off_turn: Annotated[OffTurn, Field(strict=False)] = OffTurn.AUTO

    @model_validator(mode="after")
    def _has_a_limit(self) -> TimeControlTable:
        if self.per_action_seconds is None and self.bank_seconds is None:
            raise ValueError("needs per_action_seconds or bank_seconds")
        return self


def _key_of(limit: Limit) -> tuple[Any, Any]:
    """Return the type and the default of a limit's key in ``[limits]``."""
    kind: Any = Annotated[int, Field(ge=limit.minimum, le=limit.maximum)]
    if limit.unit is Unit.BYTES:
        kind = Annotated[int, Field(ge=limit.minimum, le=limit.maximum, json_schema_extra=_IN_WORDS), _READS_SIZES]
    elif limit.unit is Unit.SECONDS:
        kind = Annotated[float, Field(gt=limit.minimum, le=limit.maximum, allow_inf_nan=False)]
    return kind | None if limit.default is None else kind, limit.default


if TYPE_CHECKING:
    LimitsTable = _Strict  # a model created at run time is no type for a type checker
else:
    LimitsTable = create_model(
        "LimitsTable",
        __base__=_Strict,
        __doc__='``[limits]``: see ``arena.records.Limits``. Sizes are numbers of bytes, or texts such as "512 MiB".',
        **{name: _key_of(limit) for name, limit in LIMITS.items()},
    )


class GameTable(_Strict):
    """``[[games]]``: a game and its options."""

    game: str
    options: dict[str, Any] = {}


class EntrantTable(_Strict):
    """``[[entrants]]``: a path (from the file's directory), ``arena:NAME``, or a submitted ``name[@version]``."""

    bot: Argument
    name: str | None = None
    args: list[Argument] = []


class RoundRobinTable(_Strict):
    """``[round_robin]``: how many groups meet, in games of three or more; by default all there are."""

    groups: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class GauntletTable(_Strict):
    """``[gauntlet]``: the names of the entrants who meet all others."""

    challengers: Annotated[list[str], Field(min_length=1)]


class SwissTable(_Strict):
    """``[swiss]``: by default as many rounds as tell a single winner, and the order of tie-breaks below."""

    rounds: Annotated[int, Field(ge=1, le=10_000)] | None = None
    tie_breaks: Annotated[list[Literal["BH", "BH-C1", "SB", "DE", "WON"]], Field(min_length=1)] | None = None


class KnockoutTable(_Strict):
    """``[knockout]``: see ``formats/knockout.py``."""

    seeding: Literal["entrants", "random"] | None = None
    tie_encounters: Annotated[int, Field(ge=0, le=1000)] = 3


class LadderTable(_Strict):
    """``[ladder]``: when it stops; without any of these when it is stopped."""

    matches: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    margin_95: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] | None = None
    hours: Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)] | None = None


class TournamentFile(_Strict):
    """The whole file.

    Attributes:
        name: of the tournament, in the store; by default the file's name.
        game: the game; or several under ``games``.
        options: of ``game``.
        games: several games, each with its options.
        entrants: at least as many as each game has players.
        format: "round-robin", "gauntlet", "swiss", "knockout" or "ladder".
        round_robin, gauntlet, swiss, knockout, ladder: settings of the format.
        encounters: for each pairing: one opening each, played in all seat rotations; in a knockout the best of so many.
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
    round_robin: RoundRobinTable | None = None
    gauntlet: GauntletTable | None = None
    swiss: SwissTable | None = None
    knockout: KnockoutTable | None = None
    ladder: LadderTable | None = None
    encounters: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    opening_plies: Annotated[int, Field(ge=0, le=1000)] = 2
    time_control: TimeControlTable = TimeControlTable(per_action_seconds=1.0)
    limits: LimitsTable = LimitsTable()
    workers: Annotated[int, Field(ge=1, le=1024)] | None = None
    rng_seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    isolation: str = "auto"
    fresh_bots: bool = False

    def format_settings(self) -> dict[str, Any]:
        """Return the settings of the format that is chosen."""
        table = getattr(self, _key(self.format), None)
        if table is None:
            table = _TABLES[self.format]() if self.format in _TABLES else None
        values: dict[str, Any] = table.model_dump(exclude_none=True) if table is not None else {}
        return values

    def needless_tables(self) -> list[str]:
        """Return the tables of formats that are not chosen."""
        keys = ("round_robin", "gauntlet", "swiss", "knockout", "ladder")
        return [key for key in keys if getattr(self, key) is not None and key != _key(self.format)]


_TABLES: dict[str, type[_Strict]] = {"knockout": KnockoutTable}
"""Formats whose settings have defaults."""


def _key(format_name: str) -> str:
    return format_name.replace("-", "_")
