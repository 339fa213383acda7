"""What of a contest can still be changed: nothing that somebody has relied on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields

from arena.people.contest import Contest, ContestPhase, StoredContest, phase_of
from arena.text import all_of, counted, shortened_text

_TIME = "%Y-%m-%d %H:%M:%S"

_WORDS_ALWAYS = frozenset({"title", "description"})
_UNTIL_REVEALED = _WORDS_ALWAYS | {"reveal_at"}
_UNTIL_DEADLINE = _UNTIL_REVEALED | {"deadline_at", "invited"}


def change_faults(stored: StoredContest, new: Contest, now: str) -> Iterator[str]:
    """Yield why a contest can't become another one: what else is changed than can be, or a deadline that has passed."""
    old, phase = stored.contest, phase_of(stored, now)
    if phase is ContestPhase.CANCELLED:
        yield "it is cancelled"
        return
    changed = {part.name for part in fields(Contest) if getattr(old, part.name) != getattr(new, part.name)}
    refused = sorted(changed - _changeable(stored, phase))
    if refused:
        until = {
            ContestPhase.ANNOUNCED: "the name of a contest stays",
            ContestPhase.ENTERING: "after the opening, only title, description, reveal_at, a later deadline_at and more"
            " who are invited can be changed",
        }
        after = "after the deadline, only title and description can be changed, and reveal_at before it is revealed"
        yield f"{all_of(refused)} can't be changed any more: {until.get(phase, after)}"
    if phase is ContestPhase.ANNOUNCED:
        yield from deadline_faults(new, now)
    if phase is ContestPhase.ENTERING:
        if new.deadline_at < old.deadline_at:
            before, after = (f"{old.local(at):{_TIME}}" for at in (old.deadline_at, new.deadline_at))
            yield (
                f"deadline_at = {after}: after the opening, the deadline can only become later than it is,"
                f" {before} ({old.time_zone})"
            )
        if not set(old.invited) <= set(new.invited):
            yield "invited: after the opening, nobody can be taken out of those who are invited"


def differences(old: Contest, new: Contest) -> tuple[str, ...]:
    """Return what is different in a contest, for everybody to read: each key with its old value and the new one.

    Nothing is said of who is invited but how many they are, and nothing of the words of a description but that they are
    others.
    """
    before, after = dict(_shown_values(old)), dict(_shown_values(new))
    shown = [
        f"{key}: {shortened_text(before.get(key, 'none'))} → {shortened_text(after.get(key, 'none'))}"
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    ]
    if old.description != new.description:
        shown.insert(0, "description: other words")
    if old.invited != new.invited and len(old.invited) == len(new.invited):
        shown.append("invited: other people")
    return tuple(shown)


def _shown_values(contest: Contest) -> Iterator[tuple[str, str]]:
    for key in ("name", "title", "game"):
        yield key, str(getattr(contest, key))
    yield from _inner("options", contest.options)
    for key in ("opens_at", "deadline_at", "reveal_at"):
        if (at := getattr(contest, key)) is not None:
            yield key, f"{contest.local(at):{_TIME}}"
    for key in ("time_zone", "entrants", "bots_per_author", "results"):
        yield key, str(getattr(contest, key))
    yield "invited", counted(len(contest.invited), "person")
    yield "house_bots", ", ".join(contest.house_bots) or "none"
    if contest.freeze_at is not None:
        yield "frozen_hours", f"{contest.frozen_hours:g}"
    yield from _inner("time_control", asdict(contest.time_control))
    yield from _inner("limits", asdict(contest.limits))
    for name, stage in (("qualification", contest.qualification), ("final", contest.final)):
        if stage is not None:
            values = asdict(stage)
            yield from _inner(name, values.pop("settings"))
            yield from _inner(name, values)


def _inner(name: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    return ((f"{name}.{key}", str(value)) for key, value in values.items() if value is not None)


def deadline_faults(contest: Contest, now: str) -> Iterator[str]:
    """Yield that nothing can be handed in for a contest any more, if its deadline has passed."""
    if contest.deadline_at <= now:
        yield f"deadline_at = {contest.deadline_at}: it has passed already"


def _changeable(stored: StoredContest, phase: ContestPhase) -> frozenset[str]:
    if phase is ContestPhase.ANNOUNCED:
        return frozenset(part.name for part in fields(Contest)) - {"name"}
    if phase is ContestPhase.ENTERING and stored.closed_at is None and stored.revealed_at is None:
        return _UNTIL_DEADLINE
    return _UNTIL_REVEALED if stored.revealed_at is None else _WORDS_ALWAYS
