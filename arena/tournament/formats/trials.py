"""Trials: variants of a bot, each against the one it began with; see ``arena/tournament/tuning.py``.

1. Entrant 0 is the start. Each other entrant meets it, and no other. With more than two players, the start sits in all
   other seats.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.errors import DefinitionError
from arena.tournament.formats.format import FixedFormat, NoSettings, Round


class Trials(FixedFormat[NoSettings]):
    """Every variant meets the start."""

    has_fixed_field = True

    def check_field(self) -> None:
        """Raise DefinitionError unless there are a start and a variant."""
        if self.field.entrants < 2:
            raise DefinitionError(f"entrants: expected at least 2 in trials, got {self.field.entrants}")

    def rounds(self) -> Iterator[Round]:
        """Yield a round for each variant."""
        for entrant in range(1, self.field.entrants):
            yield Round(((entrant, *[0] * (self.field.players - 1)),))
