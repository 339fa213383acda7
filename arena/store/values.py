"""The plain values that the store returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from arena.definition import Definition
from arena.enums import FaultKind
from arena.errors import UnknownNameError
from arena.stored import from_json_text


@lru_cache(maxsize=256)
def _definition(name: str, text: str) -> Definition:
    return Definition.from_json(name, from_json_text(text, f"tournament {name!r}: its stored definition"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTournament:
    """A tournament in the store.

    Attributes:
        number: its key.
        name: its name.
        definition_text: its definition, as it is stored.
        created_at: UTC, ISO 8601.
        scheduled: matches in the schedule.
        recorded: matches with a record.
        finished_at: when the last match was recorded and no round followed; None before that.
    """

    number: int
    name: str
    definition_text: str
    created_at: str
    scheduled: int
    recorded: int
    finished_at: str | None = None

    @property
    def definition(self) -> Definition:
        """Its definition.

        Raises:
            StoreError: if a newer arena has stored it, or it is malformed.
        """
        return _definition(self.name, self.definition_text)

    @property
    def games(self) -> list[str]:
        """The names of its games, in order."""
        return [choice.game for choice in self.definition.games]

    def require_game(self, game: str | None) -> None:
        """Raise UnknownNameError unless the tournament has this game; None stands for all of its games."""
        if game is not None and game not in self.games:
            raise UnknownNameError("game", game, self.games)


class StoredFault(NamedTuple):
    """A fault of a bot, and where it happened."""

    tournament: str
    match: int
    seat: int
    game: str
    kind: FaultKind


class StoredBot(NamedTuple):
    """A submitted bot."""

    name: str
    version: str
    digest: str
    entry: str
    submitted_at: str

    @property
    def label(self) -> str:
        """``name@version``."""
        return f"{self.name}@{self.version}"
