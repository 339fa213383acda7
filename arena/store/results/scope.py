"""Which tournaments count in a table: its scope, and seasons, which are named sets of tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, Delete, select

from arena.base.errors import UnknownNameError, UsageError, expect
from arena.base.names import ACCEPTED, is_name
from arena.store.results.connection import Repository
from arena.store.results.events import SEASONS, advance
from arena.store.results.schema import seasons, tournaments, writes
from arena.store.results.values import StoredTournament


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which tournaments count; deleted ones never do.

    A tournament that is named, or belongs to the season, counts in any format. Where none is named all of them count,
    but comparisons and the trials of tuning, which are experiments, only on request.

    Attributes:
        season: the name of a season, whose tournaments are added to the named ones.
        since: only those begun at this time or later; UTC if it has no time zone.
        comparisons: whether comparisons that are not named count.
    """

    tournaments: tuple[str, ...] = ()
    season: str | None = None
    since: datetime | None = None
    comparisons: bool = False

    def __post_init__(self) -> None:
        expect(not isinstance(self.tournaments, str), "tournaments", self.tournaments, "a tuple of names")
        expect(isinstance(self.since, datetime | None), "since", self.since, "a datetime")

    @property
    def is_named(self) -> bool:
        """Whether it names tournaments, or a season."""
        return bool(self.tournaments) or self.season is not None

    def includes(self, format_name: str, created_at: str) -> bool:
        """Return whether a tournament counts, provided that it is one of the named ones or none are named."""
        if self.since is not None and created_at < _stored_form(self.since):
            return False
        return self.comparisons or self.is_named or format_name not in EXPERIMENTS


COMPARISON = "comparison"
EXPERIMENTS = (COMPARISON, "trials")
"""The formats of the tournaments that ``arena compare`` and ``arena tune`` play."""

ALL_TOURNAMENTS = Scope(comparisons=True)
ALL_BUT_COMPARISONS = Scope()


def _stored_form(time: datetime) -> str:
    """Return a time as the store writes it, so that texts compare as times do."""
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


class Season(NamedTuple):
    """A season, and the names of its tournaments, the oldest first, without deleted ones."""

    name: str
    tournaments: tuple[str, ...]


class Seasons(Repository):
    """The seasons in a database. A season exists as long as it has a tournament."""

    def all(self) -> list[Season]:
        """Return all seasons, by name."""
        query = select(seasons.c.name, tournaments.c.name, tournaments.c.deleted_at).join(tournaments)
        names_of: dict[str, list[str]] = {}
        for season, tournament, deleted_at in self._database.rows(query.order_by(tournaments.c.id)):
            names_of.setdefault(season, []).extend([] if deleted_at else [tournament])
        return [Season(name, tuple(names)) for name, names in sorted(names_of.items())]

    def get(self, name: str) -> Season:
        """Return a season by its name, or raise UnknownNameError."""
        season_of = {season.name: season for season in self.all()}
        if name not in season_of:
            raise UnknownNameError("season", name, season_of)
        return season_of[name]

    @writes
    def add(self, connection: Connection, name: str, chosen: Sequence[StoredTournament]) -> None:
        """Add tournaments to a season, which begins with its first; those it has already are not added again.

        Raises:
            UsageError: if a season may not have this name, or no tournament is given.
        """
        if not is_name(name):
            raise UsageError(f"season {name!r}: {ACCEPTED}")
        if not chosen:
            raise UsageError(f"season {name!r}: expected the tournaments to add")
        query = select(seasons.c.tournament_id).where(seasons.c.name == name)
        present = set(connection.execute(query).scalars())
        for number in dict.fromkeys(tournament.number for tournament in chosen):
            if number not in present:
                connection.execute(seasons.insert(), {"name": name, "tournament_id": number})
        advance(connection, SEASONS)

    def remove(self, name: str, chosen: Sequence[StoredTournament]) -> None:
        """Take tournaments out of a season, all or none; it ends with its last.

        Raises:
            UnknownNameError: if the season does not exist.
            UsageError: if it does not have one of them.
        """
        season = self.get(name)
        for tournament in chosen:
            if tournament.name not in season.tournaments:
                raise UsageError(f"season {name!r}: tournament {tournament.name!r} is not in it")
        numbers = [tournament.number for tournament in chosen]
        self._remove(seasons.delete().where(seasons.c.name == name, seasons.c.tournament_id.in_(numbers)))

    def delete(self, name: str) -> None:
        """Delete a season, or raise UnknownNameError; its tournaments stay."""
        self.get(name)
        self._remove(seasons.delete().where(seasons.c.name == name))

    @writes
    def _remove(self, connection: Connection, change: Delete) -> None:
        connection.execute(change)
        advance(connection, SEASONS)
