"""What of a contest can still be changed: nothing that somebody has relied on."""

from __future__ import annotations

from dataclasses import fields

from arena.errors import UsageError
from arena.people.contest import Contest, ContestPhase, StoredContest, phase_of
from arena.text import all_of

_WORDS_ALWAYS = frozenset({"title", "description"})
_UNTIL_REVEALED = _WORDS_ALWAYS | {"reveal_at"}
_UNTIL_DEADLINE = _UNTIL_REVEALED | {"deadline_at", "invited"}


def check_change(stored: StoredContest, new: Contest, now: str) -> None:
    """Check that a contest may become another one.

    Raises:
        UsageError: if something else is changed than can be now, or the new deadline has passed.
    """
    old, phase = stored.contest, phase_of(stored, now)
    where = f"contest {old.name!r}"
    if phase is ContestPhase.CANCELLED:
        raise UsageError(f"{where}: it is cancelled")
    changed = {part.name for part in fields(Contest) if getattr(old, part.name) != getattr(new, part.name)}
    refused = sorted(changed - _changeable(stored, phase))
    if refused:
        until = {
            ContestPhase.ANNOUNCED: "the name of a contest stays",
            ContestPhase.ENTERING: "after the opening, only title, description, reveal_at, a later deadline_at and more"
            " who are invited can be changed",
        }
        after = "after the deadline, only title and description can be changed, and reveal_at before it is revealed"
        raise UsageError(f"{where}: {all_of(refused)} can't be changed any more: {until.get(phase, after)}")
    if phase is ContestPhase.ANNOUNCED:
        check_deadline(new, now)
    if phase is ContestPhase.ENTERING:
        if new.deadline_at < old.deadline_at:
            raise UsageError(f"{where}: deadline_at can only become later after the opening")
        if not set(old.invited) <= set(new.invited):
            raise UsageError(f"{where}: after the opening, nobody can be taken out of those who are invited")


def check_deadline(contest: Contest, now: str) -> None:
    """Refuse a contest for which nothing can be handed in any more.

    Raises:
        UsageError: if its deadline has passed.
    """
    if contest.deadline_at <= now:
        raise UsageError(f"contest {contest.name!r}: deadline_at = {contest.deadline_at}: it has passed already")


def _changeable(stored: StoredContest, phase: ContestPhase) -> frozenset[str]:
    if phase is ContestPhase.ANNOUNCED:
        return frozenset(part.name for part in fields(Contest)) - {"name"}
    if phase is ContestPhase.ENTERING and stored.closed_at is None and stored.revealed_at is None:
        return _UNTIL_DEADLINE
    return _UNTIL_REVEALED if stored.revealed_at is None else _WORDS_ALWAYS
