"""From a tournament in the store to its report: one HTML page, what everybody wants to know first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from arena.analysis.bot_times import bot_times
from arena.analysis.crosstable import Score, crosstable
from arena.analysis.encounters import count_encounters
from arena.analysis.game_statistics import cross_check, game_statistics
from arena.analysis.rating_history import mu_histories
from arena.analysis.standings import Standings
from arena.analysis.standings_cache import standings_of
from arena.home import ArenaHome
from arena.records import MatchRecord
from arena.report.bot_sections import BotSections, FaultsSeen, bot_anchors
from arena.report.heat_table import heat_table, left_out, score_cell
from arena.report.html_page import Section, html_page
from arena.report.markup import linked, text
from arena.report.match_choice import MatchChoice
from arena.report.match_section import COLUMNS as MATCH_COLUMNS
from arena.report.match_section import MatchSection
from arena.report.method_section import method_section
from arena.report.numbers_section import numbers_section, numbers_tables
from arena.report.page_charts import HistoryChart
from arena.report.rounds_section import rounds_sections
from arena.report.standings_section import CHART, progress, standings_section, subtitle
from arena.report.standings_table import ranking_table
from arena.report.statistics_tables import stats_sentences
from arena.report.verdict import verdict
from arena.store.values import StoredTournament
from arena.tournament.rounds import ranking_of


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
    tables = [*numbers_tables(store, tournament, table, game_statistics(encounters), check, times)]
    own = ranking_table(ranking)[0] if ranking else []
    columns = [*own, *(column for one in tables for column in one.columns), CHART, *MATCH_COLUMNS]
    sections = [
        *rounds_sections(store, tournament, anchors),
        Section(anchor="crosstable", title="Crosstable", body=_crosstable(scores, table, anchors)),
        Section(anchor="bots", title="Bots", body=bots.html()),
        Section(anchor="matches", title="Matches", body=matches.html(anchors, choice.first_to_open(table.shown_names))),
        Section(anchor="numbers", title="All numbers", body=numbers_section(tables, table, anchors)),
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


def _crosstable(scores: Mapping[tuple[str, str], Score], table: Standings, anchors: Mapping[str, str]) -> str:
    bots = table.lines
    heat = heat_table(
        "crosstable",
        [line.bot for line in bots],
        lambda bot: linked(bot, anchors),
        lambda row, column: score_cell(scores.get((bots[row].label, bots[column].label))),
    )
    return (
        '<p class="legend">Points per match in percent, the row against the column: green above half, rust below, no'
        f" colour at half.{left_out(len(bots), 'arena crosstable')}</p>{heat}"
    )
