"""Announcing and changing a contest: the names of its tournaments must be free."""

from __future__ import annotations

from collections.abc import Collection

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
        UsageError: with everything that is wrong: one of its tournaments has a name that is used, its deadline has
            passed, or who is invited has no account.
    """
    return people.contests.add(by, contest, _taken_names(store, contest))


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
        UsageError: if there is no such contest; or with everything that is wrong: something else would be changed, or
            ``announce`` would refuse it.
    """
    taken = _taken_names(store, contest, people.contests.get(name).contest.tournaments)
    return people.contests.change(by, name, contest, reason, taken)


def _taken_names(store: Store, contest: Contest, its_own: Collection[str] = ()) -> list[str]:
    """Return a sentence for each of its tournaments that there is already."""
    taken = [name for name in contest.tournaments if name not in its_own and store.find_tournament(name) is not None]
    return [f"there is a tournament {name!r} already" for name in taken]
