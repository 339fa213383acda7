"""How often somebody may do something, and how much text the bots of an author may leave in a day."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil

from sqlalchemy import Connection, case, delete, select

from arena.store.people.schema import TimedRepository, rates, submissions
from arena.store.people.values import DAY_SECONDS, Clock, SubmissionState
from arena.store.results.connection import Database, insert_into

# How often somebody may do something: exact also when many ask at once, because a row decides.
#
# Each key has the time at which it will have paid for what it did (the generic cell rate algorithm, ITU-T I.371, annex
# A): doing something costs a share of the period, and nobody may owe more than the whole of it.

PRUNE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Rate:
    """How often: ``times`` at once if nothing was done for a whole period of ``per_seconds``."""

    times: int
    per_seconds: float

    @property
    def cost_milliseconds(self) -> int:
        """The share of the period that each time costs."""
        return ceil(self.per_seconds * 1000 / self.times)


class Rates(TimedRepository):
    """What was done, in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._pruned_at = 0.0

    def take(self, key: str, rate: Rate) -> float:
        """Count one more use; return 0 if it is allowed, else after how many seconds it will be."""
        if self._clock.now() - self._pruned_at > PRUNE_SECONDS:
            self._pruned_at = self._clock.now()
            self.prune()
        return self._database.write(lambda connection: take(connection, self._clock, key, rate))

    def forget(self, key: str) -> None:
        """Forget the uses counted under a key."""
        self._database.execute(delete(rates).where(rates.c.key == key))

    def prune(self) -> None:
        """Delete the rows that mean nothing any more."""
        now = int(self._clock.now() * 1000)
        self._database.execute(delete(rates).where(rates.c.free_at_milliseconds < now))


def take(connection: Connection, clock: Clock, key: str, rate: Rate) -> float:
    """Count one more use, in a transaction; return 0 if it is allowed, else after how many seconds it will be."""
    now = int(clock.now() * 1000)
    cost = rate.cost_milliseconds
    free_at = rates.c.free_at_milliseconds
    most = cost * rate.times
    # a right clock leaves no more than the most, also if it is set back a little; what one has left that was far ahead
    # would keep everybody out until that time
    is_owed = (free_at > now) & (free_at <= now + 2 * most)
    after = case((is_owed, free_at), else_=now) + cost
    statement = (
        insert_into(connection, rates)
        .values(key=key, free_at_milliseconds=now + cost)
        .on_conflict_do_update(
            index_elements=[rates.c.key],
            set_={"free_at_milliseconds": after},
            where=after - now <= most,
        )
        .returning(free_at)
    )
    if connection.execute(statement).one_or_none() is not None:
        return 0.0
    owed = int(connection.execute(select(free_at).where(rates.c.key == key)).scalar_one()) - now
    return max(0.001, (owed + cost - most) / 1000)


# How much the bots of each author have said today: text on stderr, notes and details of faults in records.
#
# The count of a day is a row of the rates, above the end of the day (UTC), so that it is pruned with them.

MAX_DAILY_BYTES = 64 * 2**20
"""Of an author. A note of a hundred bytes with each action of ten thousand matches takes half of it."""


class RecordQuota(TimedRepository):
    """What authors have used of their quota, in a database."""

    def add(self, text_bytes: Mapping[str, int]) -> None:
        """Count bytes by bot (``name@version``); bots that nobody submitted have no quota."""
        authors = self._authors(text_bytes)
        used: dict[int, int] = {}
        for bot, person in authors.items():
            used[person] = used.get(person, 0) + text_bytes[bot]
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
        """Return whether the bots of a person have used up their quota of text for today."""
        return bool(self._used_up({person}))

    def _used_up(self, people: Collection[int]) -> set[int]:
        by_key = {self._key(person): person for person in people}
        most = self._end_milliseconds() + MAX_DAILY_BYTES
        query = select(rates.c.key).where(rates.c.key.in_(list(by_key)), rates.c.free_at_milliseconds > most)
        return {by_key[key] for key in self._database.scalars(query)}

    def _authors(self, bots: Collection[str]) -> dict[str, int]:
        accepted = (submissions.c.state == SubmissionState.ACCEPTED, submissions.c.bot.in_(list(bots)))
        query = select(submissions.c.bot, submissions.c.person_id).where(*accepted)
        return dict(self._database.rows(query))

    def _key(self, person: int) -> str:
        return f"record bytes of {person} on {self._clock.text()[:10]}"

    def _end_milliseconds(self) -> int:
        return int((self._clock.now() // DAY_SECONDS + 1) * DAY_SECONDS * 1000)
