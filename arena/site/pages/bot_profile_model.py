"""A bot: how good it is, whom it beats, what it did wrong; and a person with all their bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.analysis.measures.values import RatingPoint, Rival
from arena.base.enums import FaultKind
from arena.site.frame.model import Model, ModelOfBots, Name, Parameters, Sentence, Table
from arena.site.pages.overview_model import ListedBot
from arena.site.pages.results_model import ListedResult, ReportedNumber
from arena.site.pages.standings_model import FirstRating, StandingLine


class BotParameters(Parameters):
    """The address of a bot's profile: NAME (all its versions) or NAME@VERSION."""

    bot: Name


class BotVersion(Model):
    """A version of a bot.

    Attributes:
        author: its owner; without one, the author that its bot.toml names; empty when unknown.
        claimed_author: the author that its bot.toml names; empty if its owner has left.
        is_author_claimed: whether only the bot itself names the author.
        digest: the hash of its files; empty when unknown.
        games: what it has played, or is to play.
        is_function: whether it is a Python function, which plays without isolation.
    """

    bot: str
    author: str
    claimed_author: str = ""
    is_author_claimed: bool = False
    digest: str
    submitted_at: str | None
    games: tuple[str, ...]
    tournaments: int
    is_function: bool


class VersionStep(Model):
    """By how much a version is rated above the one before it, in a tournament that both entered.

    Their ratings come from the rivals that both have met; they need not have met each other.
    """

    bot: str
    before: str
    tournament: str
    difference: float
    margin_95: float


class BotRating(Model):
    """A bot's line on the leaderboard of a game, which has that many ``bots``."""

    game: str
    bots: int
    line: StandingLine


class FaultyMatch(Model):
    """A match with a fault."""

    tournament: str
    match: int


class SeenFault(Model):
    """A fault of a bot, and its output before.

    Attributes:
        ply: the number of actions so far.
        stderr: the end of what it wrote to stderr in that match; empty for readers who may not see it.
        earlier: matches before with the same fault, the last first.
    """

    bot: str
    kind: FaultKind
    tournament: str
    match: int
    game: str
    ply: int
    detail: str
    stderr: str
    repro: str
    earlier: tuple[FaultyMatch, ...]


class TimeUsed(Model):
    """The time a bot used in its latest matches.

    Attributes:
        actions: its own, without those of openings.
        p99_ms: 99 of 100 actions are faster; None without one.
        cpu_seconds: CPU time on turn, including child processes.
        off_turn_cpu_seconds: CPU time while others were to act.
    """

    bot: str
    matches: int
    actions: int
    mean_ms: float | None
    p99_ms: float | None
    longest_ms: float
    cpu_seconds: float
    off_turn_cpu_seconds: float


class EnteredTournament(Model):
    """A tournament that a bot entered.

    Attributes:
        rank: the bot's, by the format or else by ratings; None without a match, or if it was not looked up.
    """

    tournament: str
    bot: str
    format: str
    games: tuple[str, ...]
    created_at: str
    is_finished: bool
    rank: int | None
    bots: int


class LostValue(Model):
    """How much of the value a bot keeps in a part of its annotated matches of a game: see ``BotAccuracy``.

    Attributes:
        phase: "opening", "middle" or "end": thirds of the actions that bots chose.
        decisions: actions where the values of all choices are known exactly and differ.
        kept_percent: the mean share of value that it kept in a decision; None without one.
    """

    game: str
    phase: str
    actions: int
    decisions: int
    kept_percent: float | None
    mistakes: int
    blunders: int


class WorthALook(Model):
    """A match of a bot that its author wants to see, and the reason in a few words."""

    tournament: str
    match: int
    bot: str
    rivals: tuple[str, ...]
    reason: str


class BotCorrection(Model):
    """A correction of a bot (``name@version``) that is not undone; ``made_at`` is UTC, ISO 8601."""

    bot: str
    tournament: str
    number: int
    correction: str
    reason: str
    made_at: str


class BotProfilePage(ModelOfBots):
    """A bot, in all its versions or in one: ratings over time, rivals, faults, latest matches.

    Attributes:
        bot: as the address has it.
        shown: the version that rivals are of: the latest one that has played.
        ratings: on the leaderboard of each game, the latest version first.
        steps: from each version to the next one, the latest first.
        ladders: ratings in each ladder that it entered, after some of its rounds; of the latest versions.
        first_ratings: of versions that are on no leaderboard yet, from the ladders that are played now.
        history: on the leaderboard of each game after each tournament that the bot entered; of the latest versions, and
            the latest tournaments.
        rivals: of the version that is shown, the one with the best score first.
        lost_value: where it loses value, by its latest annotated matches; by game, the opening first.
        worth_a_look: at most three of its latest matches.
        corrections: those that are not undone.
        numbers: in its notes, in its latest matches; none where readers may not see notes.
    """

    bot: str
    verdict: Sentence
    shown: str
    versions: tuple[BotVersion, ...]
    ratings: tuple[BotRating, ...]
    history: tuple[RatingPoint, ...]
    rivals: tuple[Rival, ...]
    fault_counts: dict[FaultKind, int]
    faults: tuple[SeenFault, ...]
    times: tuple[TimeUsed, ...]
    tournaments: tuple[EnteredTournament, ...]
    entered: int
    results: tuple[ListedResult, ...]
    corrections: tuple[BotCorrection, ...]
    left_out: tuple[str, ...] = ()
    numbers: tuple[ReportedNumber, ...] = ()
    first_ratings: tuple[FirstRating, ...] = ()
    ladders: tuple[RatingPoint, ...] = ()
    steps: tuple[VersionStep, ...] = ()
    lost_value: tuple[LostValue, ...] = ()
    worth_a_look: tuple[WorthALook, ...] = ()

    @property
    def sent(self) -> dict[str, str]:
        """When versions were submitted, by ``name@version``."""
        return {one.bot: one.submitted_at for one in self.versions if one.submitted_at is not None}

    @property
    def charted_ladders(self) -> dict[str, list[RatingPoint]]:
        """The points of each ladder that a line can be drawn through."""
        by_ladder: dict[str, list[RatingPoint]] = {}
        for point in self.ladders:
            by_ladder.setdefault(point.tournament, []).append(point)
        return {name: points for name, points in by_ladder.items() if len({point.round for point in points}) > 1}

    @property
    def charted(self) -> dict[str, list[RatingPoint]]:
        """The points of each game that a line can be drawn through."""
        by_game: dict[str, list[RatingPoint]] = {}
        for point in self.history:
            by_game.setdefault(point.game, []).append(point)
        return {
            game: points for game, points in sorted(by_game.items()) if len({point.tournament for point in points}) > 1
        }

    def tables(self) -> Mapping[str, Table]:
        """Return its tables."""
        return {
            "history": _table(RatingPoint, self.history),
            "ladders": _table(RatingPoint, self.ladders),
            "rivals": _table(Rival, self.rivals),
            "lost_value": _table(LostValue, self.lost_value),
            "times": _table(TimeUsed, self.times),
            "numbers": _table(ReportedNumber, self.numbers),
            "tournaments": _table(EnteredTournament, self.tournaments),
            "faults": _table(SeenFault, self.faults, "earlier"),
        }


def _table(kind: Any, rows: Sequence[object], left_out: str = "") -> Table:
    """Return models or dataclasses as a table with a column for each of their fields but one."""
    names = kind.model_fields if issubclass(kind, Model) else kind.__dataclass_fields__
    return Table.of((name for name in names if name != left_out), rows)


class PersonParameters(Parameters):
    """The address of the page of a person."""

    person: Name


class PersonPage(ModelOfBots):
    """Whoever submitted bots: these, their ratings, tournaments and latest results.

    Attributes:
        ratings: on the leaderboards of games, of all versions.
        tournaments: the latest that their bots entered, with a line for each bot.
        entered: how many tournaments their bots entered in all.
        results: the latest.
        history: of the versions in ladders, after some of their rounds.
    """

    person: str
    verdict: Sentence
    bots: tuple[ListedBot, ...]
    ratings: tuple[BotRating, ...]
    tournaments: tuple[EnteredTournament, ...]
    entered: int
    results: tuple[ListedResult, ...]
    history: tuple[RatingPoint, ...]
    left_out: tuple[str, ...]

    def tables(self) -> Mapping[str, Table]:
        """Return the table of ratings."""
        keys = ("game", "bot", "rank", "bots", "mu", "margin_95", "matches")
        rows = [
            {key: getattr(one.line, key, None) for key in keys}
            | {"game": one.game, "bot": one.line.label, "bots": one.bots}
            for one in self.ratings
        ]
        return {"ratings": Table.of(keys, rows)}
