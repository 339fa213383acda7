"""Whether there is something to do for a contest now; asked often, so it loads nothing."""

from __future__ import annotations

from arena.store.people.contest import ContestPhase, ContestResults, ContestStage, StoredContest, phase_of
from arena.store.people.people_store import PeopleStore


def is_reveal_due(stored: StoredContest, now: str) -> bool:
    """Return whether hidden results are to be shown now: a director has asked for it, or everything is played and the
    time has come.
    """
    if stored.contest.results is ContestResults.OPEN or stored.revealed_at is not None:
        return False
    if stored.reveal_asked_at is not None:
        return True
    reveal_at = stored.contest.reveal_at
    return stored.played_at is not None and reveal_at is not None and reveal_at <= now


def has_work(stored: StoredContest, people: PeopleStore) -> bool:
    """Return whether the director of a contest has something to do, or to watch for.

    Args:
        stored: the contest.
        people: where it is.
    """
    now = people.contests.now()
    phase = phase_of(stored, now)
    if phase in (ContestPhase.ANNOUNCED, ContestPhase.CANCELLED):
        return False
    if phase not in (ContestPhase.PLAYED, ContestPhase.FINISHED) or stored.stage is not ContestStage.PLAYED:
        return True
    is_asked = any(people.requests.next(name) is not None for name in stored.contest.tournaments)
    return is_asked or is_reveal_due(stored, now)
