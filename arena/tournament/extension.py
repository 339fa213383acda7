"""A finished tournament that plays on: more encounters of each pairing, or until it is decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from arena.base.definition import Definition, gone
from arena.base.errors import UsageError
from arena.base.records import ScheduledMatch
from arena.base.text import counted
from arena.base.until import Until
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.formats.format import format_of, formats_of
from arena.tournament.resumption import can_go_on, unchanged
from arena.tournament.schedule import Scheduler

MAX_ENCOUNTERS = 1_000_000


def extended(
    store: Store, name: str, *, encounters: int | None = None, matches: int | None = None, until: Until | None = None
) -> Definition:
    """Extend a tournament that is finished, and return its definition, for ``run_tournament`` to play the rest.

    The encounters that it has stay as they are, and further ones follow: each pairing continues with the openings that
    come after those it has played. A tournament that was extended already and is not finished since stays as it is if
    the same is asked for again: so a run that was interrupted continues.

    Args:
        encounters: how many encounters each pairing is to have.
        matches: in place of that: at least that many matches in all, each pairing as many encounters.
        until: in place of both: what is to be decided; encounters follow where it is open.

    Raises:
        UsageError: if it can't be extended, or not in this way; nothing was changed then.
        BotDefinitionError: if a bot is not there any more, or has changed since.
        StoreError: if it is being played.
    """
    store.tournament(name)  # before a lock of this name is made
    with store.lock(name):
        stored = store.tournament(name)
        if not can_go_on(stored.definition):
            raise UsageError(
                f"tournament {name!r} is a {stored.definition.format}, which can't be extended: expected a round-robin"
                " or a gauntlet, whose encounters don't depend on results"
            )
        definition = _with_bots(stored.definition)
        if until is not None:
            return _until(store, stored, replace(definition, until=until))
        if stored.definition.until is not None:
            raise UsageError(
                f"tournament {name!r} plays until it is decided; expected --until-decided, which lets it go on"
            )
        new_count = _encounters(stored, encounters, matches)
        if new_count == definition.encounters and stored.finished_at is None:
            return definition
        changed = replace(definition, encounters=new_count)
        store.change_definition(stored, changed, lines=list(_further_lines(store, stored, changed)))
        return changed


def _encounters(stored: StoredTournament, encounters: int | None, matches: int | None) -> int:
    before, name = stored.definition.encounters, stored.name
    if matches is not None:
        if matches <= stored.scheduled and stored.finished_at is not None:
            raise UsageError(f"--matches {matches}: tournament {name!r} has {stored.scheduled}; expected more")
        encounters = max(before, -(-matches // max(1, stored.scheduled // before)))
    if encounters is None or not 1 <= encounters <= MAX_ENCOUNTERS:
        raise UsageError(f"encounters: expected 1 to {MAX_ENCOUNTERS}, not {encounters}")
    if encounters < before or (encounters == before and stored.finished_at is not None):
        raise UsageError(
            f"--encounters {encounters}: each pairing of tournament {name!r} has {counted(before, 'encounter')};"
            " expected more"
        )
    if encounters > before:
        _require_finished(stored)
    return encounters


def _require_finished(stored: StoredTournament) -> None:
    if stored.finished_at is None:
        unplayed = counted(stored.scheduled - stored.recorded, "match")
        raise UsageError(
            f"tournament {stored.name!r} is not finished, with {unplayed} to play: let arena run, or the arena extend"
            " that was interrupted, finish it first"
        )


def _until(store: Store, stored: StoredTournament, changed: Definition) -> Definition:
    format_of(changed)
    if stored.definition.until is None:
        _require_finished(stored)
    if changed.until != stored.definition.until:
        store.change_definition(stored, changed)
    return changed


def _further_lines(store: Store, stored: StoredTournament, changed: Definition) -> Iterator[ScheduledMatch]:
    scheduler = Scheduler(changed)
    scheduler.continue_after(store.schedule(stored))
    numbers = range(stored.definition.encounters, changed.encounters)
    yield from scheduler.passes(formats_of(changed), numbers, gone(changed.absences))


def _with_bots(definition: Definition) -> Definition:
    """Return a definition with its bots as they are on disk; those who are not paired any more need not be there."""
    absent = gone(definition.absences)
    entrants = (bot if k in absent else unchanged(bot, "") for k, bot in enumerate(definition.entrants))
    return replace(definition, entrants=tuple(entrants))
