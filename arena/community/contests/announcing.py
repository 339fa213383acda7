"""Announcing and changing a contest, and texts to begin with."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from arena.base.errors import Mistake, UnknownNameError
from arena.base.shipped import path_of
from arena.store.people.contest import ContestReading, StoredContest
from arena.store.people.people_store import PeopleStore
from arena.store.results.store import Store


def announce(store: Store, people: PeopleStore, by: str, new: ContestReading) -> StoredContest:
    """Announce a contest; raise ContestError with everything that is wrong, taken names of tournaments included."""
    return people.contests.add(by, new, _taken_names(store, new))


def change(store: Store, people: PeopleStore, by: str, name: str, new: ContestReading, reason: str) -> StoredContest:
    """Change what can still be changed of a contest; raise ContestError with everything that is wrong."""
    taken = _taken_names(store, new, people.contests.get(name).contest.tournaments)
    return people.contests.change(by, name, new, reason, taken)


def _taken_names(store: Store, new: ContestReading, its_own: Collection[str] = ()) -> list[Mistake]:
    names = new.contest.tournaments if new.has_right("name") else ()
    taken = [name for name in names if name not in its_own and store.find_tournament(name) is not None]
    return [Mistake("name", f"there is a tournament {name!r} already") for name in taken]


# Contests to begin with, as TOML texts with comments.

_DIRECTORY = path_of("arena.community.contests") / "templates"
DAYS = 7
"""From the opening to the deadline."""


def template_names() -> tuple[str, ...]:
    """Return the names of the templates."""
    return tuple(sorted(path.stem for path in _DIRECTORY.glob("*.toml")))


def template_summary(template: str) -> str:
    """Return what a template is good for, which its first line says."""
    first = (_DIRECTORY / f"{template}.toml").read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2].removesuffix(".")


def template_text(template: str, name: str, time_zone: str, today: datetime) -> str:
    """Return the text of a contest that opens tomorrow at eight and lasts a week; ``today`` is the time in its zone."""
    if template not in template_names():
        raise UnknownNameError("template", template, template_names())
    opens_at = today.replace(hour=8, minute=0, second=0, microsecond=0, tzinfo=None) + timedelta(days=1)
    deadline_at = opens_at.replace(hour=23, minute=59, second=59) + timedelta(days=DAYS)
    values = {
        "NAME": name,
        "TITLE": name.capitalize(),
        "OPENS_AT": opens_at.isoformat(),
        "DEADLINE_AT": deadline_at.isoformat(),
        "REVEAL_AT": (deadline_at + timedelta(days=1)).isoformat(),
        "TIME_ZONE": time_zone,
    }
    text = (_DIRECTORY / f"{template}.toml").read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
