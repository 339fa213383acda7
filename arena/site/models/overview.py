"""The first page: what is here."""

from __future__ import annotations

from collections.abc import Mapping

from arena.enums import TournamentState
from arena.report.tables import Column
from arena.site.models.model import Model, Parameters, Table

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
    """The address of the first page says nothing."""


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


class OverviewPage(Model):
    """What a home has.

    Attributes:
        tournaments: the last to begin first.
        matches: how many have been recorded in all of them.
    """

    tournaments: tuple[ListedTournament, ...]
    matches: int

    def tables(self) -> Mapping[str, Table]:
        """Return the table of tournaments."""
        return {"tournaments": Table(_COLUMNS, [one.model_dump(mode="json") for one in self.tournaments])}
