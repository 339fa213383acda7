"""Longer analyses of recorded matches that somebody has asked for: a queue, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, select

from arena.base.enums import AnalysisState, EventKind
from arena.base.errors import StoreError, UsageError
from arena.base.version import __version__
from arena.store.results.connection import Repository
from arena.store.results.events import about_matches, add_event
from arena.store.results.schema import analysis_requests as requests
from arena.store.results.schema import records, tournaments
from arena.store.results.values import StoredTournament

MAX_WAITING = 100


class AskedMatch(NamedTuple):
    """A match that is to be analysed; ``tournament`` is a number."""

    tournament: int
    match: int


class AnalysisRequest(NamedTuple):
    """What became of a request: its place in the queue, from 1 (0 if it does not wait), and how many wait."""

    state: AnalysisState
    place: int
    waiting: int
    searched_seconds: int


class AnalysisRequests(Repository):
    """The requests in a database. One is about a record, and is not seen once another took its place."""

    def add(self, tournament: StoredTournament, match: int) -> None:
        """Put a recorded match at the end of the queue, unless it waits there; UsageError if too many do."""
        asked = AskedMatch(tournament.number, match)

        def add(connection: Connection) -> None:
            waiting = _waiting(connection)
            if asked in waiting:
                return
            _check_room(waiting)
            content = connection.execute(_content(asked)).scalar()
            if content is None:
                raise StoreError(f"match {match} of tournament {tournament.name!r} has no record")
            connection.execute(requests.delete().where(_is_about(asked)))
            last = connection.execute(select(func.coalesce(func.max(requests.c.number), 0))).scalar_one()
            row = {"tournament_id": asked.tournament, "match": match, "actions_hash": content, "number": last + 1}
            values = {"state": AnalysisState.WAITING, "searched_seconds": 0, "arena": __version__}
            connection.execute(requests.insert(), row | values)
            _announce(connection)

        self._database.write(add)

    def check_room(self) -> None:
        """Raise UsageError if too many wait."""
        _check_room(self.waiting())

    def find(self, tournament: StoredTournament, match: int) -> AnalysisRequest | None:
        """Return what became of the request for a match; None without one, or if another version searched it."""
        asked = AskedMatch(tournament.number, match)
        content = _content(asked).scalar_subquery()
        row = self._database.row(select(requests).where(_is_about(asked), requests.c.actions_hash == content))
        if row is None or (row.state is AnalysisState.DONE and row.arena != __version__):
            return None
        waiting = self.waiting()
        place = waiting.index(asked) + 1 if asked in waiting else 0
        return AnalysisRequest(row.state, place, len(waiting), row.searched_seconds)

    def waiting(self) -> list[AskedMatch]:
        """Return those that wait, the latest last."""
        return self._database.read(_waiting)

    def claim(self) -> AskedMatch | None:
        """Take the first of those that wait, to be finished; None without one."""

        def claim(connection: Connection) -> AskedMatch | None:
            first = next(iter(_waiting(connection)), None)
            if first is not None:
                connection.execute(requests.update().where(_is_about(first)).values(state=AnalysisState.RUNNING))
                _announce(connection, first)
            return first

        return self._database.write(claim) if self.waiting() else None

    def finish(self, asked: AskedMatch, searched_seconds: int) -> None:
        """Note that a match was searched."""
        values = {"state": AnalysisState.DONE, "searched_seconds": searched_seconds, "arena": __version__}

        def finish(connection: Connection) -> None:
            connection.execute(requests.update().where(_is_about(asked)).values(values))
            _announce(connection, asked)

        self._database.write(finish)

    def forget_claimed(self) -> None:
        """Forget what was being searched when its program ended, perhaps because of it; it may be asked for again."""

        def forget(connection: Connection) -> None:
            claimed = requests.c.state == AnalysisState.RUNNING
            for asked in _matches(connection, claimed):
                connection.execute(requests.delete().where(_is_about(asked)))
                _announce(connection, asked)

        self._database.write(forget)


def _check_room(waiting: Sequence[AskedMatch]) -> None:
    if len(waiting) >= MAX_WAITING:
        raise UsageError(f"{len(waiting)} matches wait for their analysis; ask again when some are done")


def _is_about(asked: AskedMatch) -> ColumnElement[bool]:
    return and_(requests.c.tournament_id == asked.tournament, requests.c.match == asked.match)


def _content(asked: AskedMatch) -> Any:
    own = and_(records.c.tournament_id == asked.tournament, records.c.match == asked.match)
    return select(records.c.actions_hash).where(own)


def _waiting(connection: Connection) -> list[AskedMatch]:
    return _matches(connection, requests.c.state == AnalysisState.WAITING)


def _matches(connection: Connection, which: ColumnElement[bool]) -> list[AskedMatch]:
    """Return those of tournaments that are not in the trash, the latest last."""
    query = select(requests.c.tournament_id, requests.c.match).join(tournaments).where(which)
    found = connection.execute(query.where(tournaments.c.deleted_at.is_(None)).order_by(requests.c.number))
    return [AskedMatch(*row) for row in found]


def _announce(connection: Connection, *changed: AskedMatch) -> None:
    """Tell readers of these matches what has become of them, and readers of those that wait that places change."""
    found = sorted({*changed, *_waiting(connection)})
    for tournament, asked in groupby(found, key=lambda one: one.tournament):
        add_event(connection, tournament, EventKind.ANNOTATED, about_matches([one.match for one in asked]))
