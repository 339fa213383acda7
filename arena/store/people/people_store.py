"""Opens the database of people."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import Connection, inspect

from arena.base.errors import StoreError, failing_as
from arena.store.people.accounts import Accounts, Invitations
from arena.store.people.answers import PuzzleTries, Votes
from arena.store.people.contest_messages import ContestMessages
from arena.store.people.contests import Contests
from arena.store.people.directors import Directors, Requests
from arena.store.people.rates import Rates, RecordQuota
from arena.store.people.schema import SCHEMA_VERSION, SUBMITTING, PublicLog, meta, metadata
from arena.store.people.sessions import Sessions, Tokens
from arena.store.people.submissions import Submissions
from arena.store.people.unrated_matches import UnratedMatches
from arena.store.people.values import Clock, Now
from arena.store.results.connection import Database
from arena.store.results.schema import create_tables
from arena.store.results.whole_database import Schema, WholeDatabase

FILE_MODE = 0o600


def _migrate(connection: Connection, version: int) -> None:
    """Version 1 had a table of programs that waited for a code to be typed; 3 brought challenges, 4 votes, 5 tries."""
    create_tables(connection, metadata)
    connection.exec_driver_sql("DROP TABLE IF EXISTS device_logins")
    columns = [column["name"] for column in inspect(connection).get_columns("unrated_matches")]
    for new in ("challenger VARCHAR(200) DEFAULT '' NOT NULL", "compared TEXT DEFAULT '' NOT NULL"):
        if new.split()[0] not in columns:
            connection.exec_driver_sql(f"ALTER TABLE unrated_matches ADD COLUMN {new}")


PEOPLE_SCHEMA = Schema(
    metadata, meta, SCHEMA_VERSION, "of something else than people", 7462, _migrate, keys=("log", SUBMITTING)
)


class PeopleStore(WholeDatabase):
    """A database of people. A context manager, or closed with ``close``.

    Attributes:
        directors: the programs of supervised runs.
        requests: what they are to do.
        record_quota: how much the bots of each author wrote into records today.
    """

    _schema = PEOPLE_SCHEMA

    def __init__(self, place: Path | str, now: Now = lambda: time.time()) -> None:
        """Open the database at a path (a new file is its owner's alone) or a URL, creating missing tables."""
        if isinstance(place, Path):
            with failing_as(StoreError, f"{place}: can't be written"):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch(FILE_MODE)
        super().__init__(Database(place))
        self._database.overwrite_deleted()  # people who leave are erased from the file too
        clock = Clock(now)
        self.accounts = Accounts(self._database, clock)
        self.sessions = Sessions(self._database, clock)
        self.tokens = Tokens(self._database, clock)
        self.invitations = Invitations(self._database, clock)
        self.submissions = Submissions(self._database, clock)
        self.unrated_matches = UnratedMatches(self._database, clock)
        self.votes = Votes(self._database, clock)
        self.puzzle_tries = PuzzleTries(self._database, clock)
        self.contests = Contests(self._database, clock)
        self.contest_messages = ContestMessages(self._database, clock)
        self.log = PublicLog(self._database)
        self.directors = Directors(self._database, clock)
        self.requests = Requests(self._database, clock)
        self.rates = Rates(self._database, clock)
        self.record_quota = RecordQuota(self._database, clock)
        self.bring_up_to_date()
