"""The first page: what is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from arena.analysis.text.tables import Column
from arena.base.enums import TournamentState
from arena.site.frame.model import AsWritten, Model, ModelOfBots, Parameters, Table
from arena.site.frame.sentence import Sentence
from arena.site.pages.progress_model import Progress
from arena.site.pages.results_model import ListedResult

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
