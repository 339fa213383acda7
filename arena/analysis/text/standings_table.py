"""Standings, crosstables and final rankings as columns and rows, and as data frames."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import singledispatch
from importlib import import_module
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from arena.analysis.measures.game_statistics import Crosstable, Score
from arena.analysis.measures.standings import Standings
from arena.analysis.text.standings_columns import flat_table, standings_columns
from arena.analysis.text.tables import Column, Row
from arena.base.bot_text import OPERATOR, BotText
from arena.base.errors import UnknownNameError, UsageError
from arena.base.records import MatchRecord
from arena.base.text import halves_text
from arena.base.until import Decided
from arena.store.results.match_records import Records
from arena.store.results.rows import as_json
from arena.tournament.formats.format import Placing


def standings_table(table: Standings, formatted: bool = True) -> tuple[list[Column], list[Row]]:
    """Return standings as columns, and a row for each bot; values as people read them, otherwise as JSON types."""
    columns = [column for column in standings_columns(table.players) if column.is_shown or not formatted]
    rows: list[Row] = [
        {column.key: column.formatted(column.value(line)) if formatted else column.value(line) for column in columns}
        for line in table.lines
    ]
    shown = [column.column for column in columns]
    if table.odds and not formatted:
        shown.append(Column("time_control", "time_control"))
        for line, row in zip(table.lines, rows, strict=True):
            control = table.odds.get(line.label)
            row["time_control"] = control and dataclasses.asdict(control)
    if table.decided is not None and not formatted:
        shown += [Column(key, key) for key in ("decided", "stopped_because", "claims", "open")]
        for line, row in zip(table.lines, rows, strict=True):
            row |= _decided_of(table.decided, line.label)
    return shown, rows


def _decided_of(decided: Decided, label: str) -> Row:
    about = {
        key: [dataclasses.asdict(claim) for claim in claims if label in (claim.bot, claim.rival)]
        for key, claims in (("claims", decided.claims), ("open", decided.open))
    }
    return {"decided": decided.decided, "stopped_because": decided.stopped_because, **about}


def flat_standings_table(table: Standings) -> tuple[list[Column], list[Row]]:
    """Return standings for CSV: in every cell a number, a text, true or false."""
    return flat_table(table.players, table.lines, lambda column, line: column.value(line))


def crosstable_table(
    scores: Mapping[tuple[str, str], Score], names: Mapping[str, str], formatted: bool = True, points_only: bool = False
) -> tuple[list[Column], list[Row]]:
    """Return the crosstable: each bot's points against each rival.

    Args:
        names: the name to show of each bot, in the order of the standings.
        formatted: cells as ``points/matches``; otherwise as JSON types.
        points_only: formatted cells are only points, with ½.
    """
    columns = [Column("rank", "#"), Column("bot", "bot", is_number=False)]
    columns += [Column(f"against_{number}", str(number), is_parted=True) for number in range(1, len(names) + 1)]
    columns.append(Column("points", "points", 1, drop_order=1))
    totals: dict[str, float] = {}  # against everybody, also those without a line
    for (bot, _), score in scores.items():
        totals[bot] = totals.get(bot, 0.0) + score[0]
    rows = []
    for number, (bot, name) in enumerate(names.items(), 1):
        row: Row = {"rank": number, "bot": name, "points": totals.get(bot, 0.0)}
        for column, (rival, rival_name) in enumerate(names.items(), 1):
            points, matches = scores.get((bot, rival), (0.0, 0))
            shown = halves_text(points) if points_only else f"{points:g}/{matches}"
            text = shown if matches else ("-" if bot == rival else "")
            value = {"bot": rival_name, "points": points, "matches": matches} if matches else None
            row[f"against_{column}"] = text if formatted else value
        rows.append(row)
    return columns, rows


def ranking_table(ranking: Sequence[tuple[str, Placing]]) -> tuple[list[Column], list[Row]]:
    """Return the table of a format that ranks by itself, such as a Swiss, from names and placings."""
    keys = list(ranking[0][1].values) if ranking else []
    columns = [Column("place", "place"), Column("bot", "bot", is_number=False)]
    columns += [
        Column(_snake_case(key), key.replace("_", " "), _decimals(ranking, key), drop_order=number)
        for number, key in enumerate(keys, 1)
    ]
    rows: list[Row] = [
        {"place": placing.rank, "bot": name, **{_snake_case(key): placing.values[key] for key in keys}}
        for name, placing in ranking
    ]
    return columns, rows


def _snake_case(key: str) -> str:
    return key.lower().replace("-", "_")


def _decimals(ranking: Sequence[tuple[str, Placing]], key: str) -> int | None:
    values = [placing.values[key] for _, placing in ranking]
    if all(float(value).is_integer() for value in values):
        return 0 if any(isinstance(value, float) for value in values) else None
    return 2 if any(4 * value % 2 for value in values) else 1


# Tables as data frames. Neither pandas nor polars is needed before a frame is asked for.

Types = Mapping[str, Any]
"""The type of each column, as in an annotation; ``Any`` for what depends on the game or the bot."""

_PANDAS_TYPES = {int: "int64", float: "float64", bool: "bool", str: "str"}


class Frame(NamedTuple):
    """A table for a data frame: the type of each column, and rows with a value for each column."""

    types: Types
    rows: Iterable[Mapping[str, Any]]


@singledispatch
def frame_of(value: Any) -> Frame:
    """Return a value as a table for a data frame."""
    raise NotImplementedError(type(value).__name__)


@frame_of.register
def _standings_frame(value: Standings) -> Frame:
    types = {
        key: int if column.kind is dict else column.kind
        for column in standings_columns(value.players)
        for key in column.flat or (column.key,)
    }
    return Frame(types, flat_standings_table(value)[1])


@frame_of.register
def _crosstable_frame(value: Crosstable) -> Frame:
    names = value.shown_names
    rows = (
        {"rank": rank, "bot": bot, "rival": rival_name, **score._asdict()}
        for rank, (label, bot) in enumerate(names.items(), 1)
        for rival, rival_name in names.items()
        if (score := value.scores.get((label, rival))) is not None
    )
    return Frame({"rank": int, "bot": str, "rival": str, "points": float, "matches": int}, rows)


@frame_of.register
def _records_frame(value: Records) -> Frame:
    rare = ("left_out", "settled", "shares_cores", "time_controls")
    hints = {name: hint for name, hint in get_type_hints(MatchRecord).items() if not name.startswith(rare)}
    return Frame(hints, (record.to_json(OPERATOR) for record in value))


def to_pandas(value: Any, columns: Sequence[str] | None = None) -> Any:
    """Return a table as a ``pandas.DataFrame``; see ``arena.base.display.Tabular``."""
    pandas = _import("pandas")
    chosen, data = _chosen(frame_of(value), columns)
    return pandas.DataFrame({key: pandas.Series(data[key], dtype=_pandas_type(kind)) for key, kind in chosen.items()})


def to_polars(value: Any, columns: Sequence[str] | None = None) -> Any:
    """Return a table as a ``polars.DataFrame``; see ``arena.base.display.Tabular``."""
    polars = _import("polars")
    chosen, data = _chosen(frame_of(value), columns)
    schema = {key: _polars_type(polars, kind) for key, kind in chosen.items()}
    texts = {key: [as_json(cell) for cell in data[key]] for key, kind in chosen.items() if _is_open(kind)}
    return polars.DataFrame(data | texts, schema=schema)


def _import(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise UsageError(f"{package} is not installed here; install it with: pip install {package}") from error


def _chosen(frame: Frame, columns: Sequence[str] | None) -> tuple[Types, dict[str, list[Any]]]:
    for column in columns or ():
        if column not in frame.types:
            raise UnknownNameError("column", column, frame.types)
    types = frame.types if columns is None else {column: frame.types[column] for column in columns}
    data: dict[str, list[Any]] = {key: [] for key in types}
    for row in frame.rows:
        for key, cells in data.items():
            cells.append(_plain(row[key]))
    return types, data


def _plain(cell: Any) -> Any:
    if isinstance(cell, Enum):
        return cell.value
    return list(cell) if isinstance(cell, tuple) else cell


def _type_and_nullability(kind: Any) -> tuple[Any, bool]:
    if get_origin(kind) is BotText:
        return _type_and_nullability(get_args(kind)[0])
    if get_origin(kind) not in (Union, types.UnionType):
        return kind, False
    options = [option for option in get_args(kind) if option is not types.NoneType]
    plain = float if set(options) == {int, float} else options[0] if len(options) == 1 else Any
    return plain, type(None) in get_args(kind)


def _pandas_type(kind: Any) -> str:
    plain, may_be_null = _type_and_nullability(kind)
    if isinstance(plain, type) and issubclass(plain, Enum):
        plain = str
    if plain is int and may_be_null:
        return "Int64"
    return _PANDAS_TYPES.get(plain, "object")


def _polars_type(polars: Any, kind: Any) -> Any:
    plain, _ = _type_and_nullability(kind)
    if get_origin(plain) is tuple and not _is_open(plain):
        return polars.List(_polars_type(polars, get_args(plain)[0]))
    if dataclasses.is_dataclass(plain) and isinstance(plain, type):
        fields = get_type_hints(plain)
        return polars.Struct(
            {field.name: _polars_type(polars, fields[field.name]) for field in dataclasses.fields(plain)}
        )
    simple_types = {int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    return simple_types.get(plain, polars.String)


def _is_open(kind: Any) -> bool:
    """Return whether values of a type have no fixed form, so that polars gets them as JSON text."""
    plain, _ = _type_and_nullability(kind)
    if get_origin(plain) is tuple:
        return _is_open(get_args(plain)[0])
    return plain is Any or get_origin(plain) in (Mapping, Sequence)
