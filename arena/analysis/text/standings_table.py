"""Standings, crosstables and final rankings as columns and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.analysis.measures.crosstable import Score
from arena.analysis.measures.standings import Standings
from arena.analysis.text.standings_columns import flat_table, standings_columns
from arena.analysis.text.tables import Column, Row
from arena.tournament.formats.format import Placing


def standings_table(table: Standings, formatted: bool = True) -> tuple[list[Column], list[Row]]:
    """Return standings as columns, and a row for each bot.

    Args:
        table: the standings.
        formatted: values as people read them; otherwise as JSON types.
    """
    columns = [column for column in standings_columns(table.players) if column.is_shown or not formatted]
    rows: list[Row] = [
        {column.key: column.formatted(column.value(line)) if formatted else column.value(line) for column in columns}
        for line in table.lines
    ]
    return [column.column for column in columns], rows


def flat_standings_table(table: Standings) -> tuple[list[Column], list[Row]]:
    """Return standings for CSV: in every cell a number, a text, true or false."""
    return flat_table(table.players, table.lines, lambda column, line: column.value(line))


def crosstable_table(
    scores: Mapping[tuple[str, str], Score], names: Mapping[str, str], formatted: bool = True, points_only: bool = False
) -> tuple[list[Column], list[Row]]:
    """Return the crosstable: each bot's points against each rival.

    Args:
        scores: by (bot, rival).
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
            shown = _halves_text(points) if points_only else f"{points:g}/{matches}"
            text = shown if matches else ("-" if bot == rival else "")
            value = {"bot": rival_name, "points": points, "matches": matches} if matches else None
            row[f"against_{column}"] = text if formatted else value
        rows.append(row)
    return columns, rows


def _halves_text(points: float) -> str:
    """Return points as ``2½``."""
    whole = int(points)
    return f"{whole or ''}½" if points > whole else str(whole)


def ranking_table(ranking: Sequence[tuple[str, Placing]]) -> tuple[list[Column], list[Row]]:
    """Return the table of a format that ranks by itself, such as a Swiss.

    Args:
        ranking: the name to show of each entrant, and its placing.
    """
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
