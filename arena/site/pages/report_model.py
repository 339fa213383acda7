"""The report of a tournament: its page, and what has pages of its own on the site, in one."""

from __future__ import annotations

from arena.base.enums import FaultKind
from arena.site.frame.model import Model
from arena.site.pages.results_model import ListedResult
from arena.site.pages.standings_model import StandingLine
from arena.site.pages.tournament_model import TournamentPage


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
        detail: what happened, in a sentence.
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
        line: in the standings.
        history: pairs of matches of the tournament so far, and the rating then.
        best: the rivals against which it scored most; all of them, if they are few.
        worst: those against which it scored least; empty if they are few.
        mean_ms: the mean time of its actions; None without one.
        p99_ms: 99 of 100 actions are faster; None without one.
        longest_ms: the longest action.
        digest: the hash of its files; empty when unknown.
        faults: the latest, the last first.
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
        about: a sentence about it.
        rows: a text for each column.
    """

    anchor: str
    title: str
    about: str
    columns: tuple[ShownColumn, ...]
    rows: tuple[tuple[str, ...], ...]


class Chances(Model):
    """The probability that the bot of a row is better than the bot of a column.

    Attributes:
        labels: ``name@version`` of each bot, in the order of the standings.
        names: what tables call them.
        cells: for each bot that against each; None where it is not known.
        left_out: how many bots further down have no line.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    left_out: int


class Report(Model):
    """The report of a tournament.

    Attributes:
        page: its page on the site.
        cards: of the bots, in the order of the standings.
        cards_left_out: how many bots further down have no card.
        listed: the matches that can be replayed in it, in order.
        opened: the number of the match that is shown at first; None without a match.
        chances: who is better.
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
