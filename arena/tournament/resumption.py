"""Finds a tournament in the store or creates it there, and compares its definition with the stored one."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from arena.base.definition import Definition, bot_from_json, bot_identity
from arena.base.enums import CorrectionKind
from arena.base.errors import BotDefinitionError, DefinitionError, StoreError
from arena.base.records import Bot
from arena.base.text import toml_value
from arena.base.until import BUDGETS, Until
from arena.match.players.manifest import known_by, load_bot
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.formats.format import FORMATS, FixedFormat, Format, format_class
from arena.tournament.opening_information import with_openings
from arena.tournament.schedule import schedule

# A tournament file is older than the corrections of its tournament: these functions fill in what corrections changed.
#
# A director keeps the file as it was when the tournament began. Only the store has entrants that were replaced since or
# came late.


def with_corrections(definition: Definition, stored: StoredTournament) -> Definition:
    """Return a definition with what corrections have changed in the stored one since the tournament began."""
    corrected = stored.definition
    definition = replace(definition, absences=corrected.absences)
    entered = (c.details.entrant for c in stored.corrections if c.kind is CorrectionKind.ENTER)
    late = frozenset(k for k in entered if k is not None)
    numbers = _numbers_by_label(stored, late)
    given = dict(enumerate(bot for bot in definition.entrants if bot.label not in numbers))
    if len(given) + len(late) != len(corrected.entrants):
        return definition
    given |= {numbers[bot.label]: bot for bot in definition.entrants if bot.label in numbers}
    replaced, gone = _replaced_bots(stored), corrected.gone
    entrants = []
    for k, current in enumerate(corrected.entrants):
        if k in given and bot_identity(given[k]) not in replaced.get(k, ()):
            entrants.append(given[k])
        else:
            entrants.append(current if k in gone else unchanged(current))
    earlier_settings = [c.details.settings for c in stored.corrections]
    settings = corrected.settings if definition.settings in earlier_settings else definition.settings
    return replace(definition, entrants=tuple(entrants), settings=settings)


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
    replaced_bots: dict[int, list[dict[str, Any]]] = {}
    for c in stored.corrections:
        if c.kind is CorrectionKind.REPLACE and c.details.entrant is not None:
            where = f"correction {c.number} of tournament {stored.name!r}: the replaced bot"
            replaced = bot_identity(bot_from_json(c.details.replaced, where))
            if replaced != bot_identity(stored.definition.entrants[c.details.entrant]):
                replaced_bots.setdefault(c.details.entrant, []).append(replaced)
    return replaced_bots


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
        advice = "name its files in the tournament file" + ("" if origin else ", and run that once (arena run FILE)")
        raise BotDefinitionError(f"{named} was on another machine; {advice}")
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
"""The most differences named in a sentence."""


def brought_up_to_date(
    definition: Definition, store: Store
) -> tuple[Definition, type[Format[Any]], StoredTournament | None]:
    """Return a definition with what has happened to its tournament since: who entered earlier, and corrections.

    With it come the class of its format, and the tournament; None if it is not in the store.
    """
    kind, stored = format_class(definition), store.find_tournament(definition.name)
    if stored is None:
        return definition, kind, None
    definition = _with_stored_digests(with_stored_openings(definition, stored.definition), stored.definition)
    if kind.open_entry:
        definition = _with_earlier_entrants(definition, stored.definition)
    return (with_corrections(definition, stored) if stored.corrections else definition), kind, stored


def playing_bots(definition: Definition, kind: type[Format[Any]], stored: StoredTournament | None) -> tuple[Bot, ...]:
    """Return the bots that a run needs, of a definition that was brought up to date; others may be gone."""
    is_over = stored is not None and stored.finished_at is not None and definition.until == stored.definition.until
    if is_over and not kind.open_entry and (definition.until is None or not definition.until.max_hours):
        return ()
    paired = range(len(definition.entrants)) if definition.active is None else definition.active
    return tuple(definition.entrants[k] for k in sorted(set(paired) - definition.gone))


def create_or_resume(
    definition: Definition, store: Store, built: Collection[Bot] | None = None
) -> tuple[Definition, type[Format[Any]], StoredTournament]:
    """Find the tournament in the store, or create it there with its schedule; return the same as above.

    Args:
        built: the bots that were built to play it; None if it may be played by any.

    Raises:
        DefinitionError: if the store has another tournament of this name.
        StoreError: if a bot that is to play was not built, because of a correction.
    """
    definition, kind, stored = brought_up_to_date(definition, store)
    if built is not None and not set(playing_bots(definition, kind, stored)) <= set(built):
        raise StoreError(
            f"tournament {definition.name!r} was corrected while its bots were built; nothing was played: run it again"
        )
    if stored is None:
        definition = with_openings(definition, kind)
        return definition, kind, store.create_tournament(definition, schedule(definition))
    _require_same(definition, kind, stored)
    return definition, kind, _with_changes(stored, definition, store)


def _require_same(definition: Definition, kind: type[Format[Any]], stored: StoredTournament) -> None:
    differing = differences(stored.definition.identity(), definition.identity(), kind.open_entry)
    if differing:
        more = f" and {len(differing) - MAX_NAMED} more" if len(differing) > MAX_NAMED else ""
        raise DefinitionError(
            f"tournament {definition.name!r} is in the store with {stored.recorded} matches recorded, and differs in"
            f" {', '.join(differing[:MAX_NAMED])}{more}; {_advice(differing, stored.definition, definition)}"
        )


def _with_changes(stored: StoredTournament, definition: Definition, store: Store) -> StoredTournament:
    """Return a stored tournament after storing what differs in a definition that is the same tournament."""
    before, now = (
        [(bot.directory, bot.own_files) for bot in each.entrants] for each in (stored.definition, definition)
    )
    if definition.until != stored.definition.until or len(now) > len(before):  # another budget, or new entrants
        store.change_definition(stored, definition)
    elif now != before:  # the bots have moved, or come from another machine
        moved = replace(stored.definition, entrants=definition.entrants)
        store.change_definition(stored, moved, may_be_finished=True)
    else:
        return stored
    return store.tournament(stored.name)


def _with_stored_digests(definition: Definition, stored: Definition) -> Definition:
    """Return a definition with the digests of bots whose files an earlier version has counted otherwise."""
    digests = {bot.label: bot.digest for bot in stored.entrants}
    entrants = tuple(known_by(bot, digests.get(bot.label, "")) for bot in definition.entrants)
    return replace(definition, entrants=entrants)


def with_stored_openings(definition: Definition, stored: Definition) -> Definition:
    """Return a definition with the openings that were chosen when its tournament began, if it has none yet."""
    choices, stored_choices = ([openings.choose for openings in each.openings] for each in (definition, stored))
    are_missing = any(not openings.lines for openings in definition.openings)
    return replace(definition, openings=stored.openings) if are_missing and choices == stored_choices else definition


def _advice(differing: Sequence[str], stored: Definition, given: Definition) -> str:
    extend = f"arena extend {shlex.quote(given.name)}"
    advice = "give this one another name (--name NAME)"
    if can_go_on(stored) and set(differing) <= {"encounters", "until"}:
        before, now = stored.until, given.until
        if differing == ["encounters"] and given.encounters > stored.encounters:
            return f"{extend} --encounters {given.encounters} plays those that are missing"
        if before is not None and now is not None:
            names = [field.name for field in fields(Until) if field.name not in BUDGETS]
            keys = [
                f"no {name}" if value is None else f"{name} = {toml_value(value)}"
                for name in names
                if (value := getattr(before, name)) != getattr(now, name)
            ]
            resumed = f"with {', '.join(keys)} the file resumes it, and"
            return f"{resumed} {extend} --until-decided --until KEY=VALUE changes a key; else {advice}"
        if now is not None:
            return f"{extend} --until-decided lets it play on until it is decided"
        fixed = f"encounters = {stored.encounters} in the file, or {extend} --encounters {stored.encounters}"
        how = fixed if before is None else f"{extend} --until-decided"
        return f"{how} resumes it if it was extended; else {advice}"
    if all(name.startswith("the bot ") for name in differing):
        return f"{advice}, or give the entrant its new files (arena correct replace)"
    if all(name.startswith("the new entrant ") for name in differing):
        return f"{advice}, or let the entrant enter late (arena correct enter)"
    if all(name.startswith("the missing entrant ") for name in differing):
        return f"{advice}, or put the files of the entrant back"
    return advice


def can_go_on(definition: Definition) -> bool:
    """Return whether a finished tournament can be extended: its encounters don't depend on results."""
    kind = FORMATS.get(definition.format)
    return kind is not None and issubclass(kind, FixedFormat)


def _with_earlier_entrants(definition: Definition, earlier: Definition) -> Definition:
    """Return a ladder with everybody who ever entered, in order of entry; those who left are no longer paired."""
    present = {bot.label: bot for bot in definition.entrants}
    entrants = [present.get(bot.label, bot) for bot in earlier.entrants]
    labels = {bot.label for bot in entrants}
    entrants += [bot for bot in definition.entrants if bot.label not in labels]
    active = frozenset(number for number, bot in enumerate(entrants) if bot.label in present)
    return replace(definition, entrants=tuple(entrants), active=active)


def differences(stored: dict[str, Any], given: dict[str, Any], may_grow: bool) -> list[str]:
    """Name what differs between the identities of two definitions, the entrants by their names.

    Where it ``may_grow``, the second one may have more entrants, after those that are stored.
    """
    names = [name for name in _unequal(stored, given) if name != "entrants"]
    if "settings" in names and stored.get("settings") and given.get("settings"):
        place = names.index("settings")
        names[place : place + 1] = _unequal(stored["settings"], given["settings"])
    before, now = (
        {f"{entrant['name']}@{entrant['version']}": entrant for entrant in values["entrants"]}
        for values in (stored, given)
    )
    names += [f"the missing entrant {name!r}" for name in before if name not in now]
    if not may_grow:
        names += [f"the new entrant {name!r}" for name in now if name not in before]
    common = [name for name in before if name in now]
    if common != (list(now)[: len(common)] if may_grow else [name for name in now if name in before]):
        names.append("the order of entrants")
    return names + [
        f"the {'time_control of' if _unequal(before[name], now[name]) == ['time_control'] else 'bot'} {name!r}"
        for name in now
        if name in before and before[name] != now[name]
    ]


def _unequal(stored: dict[str, Any], given: dict[str, Any]) -> list[str]:
    return [name for name in {**given, **stored} if stored.get(name) != given.get(name)]  # a default may be left out
