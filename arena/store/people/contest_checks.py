"""What a contest may not have, as other contests and accounts are now; the same for a new one and a changed one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from sqlalchemy import Connection, select

from arena.people.contest import Contest, StoredContest
from arena.store.people.schema import people

MAX_LISTED = 20
"""Of those who are invited without an account."""


def tournament_faults(contest: Contest, others: Iterable[StoredContest]) -> Iterator[str]:
    """Yield which tournaments of a contest another one has.

    Args:
        contest: what was written.
        others: all contests but the one that becomes this.
    """
    for other in others:
        for name in contest.tournaments:
            if name in other.contest.tournaments:
                yield f"the contest {other.name!r} has a tournament {name!r} already"


def invitation_faults(connection: Connection, contest: Contest, invited_before: Collection[str] = ()) -> Iterator[str]:
    """Yield who is invited without an account.

    Args:
        connection: to the database.
        contest: what was written.
        invited_before: who stays invited without an account: it was erased.
    """
    names = {name.lower() for name in connection.execute(select(people.c.name)).scalars()}
    names |= {name.lower() for name in invited_before}
    missing = [name for name in contest.invited if name.lower() not in names]
    for name in missing[:MAX_LISTED]:
        yield f"invited = {name!r}: nobody has an account of this name"
    if len(missing) > MAX_LISTED:
        yield f"invited: {len(missing) - MAX_LISTED} more have no account"
