"""The report of a tournament: its page in one with contents of other pages of the site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arena.analysis.measures.game_statistics import (
    BotTimes,
    Score,
    bot_times,
    cross_check,
    pair_scores,
)
from arena.analysis.measures.leaderboards import mu_histories
from arena.analysis.measures.standings import Standing, Standings
from arena.analysis.text.match_view import MatchChoice
from arena.analysis.text.standings_table import standings_table
from arena.analysis.text.statistics_tables import STATS_TITLES, stats_tables
from arena.analysis.text.tables import Column, Row, shown
from arena.analysis.text.verdict import standings_footer
from arena.base.bot_text import Audience
from arena.base.enums import FaultKind
from arena.base.records import MatchRecord
from arena.site.frame.model import Model
from arena.site.pages.results_model import ListedResult
from arena.site.pages.standings import rated_tournament, standing_line
from arena.site.pages.standings_model import StandingLine
from arena.site.pages.tournament import build_tournament
from arena.site.pages.tournament_model import TournamentPage, TournamentParameters
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament


class RivalShare(Model):
    """A bot's points per match against a rival; tables call this ``name``."""

    label: str
    name: str
    share: float
    matches: int


class ReportedFault(Model):
    """A fault of a bot, and its output before.

    Attributes:
        ply: the number of actions so far.
        stderr: the end of what it wrote to stderr in that match.
    """

    match: int
    kind: FaultKind
    ply: int
    detail: str
    stderr: str


class BotCard(Model):
    """A bot of the tournament.

    Attributes:
        history: pairs of matches of the tournament so far, and the rating then.
        best: the rivals against which it scored most; all of them, if they are few.
        worst: those against which it scored least; empty if they are few.
        p99_ms: 99 of 100 actions are faster; None without one.
    """

    line: StandingLine
    history: tuple[tuple[float, float], ...]
    best: tuple[RivalShare, ...]
    worst: tuple[RivalShare, ...]
    mean_ms: float | None
    p99_ms: float | None
    longest_ms: float
    digest: str
    faults: tuple[ReportedFault, ...]


class ShownColumn(Model):
    """A column of a table of texts; numbers are right-aligned."""

    key: str
    title: str
    is_number: bool


class ShownTable(Model):
    """A table of texts.

    Attributes:
        anchor: the id of its heading.
    """

    anchor: str
    title: str
    about: str
    columns: tuple[ShownColumn, ...]
    rows: tuple[tuple[str, ...], ...]


class Chances(Model):
    """The probability that the bot of a row is better than the bot of a column.

    Attributes:
        cells: for each bot that against each; None where it is not known.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    left_out: int


class Report(Model):
    """The report of a tournament.

    Attributes:
        cards: of the bots, in the order of the standings.
        cards_left_out: how many bots further down have no card.
        numbers: all others, as tables.
        columns: those of the tables that the page does not explain, each once.
    """

    page: TournamentPage
    cards: tuple[BotCard, ...]
    cards_left_out: int
    listed: tuple[ListedResult, ...]
    opened: int | None
    chances: Chances | None
    numbers: tuple[ShownTable, ...]
    columns: tuple[ShownColumn, ...]


MAX_CARDS = 200
MAX_RIVALS = 3
"""The best and the worst; a bot with up to twice as many rivals has all of them listed."""

MAX_FAULTS = 3
MAX_STDERR_CHARACTERS = 600
MAX_CHANCES = 60
"""Bots in the table of who is better."""

ON_THE_PAGE = ("games", "seats", "better")
"""Tables of statistics that the page of the tournament has, or that are more than a table."""

EXPLAINED = ("rank", "mu", "margin_95", "rank_95", "better_than_next", "place_1", "score_percent", "matches", "faults")
"""Columns that the page of the tournament explains."""


class ReportBuilder:
    """Reads the records of a tournament once, and builds its report.

    Attributes:
        choice: its matches, the most interesting first.
    """

    def __init__(self, home: ArenaHome, tournament: StoredTournament, audience: Audience) -> None:
        """Read the records, for an audience."""
        self._audience = audience
        self._home, self._tournament = home, tournament
        self.table = rated_tournament(home, tournament).table
        self.choice = MatchChoice()
        self._faults: dict[str, list[ReportedFault]] = {}
        self._times = {one.bot: one for one in bot_times(self._noted(home.store.records(tournament)))}

    def _noted(self, records: Iterable[MatchRecord]) -> Iterator[MatchRecord]:
        for record in records:
            self.choice.add(record)
            for fault in record.faults:
                bot = record.bots[fault.seat]
                seen = self._faults.setdefault(bot, [])
                stderr = record.seats[fault.seat].stderr.shown_to(self._audience, bot) or ""
                seen.append(
                    ReportedFault.of(
                        fault,
                        match=record.match,
                        detail=fault.told_to(self._audience, bot),
                        stderr=stderr[-MAX_STDERR_CHARACTERS:],
                    )
                )
                del seen[:-MAX_FAULTS]
            yield record

    @property
    def first_to_open(self) -> int | None:
        """The match that a visitor wants to see first; None without a match."""
        return self.choice.first_to_open(self.table.shown_names)

    def report(self, listed: Sequence[ListedResult], opened: int | None) -> Report:
        """Return the report, with the matches that can be replayed in it and the one that is open at first."""
        table = self.table
        page = build_tournament(self._home, TournamentParameters(tournament=self._tournament.name))
        tables = tuple(self._tables())
        columns = {column.key: column for one in tables for column in one.columns if column.key not in EXPLAINED}
        return Report(
            page=page,
            cards=tuple(self._cards()),
            cards_left_out=max(0, len(table.lines) - MAX_CARDS),
            listed=tuple(listed),
            opened=opened,
            chances=_chances(table),
            numbers=tables,
            columns=tuple(columns.values()),
        )

    def _cards(self) -> Iterator[BotCard]:
        table = self.table
        lines = table.lines[:MAX_CARDS]
        results = rated_tournament(self._home, self._tournament).results
        scores = pair_scores(results, [line.label for line in table.lines])
        histories = mu_histories(self._home.store, self._tournament, table.shown_names)
        digests = {bot.label: bot.digest for bot in self._tournament.definition.entrants}
        for line in lines:
            rivals = _rivals(line, table, scores)
            are_few = len(rivals) <= 2 * MAX_RIVALS
            times = self._times.get(line.label, BotTimes(line.label))
            yield BotCard.of(
                times,
                line=standing_line(line),
                history=tuple(histories.get(line.bot, ())),
                best=tuple(rivals if are_few else rivals[:MAX_RIVALS]),
                worst=() if are_few else tuple(rivals[: -MAX_RIVALS - 1 : -1]),
                digest=digests.get(line.label, ""),
                faults=tuple(reversed(self._faults.get(line.label, []))),
            )

    def _tables(self) -> Iterator[ShownTable]:
        """Yield the tables that the page of the tournament does not have, without empty ones."""
        table = self.table
        rated = rated_tournament(self._home, self._tournament)
        columns, rows = standings_table(table)
        yield shown_table("Ratings and points", standings_footer(table), columns, rows)
        check = cross_check(rated.results, table)
        found = stats_tables(table, rated.statistics, check, list(self._times.values()))
        for name, (columns, rows) in found.items():
            if rows and name not in ON_THE_PAGE and (name != "nash" or table.consistency.is_flagged):
                yield shown_table(*STATS_TITLES[name], columns, rows)


def shown_table(title: str, about: str, columns: Sequence[Column], rows: Sequence[Row]) -> ShownTable:
    """Return a table as texts; ``about`` is a sentence about it."""
    return ShownTable(
        anchor=f"numbers-{title.lower().replace(' ', '-')}",
        title=title,
        about=about,
        columns=tuple(map(ShownColumn.of, columns)),
        rows=tuple(tuple(shown(row[column.key], column) for column in columns) for row in rows),
    )


def _rivals(line: Standing, table: Standings, scores: Mapping[tuple[str, str], Score]) -> list[RivalShare]:
    shares = []
    for rival, name in table.shown_names.items():
        score = scores.get((line.label, rival))
        if rival != line.label and score is not None and score.matches:
            share = score.points / score.matches
            shares.append(RivalShare(label=rival, name=name, share=share, matches=score.matches))
    return sorted(shares, key=lambda share_of_rival: (-share_of_rival.share, share_of_rival.name))


def _chances(table: Standings) -> Chances | None:
    lines = table.lines[:MAX_CHANCES]
    index_by_label = {label: index for index, label in enumerate(table.fitted.names)}
    if len(lines) < 2 or not index_by_label:
        return None
    return Chances(
        labels=tuple(line.label for line in lines),
        names=tuple(line.bot for line in lines),
        cells=tuple(tuple(_chance(table, index_by_label, one, other) for other in lines) for one in lines),
        left_out=len(table.lines) - len(lines),
    )


def _chance(table: Standings, index_by_label: Mapping[str, int], bot: Standing, rival: Standing) -> float | None:
    if bot is rival or not {bot.label, rival.label} <= index_by_label.keys():
        return None
    return table.fitted.los_between(index_by_label[bot.label], index_by_label[rival.label])
