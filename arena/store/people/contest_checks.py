"""What a contest may not have, as other contests and accounts are now; the same for a new one and a changed one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from sqlalchemy import Connection, select

from arena.base.mistake import Mistake
from arena.store.people.contest import StoredContest
from arena.store.people.contest_reading import ContestReading
from arena.store.people.schema import people

MAX_LISTED = 20
"""Of those who are invited without an account."""


def tournament_mistakes(new: ContestReading, others: Iterable[StoredContest]) -> Iterator[Mistake]:
    """Yield which tournaments of a contest another one has.

    Args:
        new: what was written.
        others: all contests but the one that becomes this.
    """
    if not new.has_right("name"):
        return
    for other in others:
        for name in new.contest.tournaments:
            if name in other.contest.tournaments:
                yield Mistake("name", f"the contest {other.name!r} has a tournament {name!r} already")


def invitation_mistakes(
    connection: Connection, new: ContestReading, invited_before: Collection[str] = ()
) -> Iterator[Mistake]:
    """Yield who is invited without an account.

    Args:
        connection: to the database.
        new: what was written.
        invited_before: who stays invited without an account: it was erased.
    """
    names = {name.lower() for name in connection.execute(select(people.c.name)).scalars()}
    names |= {name.lower() for name in invited_before}
    invited = new.contest.invited if new.has_right("invited") else ()
    missing = [name for name in invited if name.lower() not in names]
    for name in missing[:MAX_LISTED]:
        yield Mistake("invited", "nobody has an account of this name", repr(name))
    if len(missing) > MAX_LISTED:
        yield Mistake("invited", f"{len(missing) - MAX_LISTED} more have no account")
