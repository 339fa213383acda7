"""Announcing and changing a contest: the names of its tournaments must be free."""

from __future__ import annotations

from collections.abc import Collection

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
    _check_tournaments(store, contest)
    return people.contests.add(by, contest)


def change(store: Store, people: PeopleStore, by: str, name: str, contest: Contest, reason: str) -> StoredContest:
    """Change what can still be changed of a contest.

    Args:
        store: of the arena's home.
        people: where contests are.
        by: who changes it.
        name: of the contest.
        contest: what it becomes.
        reason: why.

    Raises:
        UsageError: if there is no such contest, something else would be changed, or ``announce`` would refuse it.
    """
    _check_tournaments(store, contest, people.contests.get(name).contest.tournaments)
    return people.contests.change(by, name, contest, reason)


def _check_tournaments(store: Store, contest: Contest, its_own: Collection[str] = ()) -> None:
    for name in contest.tournaments:
        if name not in its_own and store.find_tournament(name) is not None:
            raise UsageError(f"contest {contest.name!r}: there is a tournament {name!r} already")
