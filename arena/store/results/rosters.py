"""Who entered a tournament and what is played in it, read without checking the rest of its definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from arena.base.errors import StoreError
from arena.base.stored import from_json_text, list_of, mapping_of


class Roster(NamedTuple):
    """The bots and games of a tournament.

    Attributes:
        bots: ``name@version`` each.
        games: their names.
    """

    bots: frozenset[str] = frozenset()
    games: frozenset[str] = frozenset()


def roster_of(definition: str) -> Roster:
    """Return who and what is in a stored definition; a definition that can't be read has nobody."""
    with suppress(StoreError):
        stored = mapping_of(from_json_text(definition, "a definition"), "a definition")
        bots = ((bot.get("name"), bot.get("version")) for bot in _mappings(stored.get("entrants")))
        games = (choice.get("game") for choice in _mappings(stored.get("games")))
        return Roster(
            frozenset(f"{name}@{version}" for name, version in bots),
            frozenset(game for game in games if isinstance(game, str)),
        )
    return Roster()


def _mappings(value: object) -> Iterable[Mapping[str, Any]]:
    return (mapping_of(one, "an entrant or a game") for one in list_of(value, "entrants or games"))
