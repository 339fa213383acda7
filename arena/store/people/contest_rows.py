"""Everything about contests that pages show, in three queries, and whether any of it may have changed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from arena.store.people.contest import StoredContest
from arena.store.people.contest_schema import contest_entries
from arena.store.people.schema import submissions
from arena.store.people.stored_contests import all_contests
from arena.store.people.submission import UNFINISHED
from arena.store.results.commit_signal import CommitSignal
from arena.store.results.connection import Database


@dataclass(frozen=True, slots=True)
class ContestRows:
    """Contests as they are stored.

    Attributes:
        contests: all of them, the latest first.
        entries: the bots of each, by its number.
        unfinished: the numbers of the submissions that are still being checked.
    """

    contests: tuple[StoredContest, ...]
    entries: dict[int, tuple[str, ...]]
    unfinished: tuple[int, ...]


class ContestReader:
    """Reads all contests at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def commit_signal(self) -> CommitSignal:
        """Return what says whether anything may have been committed."""
        return CommitSignal(self._database)

    def read(self) -> ContestRows:
        """Return everything as it is now.

        Raises:
            StoreError: if it can't be read.
        """
        return self._database.read(_rows)


def _rows(connection: Connection) -> ContestRows:
    entries: dict[int, tuple[str, ...]] = {}
    order = contest_entries.c.contest_id, contest_entries.c.submission_id
    for row in connection.execute(select(contest_entries.c.contest_id, contest_entries.c.bot).order_by(*order)):
        entries[row.contest_id] = (*entries.get(row.contest_id, ()), row.bot)
    waiting = select(submissions.c.id).where(submissions.c.state.in_(UNFINISHED)).order_by(submissions.c.id)
    return ContestRows(tuple(all_contests(connection)), entries, tuple(connection.execute(waiting).scalars()))
