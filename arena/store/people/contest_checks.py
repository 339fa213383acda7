"""What a contest may not have, as other contests and accounts are now; the same for a new one and a changed one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, select

from arena.errors import UsageError
from arena.people.contest import Contest, StoredContest
from arena.store.people.schema import people


def check_tournaments(contest: Contest, others: Iterable[StoredContest]) -> None:
    """Refuse a contest with a tournament that another one has.

    Args:
        contest: what was written.
        others: all contests but the one that becomes this.

    Raises:
        UsageError: if there is one.
    """
    for other in others:
        for name in contest.tournaments:
            if name in other.contest.tournaments:
                raise UsageError(
                    f"contest {contest.name!r}: the contest {other.name!r} has a tournament {name!r} already"
                )


def check_invited(connection: Connection, contest: Contest, invited_before: Collection[str] = ()) -> None:
    """Refuse a contest that invites somebody who has no account.

    Args:
        connection: to the database.
        contest: what was written.
        invited_before: who stays invited without an account: it was erased.

    Raises:
        UsageError: if there is such a name.
    """
    names = {name.lower() for name in connection.execute(select(people.c.name)).scalars()}
    names |= {name.lower() for name in invited_before}
    for name in contest.invited:
        if name.lower() not in names:
            raise UsageError(f"contest {contest.name!r}: invited = {name!r}: nobody has an account of this name")
