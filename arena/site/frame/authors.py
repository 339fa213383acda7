"""Whose the bots on a page are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TypeVar

from arena.base.errors import StoreError
from arena.site.frame.model import ModelOfBots, Parameters
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

Shown = TypeVar("Shown", bound=ModelOfBots)

_LABEL = re.compile(r'"([^"\\]{1,200}@[^"\\@]{1,200})"')
"""In JSON. Names that people hand in need no escapes."""


def with_authors(home: ArenaHome, parameters: Parameters, model: Shown) -> Shown:
    """Return what a page shows, with whose the bots on it are."""
    store = home.store
    if not store.owners().by_bot:
        return model
    name = getattr(parameters, "tournament", None)
    known = authors_of([store.tournament(name)] if isinstance(name, str) else store.tournaments())
    shown = set(_LABEL.findall(model.model_dump_json()))
    return model.model_copy(update={"authors": {label: known[label] for label in sorted(shown & known.keys())}})


def authors_of(tournaments: Iterable[StoredTournament]) -> Mapping[str, str]:
    """Return whose the entrants of tournaments are, by ``name@version``; without those that have several, or none."""
    found: dict[str, set[str]] = {}
    for tournament in tournaments:
        with suppress(StoreError):  # a newer arena has stored it
            for bot in tournament.definition.entrants:
                by = tournament.owners.authorship(bot)
                found.setdefault(bot.label, set()).add(by.author if by.is_owned else "")
    return {label: name for label, names in found.items() if len(names) == 1 for name in names if name}
