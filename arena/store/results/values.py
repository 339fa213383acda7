"""The plain values that the store returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from arena.base.definition import Definition
from arena.base.enums import FaultKind
from arena.base.errors import StoreError, UnknownNameError
from arena.base.stored import from_json_text
from arena.store.results.correction import Correction, absences, out_of_table
from arena.store.results.owners import Owners


def utc_now() -> str:
    """Return the time, UTC, as ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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
        format: the name of its format.
        scheduled: matches in the schedule, without those that a correction has taken out of it.
        recorded: matches with a record.
        record_bytes: the size of its records, with those that were set aside.
        finished_at: when the last match was recorded and no round followed; None before that.
        deleted_at: when it was deleted; None if it was not.
        corrections: the log of its corrections, the oldest first.
        owners: whose bots are.
    """

    number: int
    name: str
    definition_text: str
    created_at: str
    format: str
    scheduled: int
    recorded: int
    record_bytes: int = 0
    finished_at: str | None = None
    deleted_at: str | None = None
    corrections: tuple[Correction, ...] = ()
    owners: Owners = field(default=Owners(), compare=False, repr=False)

    @property
    def definition(self) -> Definition:
        """Its definition, with the absences that follow from its corrections.

        Raises:
            StoreError: if a newer arena has stored it, or it is malformed.
        """
        stored = _definition(self.name, self.definition_text)
        if not self.corrections:
            return stored
        found = absences(self.corrections)
        entrants = {c.details.entrant for c in self.corrections} | {absence.entrant for absence in found}
        if not all(k is None or 0 <= k < len(stored.entrants) for k in entrants):
            raise StoreError(f"tournament {self.name!r}: its log of corrections names an entrant that it does not have")
        return replace(stored, absences=found)

    @property
    def left_out(self) -> frozenset[str]:
        """The entrants without a line in tables (``name@version``): disqualified, or entered by mistake."""
        entrants = self.definition.entrants
        return frozenset(entrants[k].label for k in out_of_table(self.corrections))

    @property
    def listed_names(self) -> dict[str, str]:
        """What tables call each entrant that has a line in them, by ``name@version``."""
        left_out = self.left_out
        return {label: name for label, name in self.definition.shown_names.items() if label not in left_out}

    @property
    def bin_name(self) -> str:
        """What it is called in the bin; no other tournament has this name, nor can be given it."""
        return f"deleted/{self.number}"

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
