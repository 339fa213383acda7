"""Announcing a contest: the names of its tournaments must be free."""

from __future__ import annotations

from arena.errors import UsageError
from arena.people.contest import Contest, StoredContest
from arena.store.people.people_store import PeopleStore
from arena.store.store import Store


def announce(store: Store, people: PeopleStore, by: str, contest: Contest) -> StoredContest:
    """Announce a contest.

    Args:
        store: of the arena's home.
        people: where contests are.
        by: who announces it.
        contest: what was written.

    Raises:
        UsageError: if one of its tournaments has a name that is used, its deadline has passed, or who is invited has no
            account.
    """
    for name in contest.tournaments:
        if store.find_tournament(name) is not None:
            raise UsageError(f"contest {contest.name!r}: there is a tournament {name!r} already")
    return people.contests.add(by, contest)
