"""Finds a tournament in the store or creates it there, and refuses a definition that differs from the stored one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from arena.base.definition import Definition
from arena.base.errors import DefinitionError
from arena.match.players.manifest import known_by
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.corrected import with_corrections
from arena.tournament.formats.table import format_class
from arena.tournament.opening_information import with_openings
from arena.tournament.schedule import schedule

MAX_NAMED = 5
"""Differences named in a sentence."""


class Resumed(NamedTuple):
    """A tournament in the store.

    Attributes:
        definition: the one given; for a ladder, with everybody who entered earlier.
        stored: the tournament in the store.
    """

    definition: Definition
    stored: StoredTournament


def create_or_resume(definition: Definition, store: Store) -> Resumed:
    """Find the tournament in the store, or create it there with its schedule.

    Raises:
        DefinitionError: if the stored one differs in something that results depend on.
        BotDefinitionError: if a bot that has come by a correction is not there any more, or has changed since.
    """
    found = store.find_tournament(definition.name)
    if found is None:
        definition = with_openings(definition)
        return Resumed(definition, store.create_tournament(definition, schedule(definition)))
    definition = brought_up_to_date(definition, found)
    open_entry = format_class(definition).open_entry
    differing = differences(found.definition.identity(), definition.identity(), open_entry)
    if differing:
        raise DefinitionError(
            f"tournament {definition.name!r} is in the store with {found.recorded} matches recorded, and differs in"
            f" {_named(differing)}; {_advice(differing)}"
        )
    if len(definition.entrants) > len(found.definition.entrants):
        store.change_definition(found, definition)
        found = store.tournament(definition.name)
    return Resumed(definition, found)


def brought_up_to_date(definition: Definition, found: StoredTournament) -> Definition:
    """Return a definition with what has happened to its tournament since: who entered earlier, and corrections.

    Raises:
        BotDefinitionError: if a bot that has come by a correction is not there any more, or has changed since.
    """
    definition = _with_stored_digests(with_stored_openings(definition, found.definition), found.definition)
    if format_class(definition).open_entry:
        definition = _with_earlier_entrants(definition, found.definition)
    return with_corrections(definition, found) if found.corrections else definition


def _with_stored_digests(definition: Definition, stored: Definition) -> Definition:
    """Return a definition with the digests of bots whose files an earlier version has counted otherwise."""
    digests = {bot.label: bot.digest for bot in stored.entrants}
    entrants = tuple(known_by(bot, digests.get(bot.label, "")) for bot in definition.entrants)
    return replace(definition, entrants=entrants)


def with_stored_openings(definition: Definition, stored: Definition) -> Definition:
    """Return a definition with the openings that were chosen when its tournament began, if it has none yet."""
    wanted, chosen = ([one.choose for one in each.openings] for each in (definition, stored))
    are_missing = any(not one.lines for one in definition.openings)
    return replace(definition, openings=stored.openings) if are_missing and wanted == chosen else definition


def _named(differing: Sequence[str]) -> str:
    """Return the first few differences: where a bot has changed, all variants of a tuning have."""
    more = len(differing) - MAX_NAMED
    return ", ".join(differing[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _advice(differing: Sequence[str]) -> str:
    """Return what to do about the differences."""
    advice = "give this one another name (--name NAME)"
    if all(name.startswith("the bot ") for name in differing):
        return f"{advice}, or give the entrant its new files (arena replace)"
    if all(name.startswith("the new entrant ") for name in differing):
        return f"{advice}, or let the entrant enter late (arena enter)"
    if all(name.startswith("the missing entrant ") for name in differing):
        return f"{advice}, or put the files of the entrant back"
    return advice


def _with_earlier_entrants(definition: Definition, earlier: Definition) -> Definition:
    """Return a ladder with everybody who ever entered, in order of entry; those who left are no longer paired."""
    present = {bot.label: bot for bot in definition.entrants}
    entrants = [present.get(bot.label, bot) for bot in earlier.entrants]
    known = {bot.label for bot in entrants}
    entrants += [bot for bot in definition.entrants if bot.label not in known]
    active = frozenset(number for number, bot in enumerate(entrants) if bot.label in present)
    return replace(definition, entrants=tuple(entrants), active=active)


def differences(stored: dict[str, Any], given: dict[str, Any], may_grow: bool) -> list[str]:
    """Name what differs between the identities of two definitions, the entrants by their names.

    Args:
        stored: the identity in the store.
        given: another one.
        may_grow: whether the other one may have more entrants, after those that are stored.
    """
    settings = [name for name in {**given, **stored} if name != "entrants"]
    names = [name for name in settings if stored.get(name) != given.get(name)]  # one at its default may be left out
    before, now = (
        {f"{entrant['name']}@{entrant['version']}": entrant for entrant in values["entrants"]}
        for values in (stored, given)
    )
    names += [f"the missing entrant {name!r}" for name in before if name not in now]
    if not may_grow:
        names += [f"the new entrant {name!r}" for name in now if name not in before]
    both = [name for name in before if name in now]
    if both != (list(now)[: len(both)] if may_grow else [name for name in now if name in before]):
        names.append("the order of entrants")
    return names + [f"the bot {name!r}" for name in now if name in before and before[name] != now[name]]
