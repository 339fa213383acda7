"""What a tournament file may contain: its tables, keys and defaults, and variants of bots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from arena.base.checked_files import without_nul
from arena.base.enums import ClockKind, OffTurn
from arena.base.errors import DefinitionError
from arena.base.limits import Limit, Unit
from arena.base.records import DEFAULT_PLY_LIMIT, LIMITS, MAX_PLY_LIMIT, MEBIBYTE
from arena.base.text import shortened_text
from arena.base.until import RANGES
from arena.tournament.formats.format import DEFAULT_FORMAT, FORMATS, table_key

# Variants of a bot: lists of values in its arguments, of which each value enters once.
#
# ``args = ["--rollouts", "{10,30,100}"]`` enters three bots. Braces around anything else, such as JSON, are left as
# they are, and ``{{10,30,100}}`` stands for the text ``{10,30,100}``.

MAX_VARIANTS = 100
"""The most variants of one entrant. A table of more is hard to read, and the matches grow with the square."""

_MANY = 10**15

_BRACES = re.compile(r"\{\{([^{}]*)\}\}|\{([^{}]*)\}")
_LIST = re.compile(r"[\sA-Za-z0-9_.+-]*+(?:,[\sA-Za-z0-9_.+-]*+)++")


@dataclass(frozen=True, slots=True)
class Variant:
    """A bot's arguments with one value of each list."""

    args: tuple[str, ...]
    values: tuple[str, ...]

    def named(self, name: str) -> str:
        """Return the name of a bot followed by the chosen values."""
        return " ".join((name, *self.values))


def variants_of(args: Sequence[str]) -> list[Variant]:
    """Return the variants of a bot in the order of the lists, the last list changing fastest; one without lists."""
    parts = [_parts(arg, f"args[{number}] = {shortened_text(arg)!r}") for number, arg in enumerate(args)]
    lists = [part for arg in parts for part in arg if isinstance(part, tuple)]
    count = prod(len(values) for values in lists)
    if count > MAX_VARIANTS:
        how_many = f"{count:,}" if count < _MANY else "too many"
        raise DefinitionError(f"args: the lists in braces make {how_many} variants; expected at most {MAX_VARIANTS}")
    return [Variant(_filled(parts, values), values) for values in product(*lists)]


def has_lists(args: Sequence[str]) -> bool:
    """Return whether there is a list of values in a bot's arguments."""
    return any(braces[2] is not None and _LIST.fullmatch(braces[2]) for arg in args for braces in _BRACES.finditer(arg))


def _parts(arg: str, where: str) -> list[str | tuple[str, ...]]:
    parts: list[str | tuple[str, ...]] = []
    end = 0
    for braces in _BRACES.finditer(arg):
        if _LIST.fullmatch(braces[1] if braces[2] is None else braces[2]):
            parts += [arg[end : braces.start()], braces[0][1:-1] if braces[2] is None else _values(braces[2], where)]
            end = braces.end()
    return [*parts, arg[end:]]


def _values(text: str, where: str) -> tuple[str, ...]:
    values = tuple(value.strip() for value in text.split(","))
    if len(values) > MAX_VARIANTS:
        raise DefinitionError(f"{where}: the list has {len(values):,} values; expected at most {MAX_VARIANTS}")
    if "" in values:
        raise DefinitionError(f"{where}: a value is missing between the commas")
    for value in values:
        if values.count(value) > 1:
            raise DefinitionError(f"{where}: the value {value!r} appears twice")
    return values


def _filled(parts: Sequence[Sequence[str | tuple[str, ...]]], values: Sequence[str]) -> tuple[str, ...]:
    chosen = iter(values)
    return tuple("".join(part if isinstance(part, str) else next(chosen) for part in arg) for arg in parts)


# ``definition.py`` checks what the values mean together.

Seconds = Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)]
SecondsOrZero = Annotated[float, Field(ge=0, le=86400, allow_inf_nan=False)]


MAX_OPENING_PLIES = 1000

_SIZE = re.compile(r"\s*([0-9]+)\s*(bytes|KiB|MiB|GiB)\s*")
_UNITS = {"bytes": 1, "KiB": 1024, "MiB": MEBIBYTE, "GiB": 1024 * MEBIBYTE}


def _size(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ValueError('expected a number of bytes, or a text such as "64 KiB", "512 MiB", "2 GiB"')
    return int(match[1]) * _UNITS[match[2]]


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError('expected a folder, a pattern such as "submissions/*", or an archive')
    return text


def _openings(value: Any) -> Any:
    if not isinstance(value, str | dict | None):
        raise ValueError('expected the path of a book, or a table such as { plies = 3, choose = "information" }')
    return {"book": value} if isinstance(value, str) else value


Argument = Annotated[str, AfterValidator(without_nul)]
Collection = Annotated[Argument, AfterValidator(_not_empty)]
_IN_WORDS: dict[str, Any] = {"unit": "bytes", "or": 'or a text such as "512 MiB"'}
_READS_SIZES = BeforeValidator(_size)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class EntrantTime(_Strict):
    """``time_control`` of an entrant: at least one of the first two; everything else is as in ``[time_control]``."""

    per_action_seconds: Seconds | None = None
    bank_seconds: Seconds | None = None
    increment_seconds: SecondsOrZero = 0.0

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if self.per_action_seconds is None and self.bank_seconds is None:
            raise ValueError("needs per_action_seconds or bank_seconds")
        return self


class TimeControlTable(EntrantTime):
    """``[time_control]``: at least one of the first two; see ``arena.base.records.TimeControl``."""

    startup_seconds: Seconds = 10.0
    margin_seconds: SecondsOrZero = 0.1
    clock: Annotated[ClockKind, Field(strict=False)] = ClockKind.WALL
    off_turn: Annotated[OffTurn, Field(strict=False)] = OffTurn.AUTO


def _key_of(limit: Limit) -> tuple[Any, Any]:
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
        __doc__="``[limits]``: see ``arena.base.limits.Limits``. Sizes are numbers of bytes, or texts such as"
        ' "512 MiB".',
        **{name: _key_of(limit) for name, limit in LIMITS.items()},
    )


class GameTable(_Strict):
    """``[[games]]``: a game and its options.

    Attributes:
        game: its name, or ``package.module:Class`` for an external game.
        options: of the game; ``arena games NAME`` lists them.
    """

    game: str
    options: dict[str, Any] = {}


class EntrantTable(_Strict):
    """``[[entrants]]``: a bot.

    Attributes:
        bot: a path from the file's directory, ``arena:NAME`` for an example bot, or ``name[@version]`` of a submitted
            bot.
        name: in this tournament; by default the bot's own.
        args: arguments added to the bot's command. A list in braces, such as "{10,30,100}", enters the bot once with
            each of its values, as ``name 10``, ``name 30`` and ``name 100``.
        time_control: its own time, for odds.
    """

    bot: Argument
    name: str | None = None
    args: list[Argument] = []
    time_control: EntrantTime | None = None


class OpeningsTable(_Strict):
    """``openings``: how the openings are chosen.

    Attributes:
        plies: actions before the bots take over.
        choose: "random"; or "information", for games of two: those openings that tell most about the bots.
        book: in place of both, the openings of a book, for a single game: a path from the file's directory.
            ``openings = "FILE"`` is short for it.
    """

    plies: Annotated[int, Field(ge=1, le=MAX_OPENING_PLIES)] | None = None
    choose: Literal["random", "information"] | None = None
    book: Argument | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> OpeningsTable:
        if (self.plies is None) == (self.book is None) or (self.book is not None and self.choose is not None):
            raise ValueError("expected either plies and choose, or a book")
        return self


def _within(key: str) -> Any:
    """Return the bounds of a key of ``[until]``."""
    low, high = RANGES[key]
    return Field(ge=low, le=high)


class UntilTable(_Strict):
    """``[until]``: play until this is decided, in a round robin or a gauntlet of games for two.

    Attributes:
        decided: "groups": of each two neighbours in rank which is better, or that they are equal; "order": the same,
            where bots are called equal only after looking twice as closely; "first" or "top 3": who is in front of all
            others.
        error: the chance that any claim of the verdict is wrong, however often results are looked at.
        min_encounters: every pair first plays these; with more than 200 bots, pairs of neighbours do.
        indifference: bots closer than this many points of mu are equal.
        max_matches: end after this many matches.
        max_hours: end a run after this time.
    """

    decided: str = "groups"
    error: Annotated[float, _within("error")] = 0.05
    min_encounters: Annotated[int, _within("min_encounters")] = 2
    indifference: Annotated[float, _within("indifference")] = 0.5
    max_matches: Annotated[int, _within("max_matches")] | None = None
    max_hours: Annotated[float, _within("max_hours")] | None = None


class PlayKeys(_Strict):
    """The keys of play, which a tournament file shares with a stage of a contest.

    Attributes:
        format: the name of the format, which may have a table of its own.
        encounters: for each pairing: one opening each, played in all seat rotations.
        opening_plies: random actions before the bots take over.
        openings: in place of ``opening_plies``: how many plies, and how they are chosen.
        ply_limit: a match ends after this many actions, the opening included, ranked by the scores as they stand.
        until: play until this is decided, in place of ``encounters``.
    """

    format: str = DEFAULT_FORMAT
    encounters: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    opening_plies: Annotated[int, Field(ge=0, le=MAX_OPENING_PLIES)] = 2
    openings: BaseModel | None = None
    ply_limit: Annotated[int, Field(ge=1, le=MAX_PLY_LIMIT)] = DEFAULT_PLY_LIMIT
    until: UntilTable | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_table_of_format(cls, values: Any) -> Any:
        """Add the table of the chosen format if it is left out, so that its keys have their defaults."""
        name = values.get("format", DEFAULT_FORMAT) if isinstance(values, dict) else None
        return {table_key(name): {}, **values} if isinstance(name, str) and name in FORMATS else values

    @model_validator(mode="after")
    def _has_one_kind_of_openings(self) -> Self:
        if "opening_plies" in self.model_fields_set and self.openings is not None:
            raise ValueError("opening_plies and openings: expected one of them")
        return self

    @model_validator(mode="after")
    def _ends_in_one_way(self) -> Self:
        if "encounters" in self.model_fields_set and self.until is not None:
            raise ValueError(
                "encounters and until: expected one of them; until.min_encounters is what every pair first plays"
            )
        return self

    def format_settings(self) -> dict[str, Any]:
        """Return the settings of the chosen format; a key without a value is left out."""
        table: BaseModel | None = getattr(self, table_key(self.format), None)
        return {} if table is None else table.model_dump(mode="json", exclude_none=True)

    def tables_of_others(self) -> Iterator[tuple[str, str]]:
        """Yield the keys of tables that belong to other formats, each with what is wrong."""
        for name in FORMATS:
            if name != self.format and getattr(self, table_key(name), None) is not None:
                sentence = f"this table belongs to format = {name!r}, but format = {self.format!r}"
                yield table_key(name), sentence


class CommonKeys(PlayKeys):
    """The whole file, without the tables of formats.

    Attributes:
        name: of the tournament, in the store; by default the file's name.
        game: the game; or several under ``games``.
        options: of ``game``.
        games: several games, each with its options.
        entrants: together with ``entrants_from``, at least as many as each game has players.
        entrants_from: a folder of submissions, a pattern such as "submissions/*" or an archive, from the file's
            directory; or "submitted:PATTERN" or "git:PATH@REF". Every bot in it enters after ``entrants``, by the name
            of its file or folder.
        skip_broken: leave out what ``entrants_from`` names and can't play, and note it as rejected.
        openings: in place of ``opening_plies``: how many plies, and how they are chosen, or a book.
        adjudicate: "settled" ends a match as soon as it is shown that no legal play can change its ranks.
        time_control: the time rules.
        limits: what a bot may use.
        workers: matches at a time; by default one for each core.
        rng_seed: the source of all randomness.
        isolation: "auto", or the level to demand.
        fresh_bots: whether bots are started again for every match.
    """

    name: str | None = None
    game: str | None = None
    options: dict[str, Any] = {}
    games: list[GameTable] = []
    entrants: list[EntrantTable] = []
    entrants_from: Collection | None = None
    skip_broken: bool = False
    openings: Annotated[OpeningsTable | None, BeforeValidator(_openings)] = None
    adjudicate: Literal["settled"] | None = None
    time_control: TimeControlTable = TimeControlTable(per_action_seconds=1.0)
    limits: LimitsTable = LimitsTable()
    workers: Annotated[int, Field(ge=1, le=1024)] | None = None
    rng_seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    isolation: str = "auto"
    fresh_bots: bool = False

    @model_validator(mode="after")
    def _has_entrants(self) -> CommonKeys:
        is_one = len(self.entrants) < 2 and not any(has_lists(table.args) for table in self.entrants)
        if self.entrants_from is None and is_one:
            raise ValueError(
                "entrants: expected at least two [[entrants]] tables, each with a bot such as bot = 'arena:greedy', or"
                " entrants_from"
            )
        if self.skip_broken and self.entrants_from is None:
            raise ValueError("skip_broken: expected together with entrants_from")
        return self


def _table(settings: type[Any]) -> type[_Strict]:
    hints = get_type_hints(settings, include_extras=True)
    keys: dict[str, Any] = {
        part.name: (hints[part.name], ... if part.default is MISSING else part.default) for part in fields(settings)
    }
    return create_model(settings.__name__, __base__=_Strict, __doc__=settings.__doc__, **keys)


FORMAT_TABLES: dict[str, Any] = {
    table_key(name): (_table(kind.Settings) | None, Field(None, description=f"settings of format {name!r}."))
    for name, kind in FORMATS.items()
}
"""The keys of formats, each with a table of its settings."""

TournamentFile: type[CommonKeys] = create_model(
    "TournamentFile", __base__=CommonKeys, __doc__=CommonKeys.__doc__, **FORMAT_TABLES
)
"""The whole file, with a table for each format."""
