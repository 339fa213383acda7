"""The table of formats, and the formats of a definition."""

from __future__ import annotations

from collections.abc import Mapping

from arena.definition import Definition
from arena.errors import DefinitionError, UnknownNameError
from arena.tournament.formats.format import Field, Format
from arena.tournament.formats.gauntlet import Gauntlet
from arena.tournament.formats.knockout import Knockout
from arena.tournament.formats.ladder import Ladder
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.formats.sprt import Comparison
from arena.tournament.formats.swiss import Swiss

FORMATS: Mapping[str, type[Format]] = {
    "round-robin": RoundRobin,
    "gauntlet": Gauntlet,
    "swiss": Swiss,
    "knockout": Knockout,
    "ladder": Ladder,
}

KINDS: Mapping[str, type[Format]] = {**FORMATS, "comparison": Comparison}
"""The formats of tournament files, and that of ``arena compare``."""


def kind_of(definition: Definition) -> type[Format]:
    """Return the format of a definition.

    Raises:
        UnknownNameError: if it is not in the table; a newer arena may have stored it.
    """
    if definition.format not in KINDS:
        raise UnknownNameError("format", definition.format, KINDS)
    return KINDS[definition.format]


def field_of(definition: Definition, players: int | None = None) -> Field:
    """Return what a format is told of a definition.

    Args:
        definition: the tournament.
        players: in each match; by default as in its first game.
    """
    shown = definition.shown_names
    players = definition.games[0].players if players is None else players
    return Field(
        tuple(shown),
        tuple(shown.values()),
        players,
        definition.rng_seed,
        definition.encounters,
        definition.settings,
        definition.active,
    )


def formats_of(definition: Definition) -> list[Format]:
    """Return the formats of a tournament: one for each game; a single one for all if rounds depend on results.

    Raises:
        DefinitionError: if entrants or games don't fit the format.
    """
    kind = kind_of(definition)
    players = [choice.players for choice in definition.games]
    if not kind.needs_results:
        return [kind(field_of(definition, number)) for number in players]
    if len(set(players)) > 1:
        raise DefinitionError(
            f"games: format {definition.format!r} needs games of the same number of players, and these are for"
            f" {', '.join(map(str, players))}"
        )
    return [kind(field_of(definition))]
