"""The report of a tournament: its page in one with contents of other pages of the site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from arena.analysis.measures.game_statistics import BotTimes, Score, bot_times, cross_check, pair_scores
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
from arena.site.pages.charts import Point
from arena.site.pages.standings import rated_tournament, standing_line
from arena.site.pages.standings_model import StandingLine
from arena.site.pages.tournament import build_tournament
from arena.site.pages.tournament_model import TournamentPage, TournamentParameters
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament


class RivalShare(NamedTuple):
    """A bot's points per match against a rival; tables call this ``name``."""

    label: str
    name: str
    share: float
    matches: int


class ReportedFault(NamedTuple):
    """A fault of a bot after ``ply`` actions, and the end of what it wrote to stderr in that match."""

    match: int
    kind: FaultKind
    ply: int
    detail: str
    stderr: str


class BotCard(NamedTuple):
    """A bot of the tournament.

    Attributes:
        history: the rating over the matches of the tournament.
        best: the rivals against which it scored most; all of them, if they are few.
        worst: those against which it scored least; empty if they are few.
    """

    line: StandingLine
    times: BotTimes
    history: Sequence[Point]
    best: Sequence[RivalShare]
    worst: Sequence[RivalShare]
    digest: str
    faults: Sequence[ReportedFault]


class ShownTable(NamedTuple):
    """A table of texts; ``anchor`` is the id of its heading."""

    anchor: str
    title: str
    about: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]


class Report(NamedTuple):
    """The report of a tournament.

    Attributes:
        cards: of the bots, in the order of the standings.
        cards_left_out: how many bots further down have no card.
        chances: for each of the first bots in the standings, the probability that it is better than each; None where
            that is not known.
        numbers: all others, as tables.
        columns: those of the tables that the page does not explain, each once.
    """

    page: TournamentPage
    cards: Sequence[BotCard]
    cards_left_out: int
    chances: Sequence[Sequence[float | None]]
    numbers: Sequence[ShownTable]
    columns: Sequence[Column]


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
                detail = fault.told_to(self._audience, bot)
                seen.append(ReportedFault(record.match, fault.kind, fault.ply, detail, stderr[-MAX_STDERR_CHARACTERS:]))
                del seen[:-MAX_FAULTS]
            yield record

    @property
    def first_to_open(self) -> int | None:
        """The match that a visitor wants to see first; None without a match."""
        return self.choice.first_to_open(self.table.shown_names)

    def report(self) -> Report:
        """Return the report."""
        tables = list(self._tables())
        columns = {column.key: column for one in tables for column in one.columns if column.key not in EXPLAINED}
        return Report(
            page=build_tournament(self._home, TournamentParameters(tournament=self._tournament.name)),
            cards=list(self._cards()),
            cards_left_out=max(0, len(self.table.lines) - MAX_CARDS),
            chances=_chances(self.table),
            numbers=tables,
            columns=list(columns.values()),
        )

    def _cards(self) -> Iterator[BotCard]:
        table = self.table
        results = rated_tournament(self._home, self._tournament).results
        scores = pair_scores(results, [line.label for line in table.lines])
        histories = mu_histories(self._home.store, self._tournament, table.shown_names)
        digests = {bot.label: bot.digest for bot in self._tournament.definition.entrants}
        for line in table.lines[:MAX_CARDS]:
            rivals = _rivals(line, table, scores)
            are_few = len(rivals) <= 2 * MAX_RIVALS
            yield BotCard(
                line=standing_line(line),
                times=self._times.get(line.label, BotTimes(line.label)),
                history=[Point(matches, mu) for matches, mu in histories.get(line.bot, ())],
                best=rivals if are_few else rivals[:MAX_RIVALS],
                worst=() if are_few else rivals[: -MAX_RIVALS - 1 : -1],
                digest=digests.get(line.label, ""),
                faults=self._faults.get(line.label, [])[::-1],
            )

    def _tables(self) -> Iterator[ShownTable]:
        """Yield the tables that the page of the tournament does not have, without empty ones."""
        table = self.table
        rated = rated_tournament(self._home, self._tournament)
        yield _shown_table("Ratings and points", standings_footer(table), *standings_table(table))
        check = cross_check(rated.results, table)
        found = stats_tables(table, rated.statistics, check, list(self._times.values()))
        for name, (columns, rows) in found.items():
            if rows and name not in ON_THE_PAGE and (name != "nash" or table.consistency.is_flagged):
                yield _shown_table(*STATS_TITLES[name], columns, rows)


def _shown_table(title: str, about: str, columns: Sequence[Column], rows: Sequence[Row]) -> ShownTable:
    anchor = f"numbers-{title.lower().replace(' ', '-')}"
    texts = [[shown(row[column.key], column) for column in columns] for row in rows]
    return ShownTable(anchor, title, about, columns, texts)


def _rivals(line: Standing, table: Standings, scores: Mapping[tuple[str, str], Score]) -> list[RivalShare]:
    shares = []
    for rival, name in table.shown_names.items():
        score = scores.get((line.label, rival))
        if rival != line.label and score is not None and score.matches:
            shares.append(RivalShare(rival, name, score.points / score.matches, score.matches))
    return sorted(shares, key=lambda share_of_rival: (-share_of_rival.share, share_of_rival.name))


def _chances(table: Standings) -> list[list[float | None]]:
    number = {label: number for number, label in enumerate(table.fitted.names)}
    labels = [line.label for line in table.lines[:MAX_CHANCES]]
    if len(labels) < 2 or not number:
        return []

    def chance(bot: str, rival: str) -> float | None:
        is_known = bot != rival and {bot, rival} <= number.keys()
        return table.fitted.los_between(number[bot], number[rival]) if is_known else None

    return [[chance(bot, rival) for rival in labels] for bot in labels]
