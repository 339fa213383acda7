"""Announcing and changing a contest: the names of its tournaments must be free."""

from __future__ import annotations

from collections.abc import Collection

from arena.base.errors import Mistake
from arena.store.people.contest import ContestReading, StoredContest
from arena.store.people.people_store import PeopleStore
from arena.store.results.store import Store


def announce(store: Store, people: PeopleStore, by: str, new: ContestReading) -> StoredContest:
    """Announce a contest.

    Args:
        store: of the arena's home.
        people: where contests are.
        by: who announces it.
        new: what was written.

    Raises:
        ContestError: with everything that is wrong: in what was written, and one of its tournaments has a name that is
            used, its deadline has passed, or who is invited has no account.
    """
    return people.contests.add(by, new, _taken_names(store, new))


def change(store: Store, people: PeopleStore, by: str, name: str, new: ContestReading, reason: str) -> StoredContest:
    """Change what can still be changed of a contest.

    Args:
        store: of the arena's home.
        people: where contests are.
        by: who changes it.
        name: of the contest.
        new: what it becomes.
        reason: why.

    Raises:
        UsageError: if there is no such contest.
        ContestError: with everything that is wrong: something else would be changed, the reason is missing or too long,
            or ``announce`` would refuse it.
    """
    taken = _taken_names(store, new, people.contests.get(name).contest.tournaments)
    return people.contests.change(by, name, new, reason, taken)


def _taken_names(store: Store, new: ContestReading, its_own: Collection[str] = ()) -> list[Mistake]:
    """Return a mistake for each of its tournaments that there is already."""
    names = new.contest.tournaments if new.has_right("name") else ()
    taken = [name for name in names if name not in its_own and store.find_tournament(name) is not None]
    return [Mistake("name", f"there is a tournament {name!r} already") for name in taken]
