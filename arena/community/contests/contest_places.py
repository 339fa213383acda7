"""Where the files of a contest are, and whether its director has work. Services ask often, so it loads little."""

from __future__ import annotations

import os
from pathlib import Path

from arena.base.names import as_file_name
from arena.store.home import CONTESTS_DIRECTORY, DATABASE_FILE, resolved_home
from arena.store.people.contest import ContestPhase, ContestResults, ContestStage, StoredContest, phase_of
from arena.store.people.people_store import PeopleStore
from arena.store.results.values import StoredTournament


def embargoed_home_path(directory: str | os.PathLike[str] | None, name: str) -> Path:
    """Return where the embargoed home of a contest is, or would be."""
    return resolved_home(directory) / CONTESTS_DIRECTORY / as_file_name(name)


def has_embargoed_home(directory: str | os.PathLike[str] | None, name: str) -> bool:
    """Return whether a contest has an embargoed home."""
    return (embargoed_home_path(directory, name) / DATABASE_FILE).exists()


RESULTS = "results"


def result_path(home: Path, contest: str) -> Path:
    """Return where the result of a contest is, or would be."""
    return home / "cache" / RESULTS / f"{as_file_name(contest)}.zip"


def state_of(tournament: StoredTournament) -> str:
    """Return a text that changes with the records of a tournament, its end and its corrections."""
    return f"{tournament.name} {tournament.recorded} {tournament.finished_at} {len(tournament.corrections)}"


def is_reveal_due(stored: StoredContest, now: str) -> bool:
    """Return whether to reveal results now: a director has asked for it, or all is played and the time has come."""
    if stored.contest.results is ContestResults.OPEN or stored.revealed_at is not None:
        return False
    if stored.reveal_asked_at is not None:
        return True
    reveal_at = stored.contest.reveal_at
    return stored.played_at is not None and reveal_at is not None and reveal_at <= now


def has_work(stored: StoredContest, people: PeopleStore) -> bool:
    """Return whether the director of a contest has something to do, or to watch for."""
    now = people.contests.now()
    phase = phase_of(stored, now)
    if phase in (ContestPhase.ANNOUNCED, ContestPhase.CANCELLED):
        return False
    if phase not in (ContestPhase.PLAYED, ContestPhase.FINISHED) or stored.stage is not ContestStage.PLAYED:
        return True
    return has_requests(stored, people) or is_reveal_due(stored, now)


def has_requests(stored: StoredContest, people: PeopleStore) -> bool:
    """Return whether a director has requested something of a tournament of a contest."""
    return any(people.requests.next(name) is not None for name in stored.contest.tournaments)
