"""Builds standings, crosstables and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from arena.analysis.measures.crosstable import Score, pair_scores
from arena.analysis.measures.result_table import ResultTable
from arena.analysis.measures.standings import SURE, Standing, Standings
from arena.analysis.text.standings_columns import standings_columns
from arena.analysis.text.standings_table import ranking_table
from arena.analysis.text.verdict import ranking_verdict, verdict
from arena.base.enums import FaultKind
from arena.ratings.environment import ppf
from arena.site.frame.sentence import Sentence
from arena.site.frame.sentences import marked, sentence
from arena.site.pages.crosstable import Crosstable, CrosstableCell
from arena.site.pages.standings_model import RankedBot, Ranking, RankingColumn, StandingLine
from arena.tournament.formats.format import Placing

MAX_LINES = 10_000
"""Of standings; JSON and CSV of a page have all of them."""

MAX_CROSSTABLE = 60
"""With more bots, only the first ``MANY_CROSSTABLE`` have a line in the crosstable."""
MANY_CROSSTABLE = 30

MAX_GROWTH = 50.0
"""If it takes more than this many times the encounters to tell two bots apart, their number is not known at all."""


def standing_line(line: Standing) -> StandingLine:
    """Return one bot's line."""
    share = line.score_share
    seats = [line.seat_share(seat) for seat in range(len(line.seat_matches))]
    further = [column for column in standings_columns(2) if column.key not in StandingLine.model_fields]
    return StandingLine(
        **{column.key: column.value(line) for column in further},
        rank=line.rank,
        bot=line.bot,
        label=line.label,
        exposure=line.rating.exposure,
        mu=line.rating.mu,
        sigma=line.rating.sigma,
        margin_95=line.margin,
        rank_95=line.rank_interval,
        better_than_next=line.los,
        same_as_next=line.same_as_next,
        group=line.group,
        matches=line.matches,
        finish_counts=line.finish_counts,
        wins=line.wins,
        draws=line.draws,
        losses=line.losses,
        points=line.points,
        score_percent=None if share is None else 100 * share,
        seat_matches=line.seat_matches,
        seat_percent=tuple(None if share is None else 100 * share for share in seats),
        first_seat_percent=None if line.first_seat_share is None else 100 * line.first_seat_share,
        faults={FaultKind(kind): count for kind, count in sorted(line.faults.items())},
        author=line.author,
        is_author_claimed=line.is_author_claimed,
    )


def crosstable_of_first(table: Standings, results: ResultTable) -> Crosstable:
    """Return the crosstable of the first bots in the standings."""
    count = len(table.lines) if len(table.lines) <= MAX_CROSSTABLE else MANY_CROSSTABLE
    lines = table.lines[:count]
    labels = [line.label for line in lines]
    scores = pair_scores(results, labels)
    return Crosstable(
        bots=tuple(labels),
        names=tuple(line.bot for line in lines),
        cells=tuple(tuple(_cell(scores.get((bot, rival))) for rival in labels) for bot in labels),
        left_out=len(table.lines) - count,
    )


def _cell(score: Score | None) -> CrosstableCell | None:
    return None if score is None else CrosstableCell(points=score.points, matches=score.matches)


def shown_ranking(ranking: Sequence[tuple[str, Placing]], labels: Mapping[str, str]) -> Ranking:
    """Return the ranking of a format.

    Args:
        ranking: the name of each entrant, with its placing.
        labels: ``name@version`` by name.
    """
    columns, rows = ranking_table(ranking)
    own = columns[2:]
    return Ranking(
        columns=tuple(RankingColumn(key=c.key, title=c.title, decimals=c.decimals) for c in own),
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
    """Return what the ranking of a format says.

    Args:
        ranking: the name of each entrant, with its placing.
        is_finished: whether no round follows.
        labels: ``name@version`` by name.
    """
    return sentence(ranking_verdict([(marked(name), placing) for name, placing in ranking], is_finished), labels)


def more_encounters(table: Standings, played: float, planned: int) -> int | None:
    """Return how many more encounters of each pairing than planned would tell the first two bots apart.

    The standard error of the gap between two ratings falls with the root of the number of encounters. So if the gap is
    as it looks now, telling the bots apart with a probability of 97.5 % takes (1.96 s / gap)^2 times as many.

    Args:
        table: of a tournament that gives all pairings the same number of encounters.
        played: encounters of each pairing so far.
        planned: the same at the end.

    Returns:
        Their number; None if the bots can be told apart already, if what is planned will do, or if the gap is so small
        that it might be none at all: with more than ``MAX_GROWTH`` times the encounters.
    """
    los = table.lines[0].los if table.lines and table.lines[0].same_as_next else None
    if los is None or los <= 0.5:
        return None
    growth = (ppf(SURE) / max(ppf(los), 1e-9)) ** 2
    more = ceil(played * growth - planned) if growth <= MAX_GROWTH else 0
    return more if more > 0 else None
