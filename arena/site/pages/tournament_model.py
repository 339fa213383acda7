"""The page of a tournament: how far it has got, the bracket of a knockout, the cards of a Swiss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from arena.analysis.measures.values import BalanceLine, BotAccuracy, CardRound, GameStatistics
from arena.base.definition import GameChoice
from arena.base.enums import CorrectionKind, TournamentState
from arena.base.records import TimeControl
from arena.base.until import Decided
from arena.site.frame.model import AsWritten, Model, ModelOfTournament, Name, Parameters, Sentence, Table
from arena.site.pages.results_model import ListedResult, row_of
from arena.site.pages.standings_model import Crosstable, Ranking, StandingLine, standings_csv


class PlayingMatch(Model):
    """A match that is being played.

    Attributes:
        ply: actions so far; None if nobody watches it: then nobody knows.
    """

    match: int
    names: tuple[str, ...]
    ply: int | None = None


class Progress(Model):
    """The progress of a tournament.

    Attributes:
        expected: how many there will be; None if that is open.
        matches_per_second: in the last while; None at the beginning.
        seconds_left: about; None if that is not known.
        estimated_at: when (UTC, ISO 8601) it was that long; None if that is not known.
        status: the state of the format in a few words; may be empty.
    """

    recorded: int
    expected: int | None
    matches_per_second: float | None = None
    seconds_left: float | None = None
    estimated_at: str | None = None
    status: str = ""
    playing: tuple[PlayingMatch, ...] = ()

    @property
    def share(self) -> float | None:
        """How much of it has been played, from 0 to 1; None if the end is open."""
        return self.recorded / self.expected if self.expected else None


class ShownSide(Model):
    """An entrant in a duel of a bracket.

    Attributes:
        bot: its name; None while the duel before is open.
        seed: its place in the seeding, from 1; None without an entrant.
        score: the encounters it has won, a drawn one counting half; None before the first.
        departed: how it has left, "withdrawn" or "disqualified"; empty if it has not.
    """

    bot: str | None
    label: str | None
    seed: int | None
    score: float | None
    won: bool
    departed: str = ""


class ShownDuel(Model):
    """A duel of a bracket, its upper and its lower entrant.

    Attributes:
        is_bye: whether there is only one.
        is_fed: whether a duel before it was played, or will be.
        decided: what decided it if the encounters did not; may be empty.
    """

    sides: tuple[ShownSide, ShownSide]
    is_bye: bool
    is_fed: bool
    decided: str


class ShownStage(Model):
    """A stage of a bracket, such as "final".

    Attributes:
        duels: from the top; the winners of two neighbours meet in the next stage.
    """

    name: str
    duels: tuple[ShownDuel, ...]


class ShownCard(Model):
    """An entrant of a Swiss with all its rounds.

    Attributes:
        number: its line, from 1, by which other cards name it.
        departed: how it has left, "withdrawn" or "disqualified"; empty if it has not.
    """

    number: int
    rank: int
    bot: str
    label: str
    rounds: tuple[CardRound, ...]
    total: float
    departed: str = ""


class ShownRounds(Model):
    """The rounds that a tournament has played.

    Attributes:
        last: the number of the last round in the schedule.
        current: the number of the first round that is not complete; the last one if all are.
        status: the state of the tournament in a few words.
    """

    last: int
    current: int
    status: str
    bracket: tuple[ShownStage, ...] = ()
    cards: tuple[ShownCard, ...] = ()

    def table(self) -> Table:
        """Return the bracket or the cards as CSV has them: a line for each duel, or each round of each entrant."""
        if self.bracket:
            return Table.of(
                ("stage", "bot", "rival", "score", "rival_score", "winner"),
                [
                    {
                        "stage": stage.name,
                        "bot": duel.sides[0].bot,
                        "rival": duel.sides[1].bot,
                        "score": duel.sides[0].score,
                        "rival_score": duel.sides[1].score,
                        "winner": next((side.bot for side in duel.sides if side.won), None),
                    }
                    for stage in self.bracket
                    for duel in stage.duels
                ],
            )
        return Table.of(
            ("bot", "round", "rival", "score", "total"),
            [
                {"bot": card.bot, "round": number, "rival": cell.rival, "score": cell.score, "total": cell.total}
                for card in self.cards
                for number, cell in enumerate(card.rounds, 1)
            ],
        )


SHOWN_LINES = 100
"""Of standings, in a page."""


class TournamentParameters(Parameters):
    """The address of a tournament's page; ``first`` is the line of the standings that the page begins with."""

    tournament: Name
    first: Annotated[int, Field(ge=1, le=1_000_000), AsWritten] = 1


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
    """A tournament: what its standings say, the standings, who beat whom, and the latest results.

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
        may_have_puzzles: whether a search has found puzzles in its matches.
        decided: what is decided, if it plays until it is.
    """

    name: str
    state: TournamentState
    format: str
    games: tuple[GameChoice, ...]
    entrants: int
    encounters: int
    time_control: TimeControl
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
    games_played: tuple[GameStatistics, ...]
    accuracy: tuple[BotAccuracy, ...] = ()
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
