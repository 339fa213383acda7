"""What is here: the first page, all bots, and how the server is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Len
from pydantic import Field

from arena.analysis.text.tables import Column, Row
from arena.base.enums import TournamentState
from arena.site.frame.model import AsWritten, Model, ModelOfBots, Name, Parameters, Sentence, Table
from arena.site.pages.results_model import ListedResult
from arena.site.pages.rounds_model import Progress

# The first page: what is here.

_COLUMNS = (
    Column("name", "tournament", is_number=False),
    Column("state", "state", is_number=False),
    Column("format", "format", is_number=False),
    Column("games", "games", is_number=False),
    Column("entrants", "bots"),
    Column("recorded", "recorded"),
    Column("scheduled", "scheduled"),
    Column("created_at", "created", is_number=False),
    Column("finished_at", "finished", is_number=False),
)


class OverviewParameters(Parameters):
    """The address of the first page.

    Attributes:
        before: the list has the tournaments that were stored before this one; None for the newest.
    """

    before: Annotated[int, Field(ge=1, le=2**31 - 1), AsWritten] | None = None


class ListedTournament(Model):
    """A tournament in a list.

    Attributes:
        name: its name.
        state: how far it has got.
        format: the name of its format.
        games: the names of its games.
        entrants: how many bots were entered.
        recorded: matches with a record.
        scheduled: matches in the schedule so far.
        created_at: UTC, ISO 8601.
        finished_at: the same; None before it is finished.
    """

    name: str
    state: TournamentState
    format: str
    games: tuple[str, ...]
    entrants: int
    recorded: int
    scheduled: int
    created_at: str
    finished_at: str | None


class RunningTournament(Model):
    """A tournament that is being played.

    Attributes:
        name: its name.
        progress: how far it has got.
    """

    name: str
    progress: Progress


class TournamentResult(Model):
    """A tournament with a result.

    Attributes:
        name: its name.
        games: the names of its games.
        winners: who is first, in a sentence; empty where that takes ratings.
        at: when it was finished, UTC, ISO 8601; None if it is not.
    """

    name: str
    games: tuple[str, ...]
    winners: Sentence
    at: str | None


class OverviewPage(ModelOfBots):
    """What a home has.

    Attributes:
        tournaments: some of them, the newest first.
        older: what ``before`` is on the page with older ones; None if there are none.
        tournament_count: how many there are.
        matches: how many have been recorded in all of them.
        running: what is being played.
        results: of the newest tournaments that have one; empty on pages of older ones.
        latest: the latest matches of the newest tournament that has one; empty on pages of older ones.
        left_out: why something that is stored is missing here, in sentences.
    """

    tournaments: tuple[ListedTournament, ...]
    older: int | None
    tournament_count: int
    matches: int
    running: tuple[RunningTournament, ...]
    results: tuple[TournamentResult, ...]
    latest: tuple[ListedResult, ...]
    left_out: tuple[str, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return the table of tournaments."""
        return {"tournaments": Table(_COLUMNS, [one.model_dump(mode="json") for one in self.tournaments])}


# All bots that are known.


class BotsParameters(Parameters):
    """The address of the list of bots.

    Attributes:
        search: only bots with this in their name or in that of their author; empty for all.
        after: only bots that come after this name; None for the first.
    """

    search: Annotated[str, Len(0, 200)] = ""
    after: Name | None = None


class BestRank(Model):
    """The best rank of a bot on a leaderboard.

    Attributes:
        game: of the leaderboard.
        bot: ``name@version``.
        rank: its rank.
        bots: how many are on the leaderboard.
    """

    game: str
    bot: str
    rank: int
    bots: int


class ListedBot(Model):
    """A bot, with all its versions.

    Attributes:
        name: its name.
        versions: the latest first.
        author: whose the latest is; without an owner, who wrote it by its bot.toml; empty when unknown.
        is_author_claimed: whether the author is known by the words of the bot alone.
        games: what it has played, or is to play.
        tournaments: how many it has entered.
        best: its best rank, by the share of the leaderboard above it; None without a line on one.
    """

    name: str
    versions: tuple[str, ...]
    author: str
    is_author_claimed: bool = False
    games: tuple[str, ...]
    tournaments: int
    best: BestRank | None


class BotsPage(Model):
    """Bots by name, some at a time.

    Attributes:
        search: what was looked for; empty for all.
        bots: the next hundred.
        found: how many there are in all.
        next: the name after which the following page begins; None on the last.
        left_out: why something that is stored is missing here, in sentences.
    """

    search: str
    bots: tuple[ListedBot, ...]
    found: int
    next: str | None
    left_out: tuple[str, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return its table."""
        texts = ("name", "versions", "author", "games", "best_game")
        columns = [Column(key, key, is_number=False) for key in texts]
        columns += [Column(key, key) for key in ("best_rank", "best_of", "tournaments")]
        rows: list[Row] = [
            {
                "name": bot.name,
                "versions": ", ".join(bot.versions),
                "author": bot.author,
                "games": ", ".join(bot.games),
                "best_game": bot.best.game if bot.best else None,
                "best_rank": bot.best.rank if bot.best else None,
                "best_of": bot.best.bots if bot.best else None,
                "tournaments": bot.tournaments,
            }
            for bot in self.bots
        ]
        return {"bots": Table(columns, rows)}


# How the server is.


class HealthParameters(Parameters):
    """The address of the page says nothing."""


class BuilderHealth(Model):
    """The processes that build one kind of pages.

    Attributes:
        lane: which pages.
        processes: how many there are now.
        most_processes: how many there may be.
    """

    lane: str
    processes: int
    most_processes: int


class HealthPage(Model):
    """How the server is.

    Attributes:
        is_store_readable: whether it can read its store.
        is_home_writable: whether something new can be kept, where people may enter; True where they may not.
        version: of the arena.
        store_lost_seconds: since when the store can't be read; None if it can.
        running_seconds: since when the server runs.
        builders: the processes that build pages.
        event_readers: how many streams of events are open.
        last_change_seconds: since when nothing has changed in the store; None if nothing has since the server runs.
        csp_reports: how often browsers reported that something was not allowed to run.
        troubles: what is wrong with the parts of the site, a sentence each.
    """

    is_store_readable: bool
    is_home_writable: bool = True
    version: str
    store_lost_seconds: float | None
    running_seconds: float
    builders: tuple[BuilderHealth, ...]
    event_readers: int
    last_change_seconds: float | None
    csp_reports: int
    troubles: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """How it is, in a sentence."""
        if not self.is_store_readable:
            return "The store can’t be read now."
        return "The store can be read." if self.is_home_writable else "The store can be read, but nothing new is kept."

    @property
    def is_well(self) -> bool:
        """Whether the site can do what it is for."""
        return self.is_store_readable and self.is_home_writable
