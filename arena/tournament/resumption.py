"""Finds a tournament in the store or creates it there, and compares its definition with the stored one."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from arena.base.definition import Definition, bot_from_json, bot_identity
from arena.base.enums import CorrectionKind
from arena.base.errors import BotDefinitionError, DefinitionError
from arena.base.records import Bot
from arena.match.players.manifest import known_by, load_bot
from arena.store.results.store import Store
from arena.store.results.values import Correction, StoredTournament
from arena.tournament.formats.table import format_class
from arena.tournament.opening_information import with_openings
from arena.tournament.schedule import schedule

# A tournament file is older than the corrections of its tournament: what these have changed is filled in here.
#
# A director keeps the file as it was when the tournament began. An entrant that has been replaced since, or has come
# late, is in the store only.


def with_corrections(definition: Definition, stored: StoredTournament) -> Definition:
    """Return a definition with what corrections have changed in the stored one since the tournament began."""
    corrected = stored.definition
    definition = replace(definition, absences=corrected.absences)
    late = late_entrants(stored.corrections)
    numbers = _numbers_by_label(stored, late)
    given = dict(enumerate(bot for bot in definition.entrants if bot.label not in numbers))
    if len(given) + len(late) != len(corrected.entrants):
        return definition
    given |= {numbers[bot.label]: bot for bot in definition.entrants if bot.label in numbers}
    earlier = _replaced_bots(stored)

    def corrected_bot(k: int) -> Bot:
        return corrected.entrants[k] if k in corrected.gone else unchanged(corrected.entrants[k])

    entrants = [
        given[k] if k in given and bot_identity(given[k]) not in earlier.get(k, ()) else corrected_bot(k)
        for k in range(len(corrected.entrants))
    ]
    earlier_settings = [c.details.settings for c in stored.corrections]
    settings = corrected.settings if definition.settings in earlier_settings else definition.settings
    return replace(definition, entrants=tuple(entrants), settings=settings)


def late_entrants(corrections: Iterable[Correction]) -> frozenset[int]:
    """Return the numbers of the entrants that have come late."""
    entries = (c.details.entrant for c in corrections if c.kind is CorrectionKind.ENTER)
    return frozenset(entrant for entrant in entries if entrant is not None)


def _numbers_by_label(stored: StoredTournament, late: Collection[int]) -> dict[str, int]:
    numbers = {stored.definition.entrants[k].label: k for k in late}
    for c in stored.corrections:
        entrant = c.details.entrant
        if entrant is not None and entrant in late and c.kind in (CorrectionKind.ENTER, CorrectionKind.REPLACE):
            numbers[c.details.bot] = entrant
    return numbers


def _replaced_bots(stored: StoredTournament) -> dict[int, list[dict[str, Any]]]:
    """Return the identities of the bots that have been replaced, by the number of the entrant.

    The one that plays now is not among them, even if it has played before.
    """
    found: dict[int, list[dict[str, Any]]] = {}
    for c in stored.corrections:
        if c.kind is CorrectionKind.REPLACE and c.details.entrant is not None:
            where = f"correction {c.number} of tournament {stored.name!r}: the replaced bot"
            replaced = bot_identity(bot_from_json(c.details.replaced, where))
            if replaced != bot_identity(stored.definition.entrants[c.details.entrant]):
                found.setdefault(c.details.entrant, []).append(replaced)
    return found


def unchanged(bot: Bot, origin: str = ", which came by a correction,") -> Bot:
    """Return a bot as it is launched from where it was when it came.

    Only its place, and the arguments after its command, are taken from the store: it may come from another machine.

    Args:
        bot: as it is stored.
        origin: how it came, in messages.

    Raises:
        BotDefinitionError: if it is not there any more, or has changed since.
    """
    named = f"bot {bot.label!r}{origin}"
    if bot.is_function:
        raise BotDefinitionError(f"{named} is a Python function: name it among the entrants")
    if not bot.directory:  # a tournament from another machine comes without the places of its bots
        raise BotDefinitionError(f"{named} was on another machine; name its files in the tournament file")
    place = Path(bot.own_files[0] if bot.own_files else bot.directory)
    if not place.exists():
        raise BotDefinitionError(f"{named} is not at {bot.directory} any more; put it back there")
    loaded = known_by(load_bot(place, is_known=lambda name: True), bot.digest)
    if loaded.digest != bot.digest:
        raise BotDefinitionError(
            f"{named} has changed in {bot.directory} since; put its files back, or replace it by the new ones (arena"
            " replace)"
        )
    command = (*loaded.command, *bot.command[len(loaded.command) :])
    return replace(
        loaded,
        name=bot.name,
        version=bot.version,
        command=command,
        submitted=bot.submitted,
        time_control=bot.time_control,
    )


MAX_NAMED = 5
"""Differences named in a sentence."""


class Resumed(NamedTuple):
    """A tournament in the store."""

    definition: Definition
    stored: StoredTournament


def create_or_resume(definition: Definition, store: Store) -> Resumed:
    """Find the tournament in the store, or create it there with its schedule."""
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
            f" {_named(differing)}; {_advice(differing, found.definition, definition)}"
        )
    if definition.until != found.definition.until:  # in its budget
        store.reopen(found, definition)
        found = store.tournament(definition.name)
    if len(definition.entrants) > len(found.definition.entrants):
        store.change_definition(found, definition)
        found = store.tournament(definition.name)
    return Resumed(definition, found)


def brought_up_to_date(definition: Definition, found: StoredTournament) -> Definition:
    """Return a definition with what has happened to its tournament since: who entered earlier, and corrections."""
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
    more = len(differing) - MAX_NAMED
    return ", ".join(differing[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _advice(differing: Sequence[str], stored: Definition, given: Definition) -> str:
    extend = f"arena extend {shlex.quote(given.name)}"
    if differing == ["encounters"] and given.encounters > stored.encounters:
        return f"{extend} --encounters {given.encounters} plays those that are missing"
    if set(differing) == {"encounters", "until"} and given.until is not None:
        return f"{extend} --until-decided lets it play on until it is decided"
    advice = "give this one another name (--name NAME)"
    if all(name.startswith("the bot ") for name in differing):
        return f"{advice}, or give the entrant its new files (arena correct replace)"
    if all(name.startswith("the new entrant ") for name in differing):
        return f"{advice}, or let the entrant enter late (arena correct enter)"
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

    Where it ``may_grow``, the second one may have more entrants, after those that are stored.
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
    return names + [
        f"the {'bot' if _without_time(before[name]) != _without_time(now[name]) else 'time_control of'} {name!r}"
        for name in now
        if name in before and before[name] != now[name]
    ]


def _without_time(entrant: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entrant.items() if key != "time_control"}
