"""How often somebody may do something: exact also when many ask at once, because a row decides.

Each key has the time at which it will have paid for what it did (the generic cell rate algorithm, ITU-T I.371, annex
A): doing something costs a share of the period, and nobody may owe more than the whole of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from sqlalchemy import Connection, case, delete, select

from arena.store.people.schema import rates
from arena.store.people.times import Clock
from arena.store.results.connection import Database, insert_into

PRUNE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Rate:
    """How often.

    Attributes:
        times: at once, if nothing was done for a whole period.
        per_seconds: the period.
    """

    times: int
    per_seconds: float

    @property
    def cost_milliseconds(self) -> int:
        """The share of the period that each time costs."""
        return ceil(self.per_seconds * 1000 / self.times)


class Rates:
    """What was done, in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._pruned_at = 0.0

    def take(self, key: str, rate: Rate) -> float:
        """Do something once more; return 0 if that is allowed, else after how many seconds it will be."""
        if self._clock.now() - self._pruned_at > PRUNE_SECONDS:
            self._pruned_at = self._clock.now()
            self.prune()
        return self._database.write(lambda connection: take(connection, self._clock, key, rate))

    def forget(self, key: str) -> None:
        """Forget what was done under a key."""
        self._database.write(lambda connection: connection.execute(delete(rates).where(rates.c.key == key)))

    def prune(self) -> None:
        """Delete the rows that mean nothing any more."""
        now = int(self._clock.now() * 1000)
        self._database.write(
            lambda connection: connection.execute(delete(rates).where(rates.c.free_at_milliseconds < now))
        )


def take(connection: Connection, clock: Clock, key: str, rate: Rate) -> float:
    """Do something once more, in a transaction; return 0 if it is allowed, else after how many seconds it will be."""
    now = int(clock.now() * 1000)
    cost = rate.cost_milliseconds
    free_at = rates.c.free_at_milliseconds
    after = case((free_at > now, free_at), else_=now) + cost
    statement = (
        insert_into(connection, rates)
        .values(key=key, free_at_milliseconds=now + cost)
        .on_conflict_do_update(
            index_elements=[rates.c.key],
            set_={"free_at_milliseconds": after},
            where=after - now <= cost * rate.times,
        )
        .returning(free_at)
    )
    if connection.execute(statement).one_or_none() is not None:
        return 0.0
    owed = int(connection.execute(select(free_at).where(rates.c.key == key)).scalar_one()) - now
    return max(0.001, (owed + cost - cost * rate.times) / 1000)
