"""What of a contest can still be changed: nothing that somebody has relied on. What is different then, for its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields

from arena.base.errors import Mistake
from arena.base.text import counted, shortened_text
from arena.store.people.contest import KEYS, TIMES, Contest, ContestPhase, ContestReading, StoredContest, phase_of

_TIME = "%Y-%m-%d %H:%M:%S"

_ATTRIBUTES = frozenset(part.name for part in fields(Contest))
_WORDS_ALWAYS = frozenset({"title", "description"})
_UNTIL_REVEALED = _WORDS_ALWAYS | {"reveal_at"}
_UNTIL_DEADLINE = _UNTIL_REVEALED | {"deadline_at", "invited"}


def change_mistakes(stored: StoredContest, new: ContestReading, now: str) -> Iterator[Mistake]:
    """Yield why a contest can't become another one: what else is changed than can be, or a deadline that has passed."""
    old, phase = stored.contest, phase_of(stored, now)
    if phase is ContestPhase.CANCELLED:
        yield Mistake("", "it is cancelled")
        return
    yield from _refused(stored, new, phase)
    if phase is ContestPhase.ANNOUNCED:
        yield from deadline_mistakes(new, now)
    if phase is ContestPhase.ENTERING:
        if new.has_right("deadline_at") and new.contest.deadline_at < old.deadline_at:
            sentence = (
                "after the opening, the deadline can only become later than it is,"
                f" {old.local(old.deadline_at):{_TIME}} ({old.time_zone})"
            )
            yield Mistake("deadline_at", sentence, f"{old.local(new.contest.deadline_at):{_TIME}}")
        if new.has_right("invited") and not set(old.invited) <= set(new.contest.invited):
            yield Mistake("invited", "after the opening, nobody can be taken out of those who are invited")


def _refused(stored: StoredContest, new: ContestReading, phase: ContestPhase) -> Iterator[Mistake]:
    changed = {name for name in _ATTRIBUTES if getattr(stored.contest, name) != getattr(new.contest, name)}
    refused = {name for name in changed - _changeable(stored, phase) if new.has_right(name)}
    keys = {key for name in refused for key in _keys_of(name, stored.contest, new.contest)}
    for key in sorted(keys):
        yield Mistake(key, "this can't be changed any more")
    if keys:
        until = {
            ContestPhase.ANNOUNCED: "the name of a contest stays",
            ContestPhase.ENTERING: "after the opening, only {title}, {description}, {reveal_at}, a later {deadline_at}"
            " and more who are {invited} can be changed",
        }
        after = (
            "after the deadline, only {title} and {description} can be changed, and {reveal_at} before it is revealed"
        )
        yield Mistake("", until.get(phase, after))


def _keys_of(attribute: str, old: Contest, new: Contest) -> Iterator[str]:
    """Yield the changed keys of the text that an attribute comes from."""
    if attribute == "players":
        yield "options"
    elif attribute == "stages":
        yield from (key for key in ("qualification", "final") if getattr(old, key) != getattr(new, key))
    else:
        yield attribute


def differences(old: Contest, new: Contest) -> tuple[str, ...]:
    """Return what is different in a contest, for everybody to read: each key with its old value and the new one.

    It tells how many are invited, not who, and that the description has changed, not how.
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
    for key in KEYS:
        value = getattr(contest, key)
        if key == "options":
            yield from _inner(key, value)
        elif key == "invited":
            yield key, counted(len(value), "person")
        elif key == "ladders":
            yield key, "true" if value else "false"
        elif contest.uses(key) and key != "description":
            yield key, _shown_value(contest, key, value)
    yield from _inner("time_control", asdict(contest.time_control))
    yield from _inner("limits", asdict(contest.limits))
    for name, stage in (("qualification", contest.qualification), ("final", contest.final)):
        if stage is not None:
            values = asdict(stage)
            yield from _inner(name, values.pop("settings"))
            yield from _inner(name, values)


def _shown_value(contest: Contest, key: str, value: object) -> str:
    if key in TIMES:
        return f"{contest.local(str(value)):{_TIME}}"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _inner(name: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    return ((f"{name}.{key}", str(value)) for key, value in values.items() if value is not None)


def deadline_mistakes(new: ContestReading, now: str) -> Iterator[Mistake]:
    """Yield that nothing can be submitted for a contest any more, if its deadline has passed."""
    contest = new.contest
    if new.has_right("deadline_at") and contest.deadline_at <= now:
        local = contest.local(contest.deadline_at)
        yield Mistake("deadline_at", f"it has passed already ({contest.time_zone})", f"{local:{_TIME}}")


def _changeable(stored: StoredContest, phase: ContestPhase) -> frozenset[str]:
    if phase is ContestPhase.ANNOUNCED:
        return _ATTRIBUTES - {"name"}
    if phase is ContestPhase.ENTERING and stored.closed_at is None and stored.revealed_at is None:
        return _UNTIL_DEADLINE
    return _UNTIL_REVEALED if stored.revealed_at is None else _WORDS_ALWAYS
