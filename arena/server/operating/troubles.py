"""Health problems of the services: what they have noted, what they report in the database, and which do not run.

Each has two sentences: one for everybody, which names nothing of the machine, and one for operators. Of a contest both
say only that it does not go on: the explanation may be about embargoed results.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from arena.base.errors import ArenaError
from arena.base.programs.service_program import Trouble, noted_troubles
from arena.base.text import counted
from arena.server.operating.parts import PARTS, WEB, WORK, lock_path
from arena.store.people.contest import ContestPhase, ContestResults, phase_of
from arena.store.people.directing import LADDER, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.results.lock import is_file_locked

HOME = "home"
"""In place of a part: what is wrong keeps all parts from their work."""
PROBE = bytes(64 * 1024)
"""What is written to see whether it can be, into a file without a name."""
IN_TROUBLE = (DirectorState.SHORT, DirectorState.RESTING, DirectorState.UNABLE)
LOG_SAYS_WHY = "the log of the server says why"
CANNOT_BE_PLAYED = f"it can't be played now; {LOG_SAYS_WHY}"
"""What everybody may know of a ladder whose own sentence may name a path or a host."""
OVER = (ContestPhase.FINISHED, ContestPhase.CANCELLED)


def troubles(directory: str | os.PathLike[str], people: PeopleStore) -> Iterator[Trouble]:
    """Yield what is wrong now with the services of a home, its ladders and contests."""
    noted = list(noted_troubles(directory))
    yield from (replace(one, public=_public(one.part)) for one in noted)
    if reason := why_unwritable(directory):
        public = f"the arena's home can't be written: nothing new is kept; {LOG_SAYS_WHY}"
        yield Trouble(HOME, f"the arena's home can't be written: {directory}: {reason}", public)
    yield from _away(Path(directory))
    try:
        yield from _of_ladders(people, noted)
        yield from _of_contests(people)
        yield from _of_submissions(people)
    except ArenaError as error:
        unread = "the database of people can't be read"
        yield Trouble(WEB, f"{unread}: {error}", f"{unread}; {LOG_SAYS_WHY}")


def why_unwritable(directory: str | os.PathLike[str]) -> str:
    """Return why nothing can be written in a home, "" if it can: no number of free bytes says that for all disks."""
    try:
        with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
            written = file.write(PROBE) or 0
    except OSError as error:
        return error.strerror or type(error).__name__
    return "" if written == len(PROBE) else os.strerror(errno.ENOSPC)


def public_sentence(state: DirectorState, sentence: str) -> str:
    """Return what everybody may know of what a ladder's program says of itself."""
    return CANNOT_BE_PLAYED if state is DirectorState.UNABLE and sentence else sentence


def _public(name: str) -> str:
    does = next((f"the part that {part.summary}" for part in PARTS if part.name == name), "a part of the site")
    return f"{does} can't do all of its work; {LOG_SAYS_WHY}"


def _known(part: str, sentence: str) -> Trouble:
    return Trouble(part, sentence, sentence)


def _away(directory: Path) -> Iterator[Trouble]:
    """Yield that nothing checks and plays any more, also by units of an earlier arena."""
    path, web = lock_path(directory, WORK), lock_path(directory, WEB)
    has_worked = any(one != web for one in path.parent.glob("*.lock"))
    if has_worked and not (path.exists() and is_file_locked(path)):
        yield _known(WORK, "the process that checks and plays does not run (arena serve --only work)")


def _of_ladders(people: PeopleStore, noted: list[Trouble]) -> Iterator[Trouble]:
    for one in people.directors.reports(LADDER):
        if people.directors.is_silent(one):
            yield _known("ladder", f"{one.tournament}: its program does not run")
        elif one.state in IN_TROUBLE and not _is_noted(one.sentence, noted):
            public = public_sentence(one.state, one.sentence) or one.state
            yield Trouble("ladder", f"{one.tournament}: {one.sentence or one.state}", f"{one.tournament}: {public}")


def _is_noted(sentence: str, noted: list[Trouble]) -> bool:
    """Return whether a ladder that can't be played has noted the same sentence."""
    return bool(sentence) and any(one.sentence.endswith(sentence) for one in noted)


def _of_contests(people: PeopleStore) -> Iterator[Trouble]:
    now = people.contests.now()
    for stored in people.contests.all():
        if stored.stage_note and phase_of(stored, now) not in OVER:
            sentence = f"contest {stored.name} does not go on; its page tells its directors why"
            is_known = stored.contest.results is ContestResults.OPEN or stored.revealed_at is not None
            yield Trouble("contests", sentence, sentence if is_known else "")  # it may be about what is hidden


def _of_submissions(people: PeopleStore) -> Iterator[Trouble]:
    failed, unfinished = people.submissions.failed_checks()
    if failed:
        what = f"the arena could not check {counted(len(failed), 'submission')}, the last one {failed[-1]}"
        yield _known("checker", f"{what}; {LOG_SAYS_WHY}")
    if unfinished:
        what = f"submission {unfinished[0]} is checked again, as an earlier check ended without a result"
        yield _known("checker", f"{what}; {LOG_SAYS_WHY}")
