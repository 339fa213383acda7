"""What is wrong with the parts of the site: what they have noted, what they say in the database, and which do not run.

Everybody reads it. Of a contest it says no more than that it does not go on: why may be about what is hidden.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from arena.errors import ArenaError
from arena.operating.part_lock import lock_path
from arena.operating.parts import PARTS, WEB
from arena.people.contest import ContestPhase, phase_of
from arena.people.directing import LADDER, DirectorState
from arena.store.lock import is_file_locked
from arena.store.people.people_store import PeopleStore
from arena.trouble_note import Trouble, noted_troubles

IN_TROUBLE = (DirectorState.SHORT, DirectorState.RESTING, DirectorState.UNABLE)
OVER = (ContestPhase.FINISHED, ContestPhase.CANCELLED)


def troubles(directory: str | os.PathLike[str], people: PeopleStore) -> Iterator[Trouble]:
    """Yield what is wrong now.

    Args:
        directory: the home.
        people: has ladders and contests.
    """
    noted = list(noted_troubles(directory))
    yield from noted
    yield from _away(Path(directory))
    try:
        yield from _of_ladders(people, noted)
        yield from _of_contests(people)
    except ArenaError as error:
        yield Trouble(WEB, f"the database of people can't be read: {error}")


def _away(directory: Path) -> Iterator[Trouble]:
    """Yield the parts that have worked on this home and do not now; of ladders the database says it."""
    for part in PARTS:
        path = lock_path(directory, part.name)
        if part.name != WEB and path.exists() and not is_file_locked(path):
            yield Trouble(part.name, f"the part that {part.summary} does not run ({part.name})")


def _of_ladders(people: PeopleStore, noted: list[Trouble]) -> Iterator[Trouble]:
    for one in people.directors.reports(LADDER):
        if people.directors.is_silent(one):
            yield Trouble("ladder", f"{one.tournament}: its program does not run")
        elif one.state in IN_TROUBLE and not _is_noted(one.sentence, noted):
            yield Trouble("ladder", f"{one.tournament}: {one.sentence or one.state}")


def _is_noted(sentence: str, noted: list[Trouble]) -> bool:
    """Return whether a ladder that can't be played has noted the same sentence."""
    return bool(sentence) and any(one.sentence.endswith(sentence) for one in noted)


def _of_contests(people: PeopleStore) -> Iterator[Trouble]:
    now = people.contests.now()
    for stored in people.contests.all():
        if stored.stage_note and phase_of(stored, now) not in OVER:
            yield Trouble("contests", f"contest {stored.name} does not go on; its page tells its directors why")
