"""The first page, the list of all bots, and the health of the server."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Annotated

from annotated_types import Len
from pydantic import Field

from arena.base.enums import TournamentState
from arena.site.frame.model import AsWritten, Model, ModelOfBots, Name, Parameters, Sentence, Table
from arena.site.pages.results_model import ListedResult
from arena.site.pages.tournament_model import Progress


class OverviewParameters(Parameters):
    """The address of the first page.

    Attributes:
        before: the list has the tournaments that were stored before this one; None for the newest.
    """

    before: Annotated[int, Field(ge=1, le=2**31 - 1), AsWritten] | None = None


class ListedTournament(Model):
    """A tournament in a list."""

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
    """A tournament that is being played."""

    name: str
    progress: Progress


class TournamentResult(Model):
    """A tournament with a result.

    Attributes:
        winners: who is first, in a sentence; empty where that takes ratings.
        at: when it was finished, UTC, ISO 8601; None if it is not.
    """

    name: str
    games: tuple[str, ...]
    winners: Sentence
    at: str | None


class OverviewPage(ModelOfBots):
    """What is here, what is being played, and the latest results.

    Attributes:
        tournaments: some of them, the newest first.
        older: the value of ``before`` on the page with older ones; None if there are none.
        results: of the newest tournaments that have one; empty on pages of older ones.
        latest: the latest matches of the newest tournament that has one; empty on pages of older ones.
        turning: the number of the last one of these in which an action lost something; None if none is known.
        may_have_puzzles: whether a search has found puzzles in one of the tournaments here.
    """

    tournaments: tuple[ListedTournament, ...]
    older: int | None
    tournament_count: int
    matches: int
    running: tuple[RunningTournament, ...]
    results: tuple[TournamentResult, ...]
    latest: tuple[ListedResult, ...]
    turning: int | None = None
    may_have_puzzles: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def featured(self) -> tuple[str, int] | None:
        """The tournament and the number of a match that is being played; None before any.

        If none is, the latest one that a mistake decided, or the latest of all.
        """
        playing = ((one.name, one.progress.playing[0].match) for one in self.running if one.progress.playing)
        latest = [(one.tournament, one.match) for one in self.latest]
        return next(chain(playing, (one for one in latest if one[1] == self.turning), latest), None)

    def tables(self) -> Mapping[str, Table]:
        """Return the table of tournaments."""
        return {"tournaments": Table.of(ListedTournament.model_fields, self.tournaments)}


class BotsParameters(Parameters):
    """The address of the list of bots.

    Attributes:
        search: only bots with this in their name or in that of their author; empty for all.
        after: only bots that come after this name; None for the first.
    """

    search: Annotated[str, Len(0, 200)] = ""
    after: Name | None = None


class BestRank(Model):
    """The best rank of a bot (``name@version``) on a leaderboard of that many bots."""

    game: str
    bot: str
    rank: int
    bots: int


class ListedBot(Model):
    """A bot, with all its versions.

    Attributes:
        author: the owner of the latest; without one, the author that its bot.toml names; empty when unknown.
        is_author_claimed: whether only the bot itself names the author.
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
    """All bots that were submitted or entered: their games, and their best ranks; a hundred at a time, by name.

    Attributes:
        next: the name after which the following page begins; None on the last.
    """

    search: str
    bots: tuple[ListedBot, ...]
    found: int
    next: str | None
    left_out: tuple[str, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return its table."""
        rows = [
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
        keys = ("name", "versions", "author", "games", "best_game", "best_rank", "best_of", "tournaments")
        return {"bots": Table.of(keys, rows)}


class BuilderHealth(Model):
    """The processes that build one kind of pages."""

    lane: str
    processes: int
    most_processes: int


class HealthPage(Model):
    """Whether the server can read its store, and what it runs.

    Attributes:
        is_home_writable: whether the home takes new files, where people may sign in; True elsewhere.
        store_lost_seconds: since when the store is unreadable; None if it is readable.
        last_change_seconds: since when nothing has changed in the store; None if nothing has since the server runs.
        csp_reports: how often browsers reported that something was not allowed to run.
        troubles: health problems of the services of the site, a sentence each.
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
