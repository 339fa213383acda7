"""How much the bots of each author have said today: text on stderr, notes and details of faults in records.

The count of a day is kept beside the rates, above the end of the day (UTC), so that it is pruned with them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, select

from arena.store.people.schema import rates, submissions
from arena.store.people.submission import SubmissionState
from arena.store.people.times import DAY_SECONDS, Clock
from arena.store.results.connection import Database, insert_into

MAX_DAILY_BYTES = 64 * 2**20
"""Of an author. A note of a hundred bytes with each action of ten thousand matches takes half of it."""


class RecordQuota:
    """What authors have used of their quota, in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def add(self, said: Mapping[str, int]) -> None:
        """Count what bots (``name@version``) have said; those that nobody handed in have no quota.

        Args:
            said: bytes by bot.
        """
        authors = self._authors(said)
        used: dict[int, int] = {}
        for bot, person in authors.items():
            used[person] = used.get(person, 0) + said[bot]
        end = self._end_milliseconds()

        def count(connection: Connection) -> None:
            for person, size in sorted(used.items()):
                row = {"key": self._key(person), "free_at_milliseconds": end + size}
                statement = insert_into(connection, rates).values(row)
                more = {"free_at_milliseconds": rates.c.free_at_milliseconds + size}
                connection.execute(statement.on_conflict_do_update(index_elements=[rates.c.key], set_=more))

        if used:
            self._database.write(count)

    def beyond(self, bots: Collection[str]) -> frozenset[str]:
        """Return which of some bots (``name@version``) are suspended until the day is over."""
        authors = self._authors(bots)
        full = self._used_up(set(authors.values()))
        return frozenset(bot for bot, person in authors.items() if person in full)

    def is_used_up(self, person: int) -> bool:
        """Return whether the bots of a person have said all that they may say today."""
        return bool(self._used_up({person}))

    def _used_up(self, people: Collection[int]) -> set[int]:
        by_key = {self._key(person): person for person in people}
        most = self._end_milliseconds() + MAX_DAILY_BYTES
        query = select(rates.c.key).where(rates.c.key.in_(list(by_key)), rates.c.free_at_milliseconds > most)
        return {
            by_key[key] for key in self._database.read(lambda connection: connection.execute(query).scalars().all())
        }

    def _authors(self, bots: Collection[str]) -> dict[str, int]:
        """Return the number of the author of each bot that was handed in."""
        accepted = (submissions.c.state == SubmissionState.ACCEPTED, submissions.c.bot.in_(list(bots)))
        query = select(submissions.c.bot, submissions.c.person_id).where(*accepted)
        found = self._database.read(lambda connection: connection.execute(query).all())
        return {row.bot: row.person_id for row in found}

    def _key(self, person: int) -> str:
        return f"record bytes of {person} on {self._clock.text()[:10]}"

    def _end_milliseconds(self) -> int:
        return int((self._clock.now() // DAY_SECONDS + 1) * DAY_SECONDS * 1000)
