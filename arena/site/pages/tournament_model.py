"""The page of a tournament."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from arena.analysis.measures.values import BalanceLine, Share
from arena.base.enums import ClockKind, CorrectionKind, TournamentState
from arena.base.until import Decided
from arena.site.frame.model import AsWritten, Model, ModelOfTournament, Name, Parameters, Sentence, Table
from arena.site.pages.results_model import ListedResult, row_of
from arena.site.pages.rounds_model import Progress, ShownRounds
from arena.site.pages.standings_model import Crosstable, Ranking, StandingLine, standings_csv

SHOWN_LINES = 100
"""Of standings, in a page."""


class TournamentParameters(Parameters):
    """The address of a tournament's page; ``first`` is the line of the standings that the page begins with."""

    tournament: Name
    first: Annotated[int, Field(ge=1, le=1_000_000), AsWritten] = 1


class PlayedGame(Model):
    """A game of a tournament, with all its options and its players in a match."""

    game: str
    options: dict[str, Any]
    players: int


class TimeRules(Model):
    """The time limits of bots; None for no such limit.

    Attributes:
        bank_seconds: for all actions of a match.
        increment_seconds: added to the bank after each action.
    """

    per_action_seconds: float | None
    bank_seconds: float | None
    increment_seconds: float
    clock: ClockKind


class PlayedStatistics(Model):
    """The statistics of a game.

    Attributes:
        repeats: duplicate matches, which are rated once.
    """

    game: str
    matches: int
    encounters: int
    repeats: int
    draws: Share
    seats: tuple[Share, ...]


class PlayedAccuracy(Model):
    """How well a bot plays, by annotated matches.

    Attributes:
        decisions: its actions where the values of all actions are known exactly and differ.
        kept: the share of value that it keeps in a decision; None without one.
        mistakes: its actions that lose margin.
        blunders: its actions that change the outcome.
        earned: points that it held all the way.
        lucky: its other points.
    """

    bot: str
    matches: int
    encounters: int
    decisions: int
    kept: Share | None
    mistakes: int
    blunders: int
    earned: float
    lucky: float


class LoggedCorrection(Model):
    """A line in the log of corrections.

    Attributes:
        set_aside: matches whose records do not count any more.
    """

    number: int
    kind: CorrectionKind
    correction: str
    reason: str
    made_at: str
    set_aside: int
    undone_by: int | None


class TournamentPage(ModelOfTournament):
    """A tournament.

    Attributes:
        opening_plies: actions at the beginning of a match, before the bots take over; the most, if they differ.
        opening_choice: how they were chosen: "random", "information" or "book".
        more_encounters: how many more encounters of each pairing would separate the first two bots, if they differ as
            much as it looks; None if they are separate already, or nobody knows.
        ranking: by the rules of the format; None if only ratings rank.
        rounds: the bracket of a knockout or the cards of a Swiss; None for other formats.
        accuracy: how well bots play, those that keep most first; empty without annotated matches, or of very many.
        findings: results of statistical tests, in sentences.
        balance: how even the schedule is; empty for very large ones.
        disqualified: the bots that are, as ``name@version``; they have no line in the standings.
        may_have_puzzles: whether somebody has searched its matches for puzzles.
        decided: what is decided, if it plays until it is.
    """

    name: str
    state: TournamentState
    format: str
    games: tuple[PlayedGame, ...]
    entrants: int
    encounters: int
    time_control: TimeRules
    isolation: str
    rng_seed: int
    opening_plies: int
    opening_choice: str
    ply_limit: int
    fresh_bots: bool
    created_at: str
    finished_at: str | None
    recorded: int
    scheduled: int
    verdict: Sentence
    more_encounters: int | None
    progress: Progress | None
    players: int
    standings: tuple[StandingLine, ...]
    ranking: Ranking | None
    crosstable: Crosstable
    rounds: ShownRounds | None
    latest: tuple[ListedResult, ...]
    games_played: tuple[PlayedStatistics, ...]
    accuracy: tuple[PlayedAccuracy, ...] = ()
    findings: tuple[str, ...]
    balance: tuple[BalanceLine, ...]
    corrections: tuple[LoggedCorrection, ...]
    disqualified: tuple[str, ...] = ()
    may_have_puzzles: bool = False
    decided: Decided | None = None

    def tables(self) -> Mapping[str, Table]:
        """Return the tables of the page."""
        tables = {"standings": standings_csv(self.standings, self.players), "crosstable": self.crosstable.table()}
        if self.ranking is not None:
            tables["ranking"] = self.ranking.table()
        if self.rounds is not None:
            tables["rounds"] = self.rounds.table()
        keys = ("match", "game", "bots", "scores", "ranks", "plies", "termination")
        return tables | {"latest": Table.of(keys, map(row_of, self.latest))}
