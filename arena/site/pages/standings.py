"""Builds standings, crosstables, points of rating histories and what they say."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil

from arena.analysis.measures.game_statistics import game_statistics, pair_scores
from arena.analysis.measures.result_table import ResultTable, read_results
from arena.analysis.measures.standings import SURE, Standing, Standings
from arena.analysis.measures.standings_cache import tournament_standings
from arena.analysis.measures.values import GameStatistics
from arena.analysis.text.standings_columns import percent_text, standings_columns
from arena.analysis.text.standings_table import ranking_table
from arena.analysis.text.verdict import conditions, cycle_text, ranking_verdict, untested_text, verdict
from arena.ratings.environment import ppf
from arena.site.frame.building import marked, sentence
from arena.site.frame.model import Sentence
from arena.site.pages.standings_model import (
    Crosstable,
    CrosstableCell,
    RankedBot,
    Ranking,
    RankingColumn,
    StandingLine,
)
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament
from arena.tournament.formats.format import Placing

# Standings and results of a tournament for pages: the last few are kept, as several pages need them.

MAX_KEPT = 4
"""A tournament of a million matches takes some fifty megabytes."""


_KEPT: OrderedDict[tuple[object, ...], RatedTournament] = OrderedDict()
"""What pages have asked for, the latest last."""


class RatedTournament:
    """The standings and the results of a tournament, as its records stood at the first request."""

    def __init__(self, home: ArenaHome, tournament: StoredTournament) -> None:
        self._home = home
        self.tournament = tournament

    @cached_property
    def table(self) -> Standings:
        """The standings."""
        store, cache = self._home.store, self._home.cache_directory
        return tournament_standings(store, self.tournament, lambda: self.results, cache_directory=cache)

    @cached_property
    def results(self) -> ResultTable:
        """The results as arrays."""
        return read_results(self._home.store, self.tournament, cache_directory=self._home.cache_directory)

    @cached_property
    def statistics(self) -> tuple[GameStatistics, ...]:
        """The statistics of each game that has been played, in alphabetical order."""
        return tuple(game_statistics(self.results))


def rated_tournament(home: ArenaHome, tournament: StoredTournament) -> RatedTournament:
    """Return standings and results of a tournament, computed once for each state of its records and owners of bots."""
    last = tournament.corrections[-1].number if tournament.corrections else 0
    key = (
        *(str(home.directory), home.store.server, tournament.number, tournament.name, tournament.created_at),
        *(tournament.recorded, tournament.scheduled, tournament.finished_at, last),
        tuple(map(tournament.owners.authorship, tournament.definition.entrants)),
    )
    if key not in _KEPT:
        _KEPT[key] = RatedTournament(home, tournament)
    _KEPT.move_to_end(key)
    while len(_KEPT) > MAX_KEPT:
        _KEPT.popitem(last=False)
    return _KEPT[key]


MAX_HISTORY_MATCHES = 400_000
"""That may be rated for the history of a game on a page: some seconds; each is kept, for other pages too."""


MAX_LINES = 10_000
"""Of standings; JSON and CSV of a page have all of them."""

MAX_CROSSTABLE = 60
"""With more bots, only the first ``MANY_CROSSTABLE`` have a line in the crosstable."""
MANY_CROSSTABLE = 30

MAX_GROWTH = 50.0
"""If it takes more than this many times the encounters to tell two bots apart, their number is not known at all."""


def standing_line(line: Standing) -> StandingLine:
    """Return one bot's line: its columns, and what pages make of the counts."""
    seats = [line.seat_share(seat) for seat in range(len(line.seat_matches))]
    return StandingLine(
        **{column.key: column.value(line) for column in standings_columns(2)},
        label=line.label,
        group=line.group,
        finish_counts=line.finish_counts,
        seat_matches=line.seat_matches,
        seat_percent=tuple(None if share is None else 100 * share for share in seats),
    )


def crosstable_of_first(table: Standings, results: ResultTable) -> Crosstable:
    """Return the crosstable of the first bots in the standings."""
    count = len(table.lines) if len(table.lines) <= MAX_CROSSTABLE else MANY_CROSSTABLE
    lines = table.lines[:count]
    labels = [line.label for line in lines]
    cells = {pair: CrosstableCell.of(score) for pair, score in pair_scores(results, labels).items()}
    return Crosstable(
        bots=tuple(labels),
        names=tuple(line.bot for line in lines),
        cells=tuple(tuple(cells.get((bot, rival)) for rival in labels) for bot in labels),
        left_out=len(table.lines) - count,
    )


def shown_ranking(ranking: Sequence[tuple[str, Placing]], labels: Mapping[str, str]) -> Ranking:
    """Return the ranking of a format; ``labels`` gives ``name@version`` by name."""
    columns, rows = ranking_table(ranking)
    own = columns[2:]
    return Ranking(
        columns=tuple(map(RankingColumn.of, own)),
        lines=tuple(
            RankedBot(
                place=row["place"],
                bot=row["bot"],
                label=labels[row["bot"]],
                values=tuple(row[column.key] for column in own),
            )
            for row in rows
        ),
    )


def standings_sentence(table: Standings, introduction: str = "") -> Sentence:
    """Return what standings say; see ``verdict``."""
    shown = replace(table, lines=tuple(replace(line, bot=marked(line.bot)) for line in table.lines))
    return sentence(verdict(shown, introduction), {line.bot: line.label for line in table.lines})


def ranking_sentence(ranking: Sequence[tuple[str, Placing]], is_finished: bool, labels: Mapping[str, str]) -> Sentence:
    """Return what the ranking of a format means; ``labels`` gives ``name@version`` by name."""
    return sentence(ranking_verdict([(marked(name), placing) for name, placing in ranking], is_finished), labels)


def more_encounters(table: Standings, played: float, planned: int) -> int | None:
    """Return how many more encounters of each pairing than planned would separate the first two bots.

    The standard error of the gap between two ratings falls with the root of the number of encounters. So if the gap is
    as it looks now, separating the bots with a probability of 97.5 % takes (1.96 s / gap)^2 times as many.

    Args:
        table: of a tournament that gives all pairings the same number of encounters.
        played: encounters of each pairing so far.
        planned: the same at the end.

    Returns:
        Their number; None if the bots are separate already, if what is planned will do, or if the gap is so small
        that it might be none at all: with more than ``MAX_GROWTH`` times the encounters.
    """
    los = table.lines[0].los if table.lines and table.lines[0].same_as_next else None
    if los is None or los <= 0.5:
        return None
    growth = (ppf(SURE) / max(ppf(los), 1e-9)) ** 2
    more = ceil(played * growth - planned) if growth <= MAX_GROWTH else 0
    return more if more > 0 else None


# What a tournament's results rest on, in sentences.

MAX_CYCLES = 5


def findings(table: Standings) -> Iterator[str]:
    """Yield what was counted, and whether a single rating for each bot fits; nothing before the first match."""
    if not table.matches:
        return
    yield from conditions(table)
    if table.draw_probability is not None:
        yield f"Two equal bots draw with a probability of {percent_text(table.draw_probability)}."
    yield from _about_the_fit(table)


def _about_the_fit(table: Standings) -> Iterator[str]:
    tested = table.consistency
    if tested.phi is None:
        yield untested_text(table)
    elif tested.is_flagged:
        yield (
            "A single rating for each bot does not fit the results: see who beats whom. Their overdispersion is"
            f" φ = {tested.phi:.2f}, which by chance alone has a probability of {percent_text(tested.p_value)}."
        )
    else:
        yield f"A single rating for each bot fits the results: their overdispersion is φ = {tested.phi:.2f}."
    for cycle in tested.cycles[:MAX_CYCLES]:
        yield f"A cycle: {cycle_text(cycle, table.shown_names)}."
