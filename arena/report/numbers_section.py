"""The section of the report with all numbers: ratings and points, statistics, schedule balance, corrections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from arena.analysis.bot_times import BotTimes
from arena.analysis.game_statistics import CrossCheck, GameStatistics
from arena.analysis.schedule_balance import schedule_balance
from arena.analysis.standings import Standings
from arena.report.corrections_table import corrections_table
from arena.report.heat_table import heat_table, left_out, probability_cell
from arena.report.html_table import html_table
from arena.report.markup import linked, text
from arena.report.standings_footer import standings_footer
from arena.report.standings_table import standings_table
from arena.report.statistics_tables import BALANCE_COLUMNS, STATS_TITLES, stats_tables
from arena.report.tables import Column, Row
from arena.store.store import Store
from arena.store.values import StoredTournament

BETTER = "better"
"""The table of probabilities that one bot is better than another, which is a heat map here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersTable:
    """A table of the section.

    Attributes:
        title: its heading.
        about: a sentence about it.
        columns: in order.
        rows: in order.
    """

    title: str
    about: str
    columns: Sequence[Column]
    rows: Sequence[Row]

    @property
    def anchor(self) -> str:
        """The id of its heading."""
        return f"numbers-{self.title.lower().replace(' ', '-')}"


def numbers_tables(
    store: Store,
    tournament: StoredTournament,
    table: Standings,
    games: Sequence[GameStatistics],
    check: CrossCheck,
    times: Sequence[BotTimes],
) -> Iterator[NumbersTable]:
    """Yield the tables, without those that say nothing."""
    columns, rows = standings_table(table)
    yield NumbersTable(title="Ratings and points", about=standings_footer(table), columns=columns, rows=rows)
    for name, (columns, rows) in stats_tables(table, games, check, times).items():
        if rows and (name != "nash" or table.consistency.is_flagged):
            title, about = STATS_TITLES[name]
            yield NumbersTable(title=title, about=about, columns=columns, rows=rows)
    names = list(tournament.definition.shown_names.values())
    lines = schedule_balance(store.schedule(tournament), tournament.games, names)
    yield NumbersTable(
        title="Schedule balance",
        about="How far the worst count is from what would be fair, in matches.",
        columns=BALANCE_COLUMNS,
        rows=[asdict(line) for line in lines],
    )
    if log := tournament.corrections:
        logged, rows = corrections_table(log, store.corrections.set_aside_counts(tournament))
        yield NumbersTable(title="Corrections", about="What a director has corrected.", columns=logged, rows=rows)


def numbers_section(tables: Sequence[NumbersTable], table: Standings, anchors: Mapping[str, str]) -> str:
    """Return the section.

    Args:
        tables: in order.
        table: the standings.
        anchors: the sections of bots, by the name that tables show.
    """
    return "\n".join(
        _better(one, table, anchors) if one.title == STATS_TITLES[BETTER][0] else _table(one, anchors) for one in tables
    )


def _table(one: NumbersTable, anchors: Mapping[str, str]) -> str:
    sorted_by = "rank" if any(column.key == "rank" for column in one.columns) else ""
    body = html_table(one.columns, one.rows, one.title.lower(), anchors, sorted_by=sorted_by)
    return f'<h3 id="{one.anchor}">{text(one.title)}</h3><p>{text(one.about)}</p>{body}'


def _better(one: NumbersTable, table: Standings, anchors: Mapping[str, str]) -> str:
    number = {label: number for number, label in enumerate(table.fitted.names)}

    def cell(row: int, column: int) -> tuple[float, str, str] | None:
        bot, rival = (number.get(table.lines[k].label) for k in (row, column))
        if row == column or bot is None or rival is None:
            return None
        return probability_cell(table.fitted.los_between(bot, rival))

    bots = [line.bot for line in table.lines]
    about = f"{one.about} In percent.{left_out(len(bots), 'arena stats')}"
    body = heat_table(one.title.lower(), bots, lambda bot: linked(bot, anchors), cell)
    return f'<h3 id="{one.anchor}">{text(one.title)}</h3><p>{text(about)}</p>{body}'
