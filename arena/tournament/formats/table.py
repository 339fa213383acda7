"""The table of formats, and the format of a definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, cast

from arena.base.definition import Definition
from arena.base.errors import DefinitionError, UnknownNameError
from arena.base.stored import from_stored
from arena.tournament.formats.format import Field, Format


class _Formats(Mapping[str, type[Format[Any]]]):
    """Classes of formats by name, each imported when it is looked up: some take long."""

    def __init__(self, **class_of: str) -> None:
        self._class_of = {key.replace("_", "-"): path.partition(":") for key, path in class_of.items()}

    def __getitem__(self, name: str) -> type[Format[Any]]:
        module, _, kind = self._class_of[name]
        return cast(type[Format[Any]], getattr(import_module(f"arena.tournament.formats.{module}"), kind))

    def __contains__(self, name: object) -> bool:
        return name in self._class_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._class_of)

    def __len__(self) -> int:
        return len(self._class_of)


_FILE_FORMATS = {
    "round_robin": "round_robin:RoundRobin",
    "gauntlet": "round_robin:Gauntlet",
    "swiss": "swiss:Swiss",
    "knockout": "knockout:Knockout",
    "ladder": "ladder:Ladder",
}

FORMATS: Mapping[str, type[Format[Any]]] = _Formats(**_FILE_FORMATS)
"""The formats of tournament files, by name; the first one is the default."""

DEFAULT_FORMAT = next(iter(FORMATS))

ALL_FORMATS: Mapping[str, type[Format[Any]]] = _Formats(
    **_FILE_FORMATS, comparison="comparison:Comparison", trials="trials:Trials"
)
"""The formats of tournament files, of ``arena compare`` and of ``arena tune``."""


UNTIL: Mapping[str, type[Any]] = _Formats(until_decided="until_decided:UntilDecided")
"""What plays a round robin or a gauntlet until it is decided."""


def table_key(name: str) -> str:
    """Return the key of a format's table in a tournament file."""
    return name.replace("-", "_")


def format_class(definition: Definition) -> type[Format[Any]]:
    """Return the class of a definition's format."""
    if definition.format not in ALL_FORMATS:
        raise UnknownNameError("format", definition.format, ALL_FORMATS)
    return ALL_FORMATS[definition.format] if definition.until is None else UNTIL["until-decided"]


def field_of(definition: Definition, game: int = 0) -> Field[Any]:
    """Return the field of a definition."""
    where = f"tournament {definition.name!r}: its table of format {definition.format!r}"
    shown = definition.shown_names
    return Field(
        bots=tuple(shown),
        names=tuple(shown.values()),
        players=definition.games[game].players,
        settings=from_stored(ALL_FORMATS[definition.format].Settings, definition.settings, where),
        rng_seed=definition.rng_seed,
        encounters=definition.encounters,
        active=definition.active,
        absences=definition.absences,
        games=len(definition.games),
        until=definition.until,
    )


def format_of(definition: Definition, game: int = 0) -> Format[Any]:
    """Return the format of a tournament at its beginning; raise DefinitionError if the entrants or games don't fit it.

    Which game makes no difference where rounds depend on results, for these have all games.
    """
    kind = format_class(definition)
    players = [choice.players for choice in definition.games]
    if kind.needs_results and len(set(players)) > 1:
        raise DefinitionError(
            f"games: format {definition.format!r} needs games of the same number of players, and these are for"
            f" {', '.join(map(str, players))}"
        )
    planned = ALL_FORMATS[definition.format](field_of(definition, game))
    return planned if definition.until is None else UNTIL["until-decided"](planned.field, planned)
