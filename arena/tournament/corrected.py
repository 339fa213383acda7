"""A tournament file is older than the corrections of its tournament: what these have changed is filled in here.

A director keeps the file as it was when the tournament began. An entrant that has been replaced since, or has come
late, is in the store only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.base.definition import Definition, bot_from_json, bot_identity
from arena.base.enums import CorrectionKind
from arena.base.errors import BotDefinitionError
from arena.base.records import Bot
from arena.match.players.manifest import known_by, load_bot
from arena.store.results.values import Correction, StoredTournament


def with_corrections(definition: Definition, stored: StoredTournament) -> Definition:
    """Return a definition with what corrections have changed in the stored one since the tournament began.

    Args:
        definition: from a tournament file; it may have the corrected bots already.
        stored: the tournament.

    Raises:
        BotDefinitionError: if a bot that has come by a correction is not there any more, or has changed since.
    """
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
        return corrected.entrants[k] if k in corrected.gone else _unchanged(corrected.entrants[k])

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
    """Return the numbers of late entrants by the labels that they have or had; they may be anywhere in the file."""
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


def _unchanged(bot: Bot) -> Bot:
    """Return a bot as it is launched from where it was when it came by a correction.

    Only its place, and the arguments after its command, are taken from the store: it may come from another machine.

    Raises:
        BotDefinitionError: if it is not there any more, or has changed since.
    """
    if bot.is_function:
        raise BotDefinitionError(
            f"bot {bot.label!r}, which came by a correction, is a Python function: name it among the entrants"
        )
    if not bot.directory:  # a tournament from another machine comes without the places of its bots
        raise BotDefinitionError(
            f"bot {bot.label!r}, which came by a correction, was on another machine;"
            " name its files in the tournament file"
        )
    place = Path(bot.own_files[0] if bot.own_files else bot.directory)
    if not place.exists():
        raise BotDefinitionError(
            f"bot {bot.label!r}, which came by a correction, is not at {bot.directory} any more; put it back there"
        )
    loaded = known_by(load_bot(place, is_known=lambda name: True), bot.digest)
    if loaded.digest != bot.digest:
        raise BotDefinitionError(
            f"bot {bot.label!r}, which came by a correction, has changed in {bot.directory} since; put its files back,"
            " or replace it by the new ones (arena replace)"
        )
    command = (*loaded.command, *bot.command[len(loaded.command) :])
    return replace(loaded, name=bot.name, version=bot.version, command=command, submitted=bot.submitted)
