"""From a tournament in the store to its report: one HTML page, what everybody wants to know first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from arena.analysis.bot_times import bot_times
from arena.analysis.encounters import count_encounters
from arena.analysis.game_statistics import cross_check, game_statistics
from arena.analysis.rating_history import mu_histories
from arena.analysis.schedule_balance import schedule_balance
from arena.analysis.standings import Standings, crosstable
from arena.analysis.standings_cache import standings_of
from arena.home import ArenaHome
from arena.records import MatchRecord
from arena.report.bot_sections import BotSections, FaultsSeen, bot_anchors
from arena.report.corrections_table import corrections_table
from arena.report.crosstable_section import crosstable_section
from arena.report.html_page import Section, html_page
from arena.report.html_table import html_table
from arena.report.markup import text
from arena.report.match_choice import MatchChoice
from arena.report.match_section import COLUMNS as MATCH_COLUMNS
from arena.report.match_section import MatchSection
from arena.report.method_section import method_section
from arena.report.page_charts import HistoryChart
from arena.report.rounds_section import rounds_sections
from arena.report.standings_footer import standings_footer
from arena.report.standings_section import CHART, progress, standings_section, subtitle
from arena.report.standings_table import BALANCE_COLUMNS, standings_table
from arena.report.statistics_tables import STATS_TITLES, stats_sentences, stats_tables
from arena.report.tables import Column, Row
from arena.report.verdict import verdict
from arena.store.store import Store
from arena.store.values import StoredTournament
from arena.tournament.rounds import ranking_of

_Table = tuple[str, str, Sequence[Column], Sequence[Row]]
"""A heading, a sentence about the table, its columns and its rows."""


def tournament_page(home: ArenaHome, tournament: StoredTournament, max_matches: int | None = None) -> str:
    """Return the report of a tournament.

    Args:
        home: where the tournament is.
        tournament: the tournament.
        max_matches: how many matches can be replayed in it; None for as many as a page of about 2 MB can have.
    """
    store = home.store
    table = standings_of(store, tournament.name, cache_directory=home.cache_directory)
    encounters = count_encounters(store.results(tournament))
    choice, faults = MatchChoice(), FaultsSeen()
    times = bot_times(_noted(store.records(tournament), choice, faults))
    check = cross_check(encounters, table)
    scores = crosstable(encounters)
    ranking = ranking_of(store, tournament)
    anchors = bot_anchors(table)
    matches = MatchSection(store, tournament, choice.ordered(), max_matches)
    chart = HistoryChart(mu_histories(store, tournament, table.shown_names))
    entrants = tournament.definition.entrants
    bots = BotSections(tournament.name, table, entrants, scores, times, faults, chart, matches.numbers)
    more = [_balance(store, tournament), *_corrections(store, tournament)]
    tables = _tables(table, stats_tables(table, game_statistics(encounters), check, times), more)
    columns = [CHART, *(column for *_, columns, _ in tables for column in columns), *MATCH_COLUMNS]
    sections = [
        *rounds_sections(store, tournament, anchors),
        Section(anchor="crosstable", title="Crosstable", body=crosstable_section(scores, table, anchors)),
        Section(anchor="bots", title="Bots", body=bots.html()),
        Section(anchor="matches", title="Matches", body=matches.html(anchors, choice.first_to_open(table.shown_names))),
        Section(anchor="numbers", title="All numbers", body="\n".join(_table_body(one, anchors) for one in tables)),
        Section(
            anchor="method",
            title="Method",
            body=method_section(tournament, stats_sentences(table, check), columns),
        ),
    ]
    header = (
        f'{subtitle(tournament)}<p class="verdict">{text(verdict(table))}</p>{progress(tournament)}'
        f'<section id="standings" aria-label="Standings">{standings_section(table, ranking, anchors)}</section>'
    )
    return html_page(tournament.name, header, sections)


def _noted(records: Iterable[MatchRecord], choice: MatchChoice, faults: FaultsSeen) -> Iterator[MatchRecord]:
    """Yield all records, each of which is read only once."""
    for record in records:
        choice.add(record)
        faults.add(record)
        yield record


def _tables(
    table: Standings, statistics: Mapping[str, tuple[Sequence[Column], Sequence[Row]]], more: Sequence[_Table]
) -> list[_Table]:
    """Return the tables of all numbers, without those that say nothing."""
    tables: list[_Table] = [("Ratings and points", standings_footer(table), *standings_table(table))]
    for name, (columns, rows) in statistics.items():
        if rows and (name != "nash" or table.consistency.is_flagged):
            tables.append((*STATS_TITLES[name], columns, rows))
    return [*tables, *more]


def _balance(store: Store, tournament: StoredTournament) -> _Table:
    names = list(tournament.definition.shown_names.values())
    lines = schedule_balance(store.schedule(tournament), tournament.games, names)
    about = "How far the worst count is from what would be fair, in matches."
    return "Schedule balance", about, BALANCE_COLUMNS, [asdict(line) for line in lines]


def _corrections(store: Store, tournament: StoredTournament) -> Iterator[_Table]:
    if tournament.corrections:
        set_aside = {
            c.number: store.corrections.set_aside_matches(tournament, c.number) for c in tournament.corrections
        }
        yield "Corrections", "What a director has corrected.", *corrections_table(tournament.corrections, set_aside)


def _table_body(table: _Table, anchors: Mapping[str, str]) -> str:
    title, about, columns, rows = table
    sorted_by = "rank" if any(column.key == "rank" for column in columns) else ""
    return (
        f'<h3 id="numbers-{title.lower().replace(" ", "-")}">{text(title)}</h3><p>{text(about)}</p>'
        f"{html_table(columns, rows, title.lower(), anchors, sorted_by=sorted_by)}"
    )
