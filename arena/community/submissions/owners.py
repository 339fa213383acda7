"""Tells the homes whose the bots in their tournaments are: the database of people knows it, and pages read the homes.

A home has no more of a person than the name with each bot that was accepted, and nothing of whoever has left.
"""

from __future__ import annotations

from collections.abc import Iterable

from arena.store.people.people_store import PeopleStore
from arena.store.results.store import Store
from arena.store.results.values import OwnedBot


def tell_owners(people: PeopleStore, home: Store, others: Iterable[Store] = ()) -> None:
    """Make homes name whose the bots are, and forget the names of those who have left.

    Args:
        people: knows whose they are.
        home: where accepted bots are listed.
        others: further homes in which they play.
    """
    listed = {bot.label: bot.digest for bot in home.submitted_bots()}
    known = home.owners().by_bot
    owned = []
    for label, person in people.submissions.owners().items():
        digest = listed.get(label) or (known[label].digest if label in known else "")
        owned += [OwnedBot(label, digest, person)] if digest else []
    for store in (home, *others):
        store.set_owners(owned)
